/** What a server reports, or why it is unknown, in the words of an answer. */

import {
  type Answer,
  type AnswerPart,
  type AnswerRow,
  type Cell,
  type CommandOffer,
  type InlinePart,
  oneLineOf,
} from '../domain/answer.ts';
import { wordOf } from '../domain/words.ts';
import type { ReadGap, UnknownRead } from '../servers/optional-reads.ts';

/** A time of a reply; null if it is missing or is no time. */
export function reportedTime(text: string | null): Date | null {
  const at = new Date(text ?? '');
  return Number.isNaN(at.getTime()) ? null : at;
}

/** The same as the value of a fact; a text that is no time is shown as it is. */
export function timeCell(text: string | null): Cell {
  return reportedTime(text) ?? text;
}

/** A value of a reply in a word: a time in the zone of the reader, `IN_SYNC` as `in sync`. */
export function timeOrWord(value: string): Cell {
  const at = /^\d{4}-\d\d-\d\dT\d/.test(value) ? reportedTime(value) : null;
  return at ?? wordOf(value);
}

/** Why a value is unknown. It can contain text of the server, so it is one line of limited length. */
export function unknownText({ why }: UnknownRead): string {
  return `Unknown: ${oneLineOf(why, 300)}.`;
}

/** What needs attention, a row with a button each; then a table of the others, and a menu of all. */
export function attentionParts(
  urgent: readonly AnswerRow[],
  others: Extract<AnswerPart, { readonly kind: 'table' }>,
  menu: Omit<Extract<AnswerPart, { readonly kind: 'menu' }>, 'kind'>,
): readonly AnswerPart[] {
  const caption = urgent.length > 0 ? { caption: 'Others' } : {};
  return [
    { kind: 'rows', rows: urgent },
    ...(others.rows.length > 0 ? [{ ...others, ...caption }] : []),
    { kind: 'menu', ...menu },
  ];
}

interface UnknownList {
  readonly title: string;
  readonly read: UnknownRead;
  /** What works without the list, as sentences. */
  readonly instead: readonly string[];
  readonly offers: readonly CommandOffer[];
}

/** When another attempt can succeed, where the reason does not say it. */
const AGAIN: Readonly<Partial<Record<ReadGap, readonly string[]>>> = {
  refused: ['An operator of Signalbox can grant the permission.'],
  'no-answer': ['Try again in a minute.'],
  unreadable: ['Try again in a minute.'],
};

/** The answer of a query whose list could not be read. */
export function unknownList({ title, read, instead, offers }: UnknownList): Answer {
  // A name of a service is text from outside as well.
  const next = AGAIN[read.gap] ?? [];
  const lines = [unknownText(read), ...next, ...instead].map((line) => [oneLineOf(line, 400)]);
  return linesAnswer(`${title}: unknown`, lines, offers);
}

export type TextLine = readonly InlinePart[];

export function linesAnswer(
  title: string,
  lines: readonly TextLine[],
  offers: readonly CommandOffer[],
): Answer {
  return {
    title,
    parts: [
      { kind: 'lines', lines },
      { kind: 'offers', offers },
    ],
  };
}
