import { useState, useSyncExternalStore } from 'react';
import type { Channel } from '../../protocol.ts';
import { useSession } from '../session.ts';
import { isCommand } from './commands.ts';

export interface ComposerPlace {
  readonly channel: Channel;
  readonly threadTs: string | null;
}

interface DraftPlace {
  readonly as: string;
  readonly channelId: string;
  readonly threadTs: string | null;
}

/** Unsent texts by person, channel and thread. They are kept until the person changes. */
const drafts = new Map<string, string>();
const listeners = new Set<() => void>();

const keyOf = ({ as, channelId, threadTs }: DraftPlace): string =>
  [as, channelId, threadTs].join(' ');

/** Puts a text into a composer, which may be visible or not. */
export function putDraft(place: DraftPlace, text: string): void {
  drafts.set(keyOf(place), text);
  for (const listener of listeners) listener();
}

/** Forgets the unsent texts of all other people. */
export function keepDraftsOf(person: string): void {
  for (const key of drafts.keys()) if (!key.startsWith(`${person} `)) drafts.delete(key);
}

function onDraft(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The text of a composer and how to send it. The text of a failed delivery is restored. */
export function useSending({ channel, threadTs }: ComposerPlace) {
  const { client, deliver, notices } = useSession();
  const as = client.me.id;
  const draft: DraftPlace = { as, channelId: channel.id, threadTs };
  const text = useSyncExternalStore(onDraft, () => drafts.get(keyOf(draft)) ?? '');
  const [isSending, setSending] = useState(false);
  const setText = (next: string) => putDraft(draft, next);

  async function send() {
    const line = text.trim();
    if (line === '' || isSending) return;
    const place = { channel: channel.id, threadTs };
    if (isCommand(line) && threadTs !== null) {
      const [name = ''] = line.split(/\s/, 1);
      return notices.add(place, `${name} is not supported in threads. Sorry!`);
    }
    setText('');
    setSending(true);
    const body = { as, channel: channel.id, text: line };
    const { error } = isCommand(line)
      ? await deliver('command', body)
      : await deliver('message', { ...body, ...(threadTs === null ? {} : { threadTs }) });
    setSending(false);
    if (error === null) return;
    setText(line);
    // The error of a command comes from the server.
    if (!isCommand(line)) notices.add(place, error);
  }

  return { text, setText, isSending, send };
}
