import { useCallback, useEffect, useState } from 'react';
import { sandboxWorkspace } from '../slack/workspace/sandbox-workspace.ts';

/** The visible place. It is stored in the URL, so that a link or a test can open any place. */
export interface Address {
  readonly as: string;
  readonly channel: string | null;
  readonly thread: string | null;
  readonly home: boolean;
}

export type Navigate = (to: Partial<Address>) => void;

/** The person when the URL has none. */
const DEFAULT_PERSON = sandboxWorkspace.members[0]?.id ?? '';

export function addressOf(search: string): Address {
  const query = new URLSearchParams(search);
  return {
    as: query.get('as') ?? DEFAULT_PERSON,
    channel: query.get('channel'),
    thread: query.get('thread'),
    home: query.get('view') === 'home',
  };
}

export function href(address: Address): string {
  const query = new URLSearchParams({ as: address.as });
  if (address.channel !== null) query.set('channel', address.channel);
  if (address.thread !== null) query.set('thread', address.thread);
  if (address.home) query.set('view', 'home');
  return `?${query}`;
}

export function useAddress(): readonly [Address, Navigate] {
  const [address, setAddress] = useState(() => addressOf(location.search));

  useEffect(() => {
    const follow = () => setAddress(addressOf(location.search));
    addEventListener('popstate', follow);
    return () => removeEventListener('popstate', follow);
  }, []);

  const go = useCallback<Navigate>((to) => {
    const next = { ...addressOf(location.search), ...to };
    history.pushState(null, '', href(next));
    setAddress(next);
  }, []);
  return [address, go];
}
