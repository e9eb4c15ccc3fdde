import { tz } from '@date-fns/tz';
import { format } from 'date-fns/format';
import type { Answer, AnswerPart, CommandOffer } from './answer.ts';

/** `1 event`, `2 events`; `many` is given where the plural is irregular or more words follow. */
export function countWords(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** Names changes that a list leaves out because their rows cannot be decoded. */
export function unreadableText(ids: readonly string[]): string {
  const changes = countWords(ids.length, 'change');
  return `${changes} not shown: ${ids.join(', ')}. The stored row is not readable; the log has the reason.`;
}

/** An answer with one text, and buttons for the given commands. */
export function textAnswer(
  title: string,
  text: string,
  offers: readonly CommandOffer[] = [],
): Answer {
  const buttons: readonly AnswerPart[] = offers.length > 0 ? [{ kind: 'offers', offers }] : [];
  return { title, parts: [{ kind: 'text', text }, ...buttons] };
}

const UTC = { in: tz('UTC') };

/** `2026-11-20 09:30 UTC`, to the minute; for texts without Slack's own dates. */
export function utcStamp(at: Date): string {
  return format(at, "yyyy-MM-dd HH:mm 'UTC'", UTC);
}

/**
 * A command line as a user types it: `('db-', 'service list')` → `/db-service list`. Every command
 * that Signalbox shows goes through here, so that it has the prefix of SLACK_COMMAND_PREFIX.
 */
export function slashCommand(prefix: string, line: string): string {
  return `/${prefix}${line}`;
}

/** A text from outside on one line of at most `most` characters. */
export function oneLineOf(text: string, most: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}
