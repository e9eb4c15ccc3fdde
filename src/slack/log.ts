import type { Logger as BoltLogger } from '@slack/bolt';
import { LogLevel } from '@slack/bolt';
import type { Logger } from 'pino';

/**
 * Bolt's messages in our log. Its debug level holds whole payloads with their response addresses,
 * so that nothing below a warning is passed on.
 */
export function boltLogger(log: Logger): BoltLogger {
  const silent = () => undefined;
  return {
    debug: silent,
    info: silent,
    warn: (...words) => log.warn({ from: 'bolt' }, text(words)),
    error: (...words) => log.error({ from: 'bolt' }, text(words)),
    setLevel: silent,
    getLevel: () => LogLevel.WARN,
    setName: silent,
  };
}

function text(words: readonly unknown[]): string {
  return words.map((word) => (word instanceof Error ? word.message : String(word))).join(' ');
}
