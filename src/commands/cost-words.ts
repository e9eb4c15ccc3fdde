/** Questions about costs as people type them, in the words that the question reads. */

import { addMonths, monthOf } from '../base/calendar.ts';
import { dayLabel, MONTHS, NUMBERS } from '../base/moments.ts';
import { patternOf } from '../base/text.ts';
import { addDays, type Day, dayNumber, dayOf, weekdayOf } from '../base/time.ts';
import { dayOfName, WEEKDAYS } from '../base/weekly-times.ts';
import { findByName, nameToType } from '../domain/targets.ts';
import { metricName } from '../maths/lines.ts';
import { readPeriod } from '../maths/period.ts';
import { METRICS } from '../maths/rows.ts';
import type { Reworded, Vocabulary } from './define.ts';
import { nameAt } from './names.ts';

const MONTH = `(?:${MONTHS.join('|')})[a-z]*`;
const WEEKDAY = `(?:${WEEKDAYS.join('|')})(?:day|sday|nesday|rsday|urday)?`;
const UNIT = 'week|month|quarter|year';
const TO = String.raw`-|to|until|till|through|\.{2,3}`;
const ISO = String.raw`\d{4}-\d{2}-\d{2}`;

type Replace = readonly [string, string | ((found: readonly string[], today: Day) => string)];

/** In this order; each replaces whole words. */
const PHRASES: readonly Replace[] = [
  [String.raw`vs\.|versus|compared (?:to|with)|against`, 'vs'],
  ['except|excluding|exclude|without|but not|other than', 'not'],
  ['(?:average|avg|mean)(?: costs?| spend)? (?:per|a|each) day', 'average'],
  ['(?:grouped|group|broken down|split|sorted) by|per|for each|each', 'by'],
  ['(?:daily|day by day|every day)', 'by day'],
  ['(hour|week|month)ly', 'by $1'],
  [String.raw`top (\d+) (service|team|tag|warehouse)s?`, 'by $2 top $1'],
  [String.raw`(<MONTH>) (\d{1,2}) ?(?:<TO>) ?(\d{1,2})`, '$1 $2 - $1 $3'],
  [String.raw`(\d{1,2}) ?(?:<TO>) ?(\d{1,2}) (<MONTH>)`, '$3 $1 - $3 $2'],
  [
    String.raw`(<MONTH>) (\d{1,2})(?:st|nd|rd|th)?|(\d{1,2})(?:st|nd|rd|th|\.)? (<MONTH>)`,
    ([month, day, first, name], today) => dated(day || first, month || name, today),
  ],
  ['(?:the )?day before yesterday', (_, today) => addDays(today, -2)],
  [`(${NUMBERS.join('|')})(?= (?:day|week|month))`, ([word = '']) => `${NUMBERS.indexOf(word)}`],
  [String.raw`(\d{1,3}) days? ago`, ([count], today) => addDays(today, -Number(count))],
  ['(?:(?:last|on|this|past) )?(<WEEKDAY>)', ([name], today) => lastWeekday(name, today)],
  [
    String.raw`(?:(\d{4}) )?q([1-4])(?: (\d{4}))?`,
    ([before, quarter, after], today) =>
      `${before ?? after ?? yearOfQuarter(Number(quarter), today)}-Q${quarter}`,
  ],
  [
    String.raw`(?:last |past |previous )?(?<!top )(\d{1,2}) months?`,
    ([count], today) => `${monthBefore(today, Number(count))}..${monthBefore(today, 1)}`,
  ],
  [String.raw`(?:last |past |previous )?(?<!top )(\d{1,5}) (d|w)(?:ays?|eeks?)`, '$1$2'],
  ['((?:this|last) (<UNIT>)) vs (?:the )?(?:previous|prior) \\2', '$1 vs prev'],
  ['vs (?:the )?(?:(?:previous|prior) period|(?:week|month|quarter|year) before)', 'vs prev'],
  ['vs (?:the )?day before', (_, today) => `vs ${addDays(today, -2)}`],
  ['(?:past|previous) (<UNIT>)', 'last-$1'],
  ['(this|last) (<UNIT>)', '$1-$2'],
  ['(?:the )?(?:start|beginning) of (?:the |this-)?(<UNIT>)|(<UNIT>) to date', 'this-$1$2'],
  ['backups', 'backup'],
  ['disks?', 'storage'],
  ['v?cpus?|memory|ram', 'compute'],
  ['(?:network )?(?:network|traffic|bandwidth|transfers)', 'transfer'],
  [`(${METRICS.map(metricName).join('|')})`, ([name = '']) => name.replaceAll(' ', '-')],
  ['(?:from |between )?(<ISO>) ?(?:<TO>|(?<=between \\S+ )and) ?(<ISO>)', '$1..$2'],
  ['from (<ISO>)', '$1..'],
  [String.raw`since (\S+)`, ([typed = ''], today) => since(typed, today)],
  [
    String.raw`(?:so far|to date|how much|how|what|what's|whats|which|did|do|does|was|were|is|are|has|have|we|i|us|our|me|show|list|get|give|spend|spent|spending|pay|costs?|cost|usage|total|of|for|from|the|in|on|during|please|and|much|money|it|be|been|will|so|all|a|go up|went up|rise|rose|increase[ds]?|changed?|up|expensive|high|higher)(?=\s|$)`,
    '',
  ],
];

const COMPILED = PHRASES.map(
  ([text, by]) =>
    [patternOf(`(?<=\\s)(?:${text})(?=\\s)`, { ISO, MONTH, WEEKDAY, UNIT, TO }, 'gi'), by] as const,
);

/** `since november` ends yesterday. */
function since(typed: string, today: Day): string {
  const read = readPeriod(typed, today);
  return read.ok ? `${read.period.first}..` : `since ${typed}`;
}

const monthBefore = (today: Day, count: number) => monthOf(addMonths(today, -count));

const yearOfQuarter = (quarter: number, today: Day) =>
  Number(today.slice(0, 4)) - (quarter * 3 - 2 > Number(today.slice(5, 7)) ? 1 : 0);

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

/** Words that can mean several things, what is asked, and the words of each. */
const ASKED: readonly (readonly string[])[] = [
  [
    '(compute|storage|backup) only|only (compute|storage|backup)',
    ...['Only $1$2, or all metrics?', 'metric $1$2', 'by metric'],
  ],
  [
    '(egress|ingress)',
    '“$1” is no metric. All transfers, or all metrics?',
    'transfer',
    'by metric',
  ],
  [
    String.raw`((?:(?:last|past|previous) )?\d{1,4} ?h(?:rs?|ours?)?|(?:last|past) (?:hour|night)|overnight)`,
    ...['“$1” has no costs of its own: the report is by UTC day.', 'yesterday', 'today', '2d'],
  ],
];

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
  for (const [words = '', ...asked] of ASKED) {
    const pattern = patternOf(`(?<=\\s)(?<!\\b(?:not|by) )(?:${words})(?=\\s)`, {});
    const [found = ''] = pattern.exec(text) ?? [];
    if (found === '' || findByName(vocabulary.services, found).length > 0) continue;
    const [sentence = '', ...readings] = asked.map((one) => found.replace(RegExp(words, 'i'), one));
    const rest = lineWith(found, ' ');
    // With a grouping of its own, all metrics are the line without these words.
    const line = (each: string) => `${rest} ${each}`.replace(/( by .*) by metric$/, '$1');
    return { sentence, lines: readings.map(line) };
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
  const daysIn = (day: string, month: string) => {
    const name = MONTHS[Number(month) - 1];
    const found = name === undefined ? '' : dated(day, name, today);
    return Number.isNaN(dayNumber(found)) || addDays(found, 0) !== found ? [] : [found];
  };
  return [...daysIn(a, b), ...daysIn(b, a)];
}

function reworded(text: string, today: Day, vocabulary: Vocabulary): string {
  const named = withNames(text.trim().split(/\s+/), vocabulary);
  let words = ` ${named.join(' ')} `;
  for (const [whole, by] of COMPILED) {
    // After the groups follow the place and the whole text.
    words =
      typeof by === 'string'
        ? words.replace(whole, by)
        : words.replace(whole, (_, ...found) => by(found.slice(0, -2), today));
  }
  return words.replaceAll(NAME_MARK, '').trim().replace(/\s+/g, ' ');
}

/** Keeps a name from being read as a word. */
const NAME_MARK = '\u0001';
const KEYWORDS = ['tag', 'warehouse', 'team', 'only', 'by'];

/** Names of services as one word; a tag without its keyword gets it. */
function withNames(words: readonly string[], vocabulary: Vocabulary): readonly string[] {
  const { services } = vocabulary;
  const tags = new Set(services.flatMap((service) => service.tags ?? []));
  const shown: string[] = [];
  for (let at = 0; at < words.length; ) {
    const word = words[at] ?? '';
    const isName = KEYWORDS.includes(words[at - 1]?.toLowerCase() ?? '');
    const typed = words.slice(at).map((text) => ({ text, quoted: false }));
    const named = isName ? null : nameAt('service', typed, vocabulary);
    const [service, other] = named ? findByName(services, named.text) : [];
    const tag = tags.has(word.toLowerCase()) ? `tag ${NAME_MARK}${word.toLowerCase()}` : word;
    const own = service && !other ? `${NAME_MARK}${nameToType(service, services)}` : tag;
    shown.push(isName ? `${NAME_MARK}${word}` : own);
    at += service && !other && named ? named.taken : 1;
  }
  return shown;
}

const FORECAST =
  /^(?:what will|how much will|will) (?:we |it )?(?:spend |cost )?(?:this month|this|the|it)?(?: cost| be)?$|^(?:what|how much) will (?:this month|it) (?:cost|be)\b/i;

/** Which of the questions about costs a line asks; null: the words are a question of `/cost`. */
export function costVerb(words: readonly string[]) {
  const text = words.join(' ').replace(/[?!.]+$/, '');
  const rest = text.replace(/\b(?:(?:as|to|in) (?:a )?)?csv\b/i, ' ');
  if (rest !== text) return { verb: 'csv', rest: rest.split(/\s+/).filter(Boolean) };
  if (FORECAST.test(text)) return { verb: 'forecast', rest: [] };
  return /\b(?:are|is|will) .*budget\b|\bover budget\b/i.test(text)
    ? { verb: 'budget', rest: [] }
    : null;
}
