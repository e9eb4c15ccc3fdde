import type { Logger as BoltLogger } from '@slack/bolt';
import { LogLevel } from '@slack/bolt';
import type { Logger } from 'pino';

/**
 * Writes Bolt's warnings and errors to the log. Lower levels contain whole payloads with their
 * response URLs and are dropped.
 */
export function boltLogger(log: Logger, now: () => number = Date.now): BoltLogger {
  const silent = () => undefined;
  const warn = rateLimited((said, again) => log.warn({ from: 'bolt', again }, said), now);
  const error = rateLimited((said, again) => log.error({ from: 'bolt', again }, said), now);
  return {
    debug: silent,
    info: silent,
    warn,
    error,
    setLevel: silent,
    getLevel: () => LogLevel.WARN,
    setName: silent,
  };
}

const ONCE_IN_MS = 60_000;
const MOST_KINDS = 50;
/** The caller gets the error of the call and logs it; an outage would add a line per attempt. */
const FAILED_CALL = 'http request failed';

interface Kind {
  readonly since: number;
  suppressed: number;
}

/**
 * Writes equal messages once a minute, with the number that was suppressed: anyone on the network
 * can cause signature errors, and must not be able to fill the disk with them.
 */
function rateLimited(write: (said: string, again: number) => void, now: () => number) {
  const kinds = new Map<string, Kind>();
  return (...words: readonly unknown[]) => {
    const said = text(words);
    if (said.startsWith(FAILED_CALL)) return;
    // All further messages count as one kind, because a message may contain a part of the payload.
    const name = kinds.has(said) || kinds.size < MOST_KINDS ? said : '';
    const kind = kinds.get(name);
    if (kind && now() - kind.since < ONCE_IN_MS) {
      kind.suppressed += 1;
      return;
    }
    kinds.set(name, { since: now(), suppressed: 0 });
    write(said, kind?.suppressed ?? 0);
  };
}

function text(words: readonly unknown[]): string {
  return words.map((word) => (word instanceof Error ? word.message : String(word))).join(' ');
}
