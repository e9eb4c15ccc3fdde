import { useCallback, useMemo, useState } from 'react';
import type { Message } from '../protocol.ts';
import { SLACKBOT } from '../slack/workspace/workspace.ts';

export type Notices = ReturnType<typeof useNotices>;

/** `now` is the time of the sandbox, so that a notice stands behind the messages before it. */
export function useNotices(now: () => Date) {
  const [notices, setNotices] = useState<readonly Message[]>([]);
  const [dismissed, setDismissed] = useState<ReadonlySet<string>>(new Set());

  /** Adds a message of Slackbot that only this person sees, until the page is reloaded. */
  const add = useCallback(
    ({ channel, threadTs }: Pick<Message, 'channel' | 'threadTs'>, text: string) => {
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
    /** The messages with Slackbot's notices and without the dismissed messages. */
    const withNotices = (messages: readonly Message[]) =>
      [...messages, ...notices]
        .filter(({ ts }) => !dismissed.has(ts))
        .toSorted((a, b) => Number(a.ts) - Number(b.ts));
    return { withNotices, add, dismiss };
  }, [notices, dismissed, add, dismiss]);
}
