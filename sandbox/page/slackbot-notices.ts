import { useCallback, useMemo, useState } from 'react';
import type { Message } from '../protocol.ts';
import { SLACKBOT } from '../slack/workspace/workspace.ts';

export interface Notices {
  /** The messages with Slackbot's notices and without the dismissed messages. */
  readonly withNotices: (messages: readonly Message[]) => readonly Message[];
  /** Adds a message of Slackbot that only this person sees, until the page is reloaded. */
  readonly add: (place: { channel: string; threadTs: string | null }, text: string) => void;
  readonly dismiss: (ts: string) => void;
}

/** `now` is the time of the sandbox, so that a notice stands behind the messages before it. */
export function useNotices(now: () => Date): Notices {
  const [notices, setNotices] = useState<readonly Message[]>([]);
  const [dismissed, setDismissed] = useState<ReadonlySet<string>>(new Set());

  const add = useCallback<Notices['add']>(
    ({ channel, threadTs }, text) => {
      const notice: Message = {
        channel,
        threadTs,
        text,
        ts: (now().getTime() / 1000).toFixed(6),
        author: SLACKBOT,
        authorName: 'Slackbot',
        byBot: false,
        blocks: [],
        ephemeral: true,
        files: [],
      };
      setNotices((before) => [...before, notice]);
    },
    [now],
  );

  const dismiss = useCallback((ts: string) => {
    setDismissed((before) => new Set([...before, ts]));
  }, []);

  return useMemo(() => {
    const withNotices = (messages: readonly Message[]) =>
      [...messages, ...notices]
        .filter(({ ts }) => !dismissed.has(ts))
        .toSorted((a, b) => Number(a.ts) - Number(b.ts));
    return { withNotices, add, dismiss };
  }, [notices, dismissed, add, dismiss]);
}
