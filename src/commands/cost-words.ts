/** Questions about costs as people type them, in the words that the question reads. */

import { addMonths, monthOf } from '../base/calendar.ts';
import { dayLabel, MONTHS } from '../base/moments.ts';
import { patternOf } from '../base/text.ts';
import { addDays, type Day, dayNumber, dayOf, weekdayOf } from '../base/time.ts';
import { dayOfName, WEEKDAYS } from '../base/weekly-times.ts';
import { findByName, nameToType } from '../domain/targets.ts';
import type { Reworded, Vocabulary } from './define.ts';

const MONTH = `(?:${MONTHS.join('|')})[a-z]*`;
const WEEKDAY = `(?:${WEEKDAYS.join('|')})(?:day|sday|nesday|rsday|urday)?`;
const ISO = String.raw`\d{4}-\d{2}-\d{2}`;

type Replace = readonly [string, string | ((found: readonly string[], today: Day) => string)];

/** In this order; each replaces whole words. */
const PHRASES: readonly Replace[] = [
  [String.raw`vs\.|versus|compared (?:to|with)|against`, 'vs'],
  ['except|excluding|exclude|without|but not|other than', 'not'],
  ['(?:average|avg|mean)(?: costs?| spend)? (?:per|a|each) day', 'average'],
  ['(?:grouped|group|broken down|split|sorted) by|per|for each|each', 'by'],
  ['(?:daily|day by day|every day)', 'by day'],
  ['(hour|week|month)ly', ([unit]) => `by ${unit}`],
  [String.raw`top (\d+) (service|team|tag|warehouse)s?`, ([count, by]) => `by ${by} top ${count}`],
  [String.raw`(<ISO>) ?(?:-|to|until|till|\.{2,3}) ?(<ISO>)`, ([a, b]) => `${a}..${b}`],
  [
    String.raw`(?:from )?(<MONTH>) (\d{1,2}) ?(?:-|to|until|\.{2,3}) ?(?:(<MONTH>) )?(\d{1,2})`,
    ([month, a, other, b], today) => range(dated(a, month, today), dated(b, other || month, today)),
  ],
  [
    String.raw`(?:from )?(\d{1,2}) ?(?:-|to|until|\.{2,3}) ?(\d{1,2}) (<MONTH>)`,
    ([a, b, month], today) => range(dated(a, month, today), dated(b, month, today)),
  ],
  [
    '(?:since|from) (?:last )?(<WEEKDAY>)',
    ([name], today) => range(lastWeekday(name, today), addDays(today, -1)),
  ],
  [
    String.raw`(<MONTH>) (\d{1,2})(?:st|nd|rd|th)?|(\d{1,2})(?:st|nd|rd|th|\.)? (<MONTH>)`,
    ([month, day, first, name], today) => dated(day || first, month || name, today),
  ],
  ['(?:since|from) (<ISO>)', ([day], today) => range(day, addDays(today, -1))],
  ['(?:(?:last|on|this|past) )?(<WEEKDAY>)', ([name], today) => lastWeekday(name, today)],
  [
    String.raw`q([1-4])(?: (\d{4}))?`,
    ([quarter, year], today) => `${year ?? yearOfQuarter(Number(quarter), today)}-Q${quarter}`,
  ],
  [
    String.raw`(?:last|past|previous) (\d{1,2}) months?`,
    ([count], today) => range(monthBefore(today, Number(count)), monthBefore(today, 1)),
  ],
  ['(?:past|previous) (week|month|quarter|year)', ([unit]) => `last-${unit}`],
  ['(this|last) (week|month|quarter|year)', ([which, unit]) => `${which}-${unit}`],
  ['(?:so far|to date|month to date)', ''],
  [
    String.raw`(?:how much|how|what|what's|whats|which|did|do|does|was|were|is|are|has|have|we|i|us|our|me|show|list|get|give|spend|spent|spending|pay|costs?|cost|usage|total|of|for|the|in|on|during|please|and|much|money|it|be|been|will|so|all|a|go up|went up|rise|rose|increase[ds]?|changed?|up|expensive|high|higher)(?=\s|$)`,
    '',
  ],
];

const COMPILED = PHRASES.map(
  ([text, by]) =>
    [patternOf(`(?<=\\s)(?:${text})(?=\\s)`, { ISO, MONTH, WEEKDAY }, 'gi'), by] as const,
);

const monthBefore = (today: Day, count: number) => monthOf(addMonths(today, -count));

const yearOfQuarter = (quarter: number, today: Day) =>
  Number(today.slice(0, 4)) - (quarter * 3 - 2 > Number(today.slice(5, 7)) ? 1 : 0);

function range(first = '', last = ''): string {
  return first === last ? first : `${first}..${last}`;
}

/** The latest such day that has begun. */
function dated(day = '', month = '', today: Day): string {
  const number = MONTHS.indexOf(month.slice(0, 3).toLowerCase()) + 1;
  const of = (year: number) => `${year}-${String(number).padStart(2, '0')}-${day.padStart(2, '0')}`;
  const year = Number(today.slice(0, 4));
  return of(year) > today ? of(year - 1) : of(year);
}

/** The last such weekday before today. */
export function lastWeekday(name = '', today: Day): Day {
  const index = dayOfName(name.slice(0, 3).toLowerCase());
  return addDays(today, -((weekdayOf(today) - index + 6) % 7) - 1);
}

/** The question itself refuses a longer text. */
const LONGEST = 200;

const MONEY = /\b(?:in )?(dollars?|usd|euros?|eur|gbp|pounds?|cents?|money)\b|[€$£]/i;
const FUTURE = /\b(tomorrow|next (?:week|month|quarter|year))\b/i;
/** It may be a question about one metric, or one about the metrics. */
const ONLY = /(?<=\s)(?:(compute|storage|backup) only|only (compute|storage|backup))(?=\s)/i;

/** Rewrites a question; a service of two words is one name, a tag alone has its keyword. */
export function costWords(command: string, typed: string, vocabulary: Vocabulary): Reworded {
  const now = vocabulary.clock?.now;
  if (!now || typed.length > LONGEST) return { words: typed };
  const today = dayOf(now);
  const text = ` ${typed
    .replaceAll('…', '..')
    .replace(/[?!]+(?=\s|$)/g, '')
    .replace(/,(?=\s|$)/g, ' ')} `;
  const lineWith = (part: string | RegExp, by: string) =>
    `${command} ${reworded(text.replace(part, by), today, vocabulary)}`.trim();
  if (MONEY.test(text) && !vocabulary.isPriced) {
    const sentence =
      'No price of a credit is set in signalbox.yaml, so costs are shown in credits.';
    return { sentence, lines: [lineWith(MONEY, ' ')] };
  }
  const [, future] = FUTURE.exec(text) ?? [];
  if (future && command !== 'cost forecast') {
    const sentence = `“${future}” is in the future, so it has no costs yet. A forecast shows what to expect.`;
    const line = /month/i.test(future) ? 'cost forecast next-month' : 'cost forecast';
    return { sentence, lines: [line] };
  }
  const [only, first, metric = first] = ONLY.exec(text) ?? [];
  if (only) {
    const rest = lineWith(only, ' ');
    const lines = [`${rest} metric ${metric}`, `${rest} by metric`];
    return { sentence: `Only ${metric}, or all metrics?`, lines };
  }
  const [slashed, a = '', b = ''] = /(?<=\s)(\d{1,2})\/(\d{1,2})(?=\s)/.exec(text) ?? [];
  if (slashed !== undefined) {
    const days = slashedDays(a, b, today);
    const labels = days.map((day) => dayLabel(day, addDays(today, 400)));
    const lines = [...new Set(days)].map((day) => lineWith(slashed, day));
    return { sentence: `Which day is ${slashed}: ${labels.join(' or ')}?`, lines };
  }
  return { words: reworded(text.replace(MONEY, ' '), today, vocabulary) };
}

/** `5/11` has the day or the month first. */
function slashedDays(a: string, b: string, today: Day): readonly Day[] {
  const orders = [
    [a, b],
    [b, a],
  ];
  return orders.flatMap(([day = '', month = '']) => {
    const name = MONTHS[Number(month) - 1];
    const found = name === undefined ? '' : dated(day, name, today);
    return Number.isNaN(dayNumber(found)) || addDays(found, 0) !== found ? [] : [found];
  });
}

function reworded(text: string, today: Day, vocabulary: Vocabulary): string {
  const named = withNames(text.trim().split(/\s+/), vocabulary);
  let words = ` ${named.join(' ')} `;
  for (const [whole, by] of COMPILED) {
    // After the groups follow the place and the whole text.
    words = words.replace(whole, (_, ...found) =>
      typeof by === 'string' ? by : by(found.slice(0, -2), today),
    );
  }
  return words.replaceAll(NAME_MARK, '').trim().replace(/\s+/g, ' ');
}

/** Keeps a name from being read as a word. */
const NAME_MARK = '\u0001';
const KEYWORDS = ['tag', 'warehouse', 'team', 'only', 'by'];

/** Names of services as one word; a tag without its keyword gets it. */
function withNames(words: readonly string[], { services }: Vocabulary): readonly string[] {
  const tags = new Set(services.flatMap(({ tags }) => tags ?? []));
  const shown: string[] = [];
  for (let at = 0; at < words.length; ) {
    const before = words[at - 1]?.toLowerCase() ?? '';
    const taken = [4, 3, 2, 1].find(
      (count) =>
        at + count <= words.length &&
        findByName(services, words.slice(at, at + count).join(' ')).length === 1,
    );
    const [service] = taken ? findByName(services, words.slice(at, at + taken).join(' ')) : [];
    const word = words[at] ?? '';
    const lower = word.toLowerCase();
    if (KEYWORDS.includes(before)) shown.push(`${NAME_MARK}${word}`);
    else if (service && taken) shown.push(`${NAME_MARK}${nameToType(service, services)}`);
    else if (tags.has(lower)) shown.push(`tag ${NAME_MARK}${lower}`);
    else shown.push(word);
    at += KEYWORDS.includes(before) ? 1 : (taken ?? 1);
  }
  return shown;
}

/** Which of the questions about costs a line asks; null: the words are a question of `/cost`. */
export function costVerb(words: readonly string[]) {
  const text = words.join(' ').replace(/[?!.]+$/, '');
  const cases: readonly (readonly [RegExp, string])[] = [
    [/\b(?:as|to|in) (?:a )?csv\b|\bcsv\b/i, 'csv'],
    [
      /^(?:what will|how much will|will) (?:we |it )?(?:spend |cost )?(?:this month|this|the|it)?(?: cost| be)?$|^(?:what|how much) will (?:this month|it) (?:cost|be)\b/i,
      'forecast',
    ],
    [/\b(?:are|is|will) .*budget\b|\bover budget\b/i, 'budget'],
  ];
  const found = cases.find(([pattern]) => pattern.test(text));
  if (!found) return null;
  const [pattern, verb] = found;
  const isWhole = verb !== 'csv';
  return { verb, rest: isWhole ? [] : text.replace(pattern, ' ').split(/\s+/).filter(Boolean) };
}
