// JSON as a type and as text, words that users type, and numbers and lengths of time as text.

import leven from 'leven';
import { DAY_MS, HOUR_MS, MINUTE_MS } from './time.ts';

/** A JSON value that nothing changes. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

export type JsonObject = { readonly [key: string]: Json };

/** Returns JSON with sorted keys, so that equal values have equal text. */
export function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join(',')}}`;
}

/** A word of the line that a user typed after the slash command. */
export interface Word {
  readonly text: string;
  readonly quoted: boolean;
}

export type Words = readonly Word[];

/**
 * `min=16 "night saving"` → two words; a quote without an end runs to the end of the line. Within quotes,
 * a backslash keeps a quote. Single quotes count around whole words only.
 */
export function splitWords(typed: string): readonly Word[] {
  const words: Word[] = [];
  const text = plainText(typed);
  for (const match of text.matchAll(WORDS)) {
    const [, double, single, key, value, bare = ''] = match;
    const quoted = double ?? single;
    if (quoted !== undefined) words.push({ text: unescaped(quoted).trim(), quoted: true });
    else if (key !== undefined)
      words.push({ text: `${key}${unescaped(value ?? '')}`, quoted: false });
    else words.push({ text: bare, quoted: false });
  }
  return words.filter(({ text: word }) => word !== '');
}

const WORDS =
  /"((?:[^"\\]|\\.)*)"?|(?<!\S)'([^']*)'(?=\s|$)|([^\s"]+=)"((?:[^"\\]|\\.)*)"?|(\S+)/gs;

function unescaped(text: string): string {
  return text.replace(/\\(["\\])/g, '$1');
}

/** A pattern with constant parts: `(<MONTH>) \\d`. No part may come from outside. */
export function patternOf(
  text: string,
  parts: Readonly<Record<string, string>>,
  flags = 'i',
): RegExp {
  return new RegExp(
    Object.entries(parts).reduce((all, [name, part]) => all.replaceAll(`<${name}>`, part), text),
    flags,
  );
}

/** Undoes the curly quotes and long dashes of phones, and Slack's escapes of `<`, `>` and `&`. */
export function plainText(typed: string): string {
  const decoded = typed.replace(/&lt;/g, '<').replace(/&gt;/g, '>').replace(/&amp;/g, '&');
  return SMART.reduce((text, [pattern, plain]) => text.replace(pattern, plain), decoded);
}

const SMART: readonly (readonly [RegExp, string])[] = [
  [/[\u201c\u201d\u201e\u00ab\u00bb]/g, '"'],
  [/[\u2018\u2019\u201a]/g, "'"],
  [/[\u2010-\u2015\u2212]/g, '-'],
  [/[\u00a0\u2007\u202f]/g, ' '],
  // Invisible characters must not make two names different.
  [/\p{Cf}/gu, ''],
];

/** Returns at most `most` known words similar to `typed`, best first; empty if none is similar. */
export function nearest(typed: string, known: readonly string[], most = 3): readonly string[] {
  const wanted = typed.toLowerCase();
  // Of three letters, two others make another word.
  const limit = /^-*.{0,3}$/.test(wanted) ? 1 : Math.max(2, Math.ceil(wanted.length / 3));
  return [...new Set(known)]
    .map((word) => ({ word, distance: distance(wanted, word.toLowerCase(), limit) }))
    .filter((candidate) => candidate.distance <= limit)
    .sort((a, b) => a.distance - b.distance || a.word.localeCompare(b.word))
    .slice(0, most)
    .map(({ word }) => word);
}

// People most often type the beginning or a part of a name.
function distance(wanted: string, word: string, limit: number): number {
  if (wanted !== '' && word.startsWith(wanted)) return 0.5;
  if (wanted.length >= 3 && word.includes(wanted)) return 1;
  // Two exchanged letters are one error.
  if (wanted.length < 4 && lettersOf(wanted) === lettersOf(word)) return 1;
  // The difference in length alone exceeds the limit; this skips the costly comparison.
  if (Math.abs(wanted.length - word.length) > limit) return Number.POSITIVE_INFINITY;
  return leven(wanted, word);
}

function lettersOf(word: string): string {
  return [...word].sort().join('');
}

/** A text of others as one line of at most `most` characters, without what people cannot see but models read. */
export function cleanText(text: string, most = 200): string {
  const visible = text.toWellFormed().replace(BREAKS, ' ').replace(INVISIBLE, '');
  const characters = [...visible.replace(/\s+/g, ' ').trim()];
  return characters.length > most
    ? `${characters.slice(0, most - 1).join('')}…`
    : characters.join('');
}

const BREAKS = /[\p{Cc}\p{Zl}\p{Zp}\u2800]/gu;
// Bidi, zero-width, variation-selector, filler and tag characters, and private ones.
const INVISIBLE = /[\p{Cf}\p{Co}\p{Default_Ignorable_Code_Point}]/gu;

/** `10,737,418,240` → `10 GiB (10,737,418,240 bytes)`: readable, with the exact number. */
export function bytesText(bytes: number): string {
  const exact = `${grouped(bytes)} bytes`;
  return bytes < STEP ? exact : `${shortBytesText(bytes)} (${exact})`;
}

/** `10,737,418,240` → `10 GiB`. */
export function shortBytesText(bytes: number): string {
  const power = bytes < STEP ? 0 : Math.floor(Math.log(bytes) / Math.log(STEP));
  const index = Math.min(power, UNITS.length - 1);
  return `${+(bytes / STEP ** index).toFixed(1)} ${UNITS[index]}`;
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
const STEP = 1024;

/** `12.5 s`, `90 min`, `4 h`, `5 h 1 min`, `2 days` */
export function spanText(ms: number): string {
  // Rounded to tenths, a minute is not shown as 60 s.
  if (ms < MINUTE_MS - 50) return `${+(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.round(ms / MINUTE_MS);
  const hours = Math.floor(minutes / 60);
  const rest = minutes % 60;
  if (rest !== 0) return minutes < 120 ? `${minutes} min` : `${hours} h ${rest} min`;
  return hours < 48 || hours % 24 !== 0 ? `${hours} h` : `${hours / 24} days`;
}

/** `7 min ahead of Slack` */
export function skewText(aheadMs: number, whose: string): string {
  return `${spanText(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'} ${whose}`;
}

/** `10737418` → `10,737,418`. */
export function grouped(value: number): string {
  return value.toLocaleString('en-US');
}

/** `12 min ago`, `3 h ago`, `5 days ago`; an age below a minute, or a time to come, is `just now`. */
export function ageText(at: Date, now: Date): string {
  const ms = now.getTime() - at.getTime();
  if (ms < MINUTE_MS) return 'just now';
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min ago`;
  return ms < 2 * DAY_MS
    ? `${Math.floor(ms / HOUR_MS)} h ago`
    : `${Math.floor(ms / DAY_MS)} days ago`;
}

/** The value under a key that comes from outside: `constructor` is a member of every object, but a key of none. */
export function ownValue<T>(
  of: Readonly<Record<string, T>> | undefined,
  key: string,
): T | undefined {
  return of && Object.hasOwn(of, key) ? of[key] : undefined;
}
