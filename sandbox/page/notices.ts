import { useCallback, useMemo, useState } from 'react';
import type { Message } from '../protocol.ts';

export const SLACKBOT = 'USLACKBOT';

export interface Notices {
  /** Messages as the person sees them: the dismissed are gone, Slackbot's words are added. */
  readonly shown: (messages: readonly Message[]) => readonly Message[];
  /** Lets Slackbot say something that only this person sees. */
  readonly say: (where: { channel: string; threadTs: string | null }, text: string) => void;
  readonly dismiss: (ts: string) => void;
}

function noticeOf(channel: string, threadTs: string | null, text: string): Message {
  return {
    channel,
    threadTs,
    text,
    ts: (Date.now() / 1000).toFixed(6),
    author: SLACKBOT,
    authorName: 'Slackbot',
    byBot: true,
    blocks: [],
    ephemeral: true,
    edited: false,
    files: [],
  };
}

export function useNotices(): Notices {
  const [said, setSaid] = useState<readonly Message[]>([]);
  const [dismissed, setDismissed] = useState<ReadonlySet<string>>(new Set());

  const say = useCallback<Notices['say']>(({ channel, threadTs }, text) => {
    setSaid((before) => [...before, noticeOf(channel, threadTs, text)]);
  }, []);

  const dismiss = useCallback((ts: string) => {
    setDismissed((before) => new Set([...before, ts]));
  }, []);

  return useMemo(() => {
    const shown = (messages: readonly Message[]) =>
      [...messages, ...said]
        .filter(({ ts }) => !dismissed.has(ts))
        .toSorted((a, b) => Number(a.ts) - Number(b.ts));
    return { shown, say, dismiss };
  }, [said, dismissed, say, dismiss]);
}
