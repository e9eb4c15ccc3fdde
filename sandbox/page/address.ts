import { useCallback, useEffect, useState } from 'react';
import { sandboxWorkspace } from '../slack/workspace/sandbox-workspace.ts';
import type { Conversation, Member } from '../slack/workspace/workspace.ts';

/** The visible place. It is stored in the URL, so that a link or a test can open any place. */
export interface Address {
  readonly as: string;
  readonly channel: string | null;
  readonly thread: string | null;
  /** The message to which a link leads. */
  readonly message: string | null;
  readonly home: boolean;
}

export type Navigate = (to: Partial<Address>) => void;

/** The person when the URL has none. */
const DEFAULT_PERSON = 'ana';
/** The first page. Without a channel a phone shows the list of conversations. */
export const FIRST_PAGE = `?as=${DEFAULT_PERSON}&channel=ops`;

type Named = Pick<Member | Conversation, 'id' | 'name'>;

/** The id for a name as in `?as=ben&channel=db-approvals`; an id stays what it is. */
const idIn = (all: readonly Named[], name: string): string =>
  all.find((one) => one.name === name)?.id ?? name;
const nameIn = (all: readonly Named[], id: string): string =>
  all.find((one) => one.id === id)?.name ?? id;

export function addressOf(search: string): Address {
  const query = new URLSearchParams(search);
  const channel = query.get('channel');
  return {
    as: idIn(sandboxWorkspace.members, query.get('as') ?? DEFAULT_PERSON),
    channel: channel === null ? null : idIn(sandboxWorkspace.channels, channel),
    thread: query.get('thread'),
    message: query.get('message'),
    home: query.get('view') === 'home',
  };
}

export function href({ as, channel, thread, message, home }: Address): string {
  const query = new URLSearchParams({ as: nameIn(sandboxWorkspace.members, as) });
  if (channel !== null) query.set('channel', nameIn(sandboxWorkspace.channels, channel));
  if (thread !== null) query.set('thread', thread);
  if (message !== null) query.set('message', message);
  if (home) query.set('view', 'home');
  return `?${query}`;
}

export function useAddress(): readonly [Address, Navigate] {
  const [address, setAddress] = useState(() => addressOf(location.search || FIRST_PAGE));

  useEffect(() => {
    if (location.search === '') history.replaceState(null, '', FIRST_PAGE);
    const follow = () => setAddress(addressOf(location.search));
    addEventListener('popstate', follow);
    return () => removeEventListener('popstate', follow);
  }, []);

  const go = useCallback<Navigate>((to) => {
    const next = { ...addressOf(location.search), message: null, ...to };
    history.pushState(null, '', href(next));
    setAddress(next);
  }, []);
  return [address, go];
}
