import type { Logger as BoltLogger } from '@slack/bolt';
import { LogLevel } from '@slack/bolt';
import type { Logger } from 'pino';

/**
 * Bolt's messages in our log. Its debug level holds whole payloads with their response addresses,
 * so that nothing below a warning is passed on.
 */
export function boltLogger(log: Logger, now: () => number = Date.now): BoltLogger {
  const silent = () => undefined;
  const warn = seldom((said, again) => log.warn({ from: 'bolt', again }, said), now);
  const error = seldom((said, again) => log.error({ from: 'bolt', again }, said), now);
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

interface Kind {
  readonly since: number;
  leftOut: number;
}

/**
 * The same once a minute, with how often it was left out before. Anybody on the network can make
 * Bolt complain of a signature, and must not be able to fill a disk with that.
 */
function seldom(write: (said: string, again: number) => void, now: () => number) {
  const kinds = new Map<string, Kind>();
  return (...words: readonly unknown[]) => {
    const said = text(words);
    // Whatever else there is counts as one: what is said may hold what somebody sent.
    const name = kinds.has(said) || kinds.size < MOST_KINDS ? said : '';
    const kind = kinds.get(name);
    if (kind && now() - kind.since < ONCE_IN_MS) {
      kind.leftOut += 1;
      return;
    }
    kinds.set(name, { since: now(), leftOut: 0 });
    write(said, kind?.leftOut ?? 0);
  };
}

function text(words: readonly unknown[]): string {
  return words.map((word) => (word instanceof Error ? word.message : String(word))).join(' ');
}
