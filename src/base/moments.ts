// Times as people type them. A closed grammar: a phrase that it does not know is no time, and one with
// several readings is asked about. Source: docs/commands.md#times.

import { formatDay, isDay } from './calendar.ts';
import { patternOf } from './text.ts';
import {
  addDays,
  HOUR_MS,
  instantAt,
  instantsOf,
  isTimeZone,
  localDay,
  weekdayOf,
} from './time.ts';
import { dayOfName } from './weekly-times.ts';

/** The clock of the person who types. */
export interface LocalClock {
  readonly now: Date;
  /** An IANA name or, of a typed time, an offset. */
  readonly zone: string;
  /** It is not the zone of the person, so that each moment is written as its instant. */
  readonly isElsewhere?: true;
}

/** A start (`at`, `in`) or an end (`for`, `until`); `now` is no start time. */
export type TimeKey = 'at' | 'in' | 'for' | 'until';

export interface TimeOption {
  readonly key: TimeKey;
  /** `20:00`, `2026-11-28T08:00` or `4h`. */
  readonly text: string;
  readonly label: string;
}

export type TimeReading =
  | { readonly kind: 'now' }
  | { readonly kind: 'taken'; readonly key: TimeKey; readonly text: string }
  | AskedTime;

export type AskedTime = { readonly kind: 'asked' } & Moments & { readonly why: string };

const UNITS =
  'm(?:in(?:s|utes?|uten?)?)?|h(?:rs?|ours?)?|std|stunden?|d(?:ays?)?|tage?n?|w(?:eeks?)?|wochen?';
/** By their value. */
export const NUMBERS = 'zero one two three four five six seven eight nine ten eleven twelve'.split(
  ' ',
);
const SPAN = patternOf(
  String.raw`^(\d{1,3}(?:[.,]\d)?|half an?|an?|<NUMBER>) ?(<UNIT>)(?: ?(?:and )?(\d{1,2}) ?m[a-z]*|(\d{2})| (?:and )?(a half))?$`,
  { NUMBER: NUMBERS.join('|'), UNIT: UNITS },
);
/** `2 to 3 days`, `2-3h`. */
const SPANS = patternOf(
  String.raw`^(\d{1,3}|<NUMBER>) ?(?:-|\u2013|to|or|bis|oder) ?(\d{1,3}|<NUMBER>) ?(<UNIT>)$`,
  { NUMBER: NUMBERS.join('|'), UNIT: UNITS },
);
const MINUTES: Readonly<Record<string, number>> = {
  m: 1,
  h: 60,
  s: 60,
  d: 1_440,
  t: 1_440,
  w: 10_080,
};

/** `4 hours` → `4h`, `half a day` → `12h`, `1h30m` → `90m`; null for anything else. */
export function typedSpan(text: string): string | null {
  const [, typed = '', unit = '', named, joined, half] = SPAN.exec(plain(text)) ?? [];
  // `1h30` is one word: in `4h 20 percent` the second number has another unit.
  const more = named ?? joined ?? '';
  if (typed === '') return null;
  const word = NUMBERS.indexOf(typed);
  const number = typed.startsWith('half') ? 0.5 : /^an?$/.test(typed) ? 1 : word;
  const count = number >= 0 ? number : Number(typed.replace(',', '.'));
  const each = MINUTES[unit[0] ?? ''] ?? 0;
  const minutes = (count + (half ? 0.5 : 0)) * each + Number(more);
  const isOdd = more !== '' && each !== 60;
  if (!Number.isInteger(minutes) || minutes <= 0 || isOdd) return null;
  if (minutes % 1_440 === 0) return `${minutes / 1_440}d`;
  return minutes % 60 === 0 ? `${minutes / 60}h` : `${minutes}m`;
}

function plain(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(',', ' ')
    .replace(/\s+/g, ' ')
    .replace(/\bhalf past (\d{1,2})\b/, '$1:30')
    .replace(/\bquarter past (\d{1,2})\b/, '$1:15')
    .replace(/[.!]+$/, '')
    .trim();
}

/** How a time begins, so that most words need no further reading. */
const FIRST_WORDS = patternOf(
  String.raw`^(?:\d|at|on|um|ab|in|for|für|until|till?|bis|up|through|by|before|after|around|about|from|starting|the|now|right|straight|quarter|yesterday|gestern|immediately|asap|sofort|jetzt|an?$|half|<NUMBER>|to|tmr|tonight|heute|this|next|nächsten|mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|noon|mid|mittag|early|morning|morgen|first|afternoon|evening|night|eod|cob|end|close|feierabend|later|soon|weekend)`,
  { NUMBER: NUMBERS.join('|') },
);

/** The longest time at the start of the words, with the number of its words. */
export function timeAt(words: readonly string[], clock: LocalClock) {
  if (!FIRST_WORDS.test(words[0] ?? '')) return null;
  for (let taken = Math.min(8, words.length); taken > 0; taken -= 1) {
    const phrase = words.slice(0, taken).join(' ');
    // With nothing after it, `tomorrow morning 7` has an hour, not a number of something.
    const isWhole = taken === words.length;
    const reading = readTime(isWhole ? phrase.replace(HOUR_AFTER_PART, '$1 at $2') : phrase, clock);
    if (reading) return { taken, reading };
  }
  return null;
}

const LONGEST = 60;

const WINDOW =
  /^(?:(?:from|between|von|at) )?(.+?) ?(?:(?<=\d.*)(?<!\b\d{4}|\b\d{4}-\d\d)(?:(?<! )[-–]|[-–](?= |\d\d?(?::| ?[ap]m)|1\d|2[0-4]))|\b(?:to|(?<=^between .*)and|until|till|bis)\b) ?(.+)$/;

/**
 * `from 20:00 to 22:00`, `20:00-22:00` at the start of the words: one window, or those that `8-10pm` can
 * mean, the shortest first. Two numbers alone are a window only with a word before them, or at the end.
 */
export function windowAt(words: readonly string[], clock: LocalClock) {
  for (let taken = Math.min(8, words.length); taken > 0; taken -= 1) {
    const phrase = words.slice(0, taken).join(' ');
    if (phrase.length > LONGEST) continue;
    // `on friday from 8:00 to 10:00` → `from friday 8:00 to 10:00`
    const lowered = phrase
      .toLowerCase()
      .replace(/^(?:on (?:the )?)?(.{3,20}?) (from|between|von) /, '$2 $1 ');
    const [, from = '', to = ''] = WINDOW.exec(lowered) ?? [];
    // `from 20:00 to 22:00 tomorrow`: the day can be that of both.
    const day = to.replace(DAY_AFTER_TIME, '');
    const starts = day === to ? [from] : [`${day} ${from}`, from];
    const isTime =
      taken === words.length || /^(from|between|von)\b|:|\d ?[ap]m\b|\buntil\b/i.test(phrase);
    if (to === '' || !(isTime || placeAt(words.slice(taken))?.isLike)) continue;
    const windows = starts
      .flatMap((start) => momentsIn('at', start, clock))
      .flatMap((start) => windowsFrom(start, to, clock).slice(0, /\d/.test(to) ? 1 : 2))
      .filter(({ key }, at, all) => all.findIndex((other) => other.key === key) === at)
      .sort((one, other) => one.ms - other.ms);
    const short = windows.filter(({ ms }) => ms <= 12 * HOUR_MS);
    const options = short.length > 1 ? short : windows;
    const isExact = [from, to].every((text) => /\d|noon|midday|midnight/.test(text));
    if (options.length > 0) return { taken, phrase, options, isOne: !options[1] && isExact };
  }
  return null;
}

const DAY_AFTER_TIME = /^\d[\d:.]*(?: ?[ap]m| ?h| uhr)? (?:on (?:the )?)?(?=[a-z]{3})/;

/** The moments of a key that a text can mean; none for a span. */
function momentsIn(key: 'at' | 'until', text: string, clock: LocalClock): readonly TimeOption[] {
  const reading = readLocal(`${key} ${text}`, clock);
  if (reading?.kind === 'asked')
    return reading.isOther ? [] : reading.options.filter((option) => option.key === key);
  if (reading?.kind !== 'taken' || reading.key !== key) return [];
  const [time = '', day] = reading.text.split('T').reverse();
  const label = day ? `${dayLabel(day, localDay(clock.now, clock.zone))} ${time}` : time;
  return [{ key, text: reading.text, label }];
}

/** An end is the next one after its start; the shortest window first. */
function windowsFrom({ text, label }: TimeOption, to: string, clock: LocalClock) {
  const { now, zone } = clock;
  const start = instantOf(text, clock);
  const isNear = /\b(today|tonight|tomorrow|tmrw|tmr|heute|morgen)\b/.test(to);
  const windows = momentsIn('until', to, { now: isNear ? now : start, zone }).map((end) => {
    const instant = instantOf(end.text, { now: start, zone });
    const [day = '', time = ''] = end.text.split('T');
    const isSame = day === localDay(start, zone);
    const until = isSame ? time : `${formatDay(day)} ${time}`;
    const ms = instant.getTime() - start.getTime();
    const key = `${start.getTime()} ${ms}`;
    const whole = { at: writtenIn(clock, text), until: writtenIn(clock, end.text) };
    return { ...whole, label: labelIn(clock, `${label} until ${until}`), ms, key };
  });
  // After `dec 1`, the next one is in a year.
  const near = windows.filter(({ ms }) => ms > 0 && ms <= 31 * 24 * HOUR_MS);
  return near.sort((one, other) => one.ms - other.ms);
}

/** A moment of another zone is written as its instant: `2026-11-28T08:00Z`; a span stays. */
function writtenIn(clock: LocalClock, text: string): string {
  return clock.isElsewhere && text.includes(':')
    ? `${instantOf(text, clock).toISOString().slice(0, 16)}Z`
    : text;
}

function labelIn({ isElsewhere, zone }: LocalClock, label: string): string {
  return isElsewhere ? `${label} ${zone}` : label;
}

/** The instant of `20:00` or `2026-11-28T08:00`. */
function instantOf(text: string, clock: LocalClock): Date {
  const today = localDay(clock.now, clock.zone);
  const [time = '', day = futureDay(today, time, clock)] = text.split('T').reverse();
  return instantAt(day, time, clock.zone);
}

const LEADS =
  /^(?:(until|till|til|bis|up to|through)|(for|für)|(in)|(by|before|after|around|about)|(?:at|on|um|ab|from|starting))\s+(?:the )?(.+)$/;

/** `7 in the morning` or `morning at 7`: the part of the day decides, and offers no hours of its own. */
const HOUR_OF_PART = patternOf(
  String.raw`\b(<HOUR>) (?:in the |this )?(<PART>)\b|\b(<PART>) (?:at|um) (<HOUR>)(?![\d:]| ?[ap]m)`,
  { HOUR: String.raw`(?:0?[1-9]|1[0-2])(?::\d\d)?`, PART: 'morning|afternoon|evening' },
);

const HOUR_AFTER_PART = /\b(morning|afternoon|evening) (\d{1,2}(?::\d\d)?)$/i;

/** Reads a whole phrase, for example `tonight at 8`, `in 2 hours`, `until monday 9:00` or `20:00 UTC`. */
export function readTime(typed: string, clock: LocalClock): TimeReading | null {
  if (typed.length > LONGEST) return null;
  const [, local = '', name = ''] = ZONE.exec(typed) ?? [];
  const zone = zoneOf(name.toLowerCase());
  const own = zone === undefined ? clock : { ...clock, zone, isElsewhere: true as const };
  const reading = readLocal(zone === undefined ? typed : local, own);
  if (reading?.kind === 'taken') return { ...reading, text: writtenIn(own, reading.text) };
  if (reading?.kind !== 'asked') return reading;
  const options = reading.options.map(({ key, text, label }) => {
    return { key, text: writtenIn(own, text), label: labelIn(own, label) };
  });
  return { ...reading, options };
}

/** The same, of times without a zone, which are those of the clock. */
function readLocal(typed: string, clock: LocalClock): TimeReading | null {
  const text = plain(typed.replace(/(\d),(\d)/g, '$1.$2'))
    .replace(/(\d{4}-\d\d-\d\d)t(\d)/, '$1 $2')
    .replace(/(\d\d:\d\d):\d\d(\.\d+)?/, '$1')
    .replace(HOUR_OF_PART, (_, hour, part, before = part, at = hour) =>
      before === 'morning' ? `${at}am` : `${at}pm`,
    );
  if (/^(right )?now$|^(immediately|asap|at once|(right|straight) away|sofort|jetzt)$/.test(text))
    return { kind: 'now' };
  const [, until, during, within, near, body = text] = LEADS.exec(text) ?? [];
  const [, low, high, unit] = SPANS.exec(body) ?? [];
  if (low && high && unit) {
    const keys: readonly TimeKey[] = during || until ? ['for'] : within ? ['in'] : ['for', 'in'];
    const both = [low, high].flatMap((count) => typedSpan(`${count} ${unit}`) ?? []);
    const options = keys.flatMap((key) =>
      both.map((text) => ({ key, text, label: `${key} ${text}` })),
    );
    return { kind: 'asked', why: `“${typed}” is not one duration.`, options };
  }
  const span = typedSpan(during ? body.replace(/^next /, '') : body);
  // `until 4h` is `until=4h`, a duration; `at 20h` is a time of day.
  const isHour = /^\d{1,2} ?h$/.test(body) && body !== text && !(until || during || within || near);
  if (span !== null && !isHour) {
    if (during || until) return { kind: 'taken', key: 'for', text: span };
    if (within || near === 'after') return { kind: 'taken', key: 'in', text: span };
    if (near || body !== text) return null;
    const why = `“${typed}” can mean in ${span} or for ${span}.`;
    return { kind: 'asked', why, options: spans(span, body, clock) };
  }
  const isVague = /^(after (work|hours)|later|soon)/.test(text);
  if (during || (within && !partsOf('', body))) return null;
  const key = until ? 'until' : 'at';
  const hasLead = body !== text && !/^(about|around)/.test(text);
  const found = momentsOf(isVague ? text : body, { ...clock, key, hasLead });
  if (!found) return null;
  const [first] = found.options;
  const isOne = found.options.length === 1 && first && !found.why && !near;
  if (isOne) return { kind: 'taken', key, text: first.text };
  return { kind: 'asked', ...found, why: found.why ?? `“${typed}” names no single moment.` };
}

/** A number of hours without a word before it: later, for so long, or the time of day. */
function spans(span: string, body: string, clock: LocalClock): readonly TimeOption[] {
  const [, hour] = /^(1[3-9]|2[0-3]) ?h$/.exec(body) ?? [];
  const at = hour ? momentsOf(`${hour}:00`, { ...clock, key: 'at', hasLead: true }) : null;
  return [
    { key: 'in', text: span, label: `in ${span}` },
    { key: 'for', text: span, label: `for ${span}` },
    ...(at?.options ?? []),
  ];
}

interface MomentContext extends LocalClock {
  readonly key: 'at' | 'until';
  /** The phrase begins with `at`, `on` or `until`, so that a number alone is an hour. */
  readonly hasLead: boolean;
}

interface Moments {
  /** Why it is asked; null: one option is one moment. */
  readonly why: string | null;
  readonly options: readonly TimeOption[];
  /** The typed moment has passed, or does not exist: the options are others. */
  readonly isOther?: true;
}

const ZONE =
  /^(.*(?:\d|noon|midday|midnight).*?)\s?\(?((?:utc|gmt)(?: ?[+-]\d{1,2}(?::?\d{2})?)?|z|[+-]\d{2}:?\d{2}|[a-z]+(?:\/[a-z_]+)+|\b(?!(?:[ap]m|uhr|clock|in|today|tonight|tomorrow|\w+day) )[a-z]+(?:[ _][a-z]+)? time)\)?$/i;

function momentsOf(text: string, context: MomentContext): Moments | null {
  const words = text.split(' ').filter((word) => word !== '');
  for (let cut = 0; cut <= words.length; cut += 1) {
    const [left, right] = [words.slice(0, cut).join(' '), words.slice(cut).join(' ')];
    const found =
      together(left, right.replace(/^(?:at|um) /, ''), context) ??
      together(right.replace(/^on (?:the )?/, ''), left, context);
    if (found) return found;
  }
  return null;
}

const ZONES = Intl.supportedValuesOf('timeZone');
const AREAS = new Set(ZONES.map((zone) => zone.toLowerCase().replace(/\/.*/, '/')));
const PLACES = Map.groupBy(ZONES, (zone) => zone.toLowerCase().replace(/.*\//, ''));

/** An IANA name, `UTC` or an offset; undefined for a word that names no single zone. */
function zoneOf(typed: string): string | undefined {
  if (/^(utc|gmt|z)$/.test(typed)) return 'UTC';
  const [, sign, hours = '', minutes = '00'] =
    /^(?:utc|gmt)? ?([+-])(0?\d|1[0-4])(?::?([0-5]\d))?$/.exec(typed) ?? [];
  if (sign) return `${sign}${hours.padStart(2, '0')}:${minutes}`;
  if (typed.endsWith(' time')) return zoneOfPlace(typed);
  const whole = ZONES.find((zone) => zone.toLowerCase() === typed);
  return whole ?? (typed.includes('/') && isTimeZone(typed) ? typed : undefined);
}

/** `tokyo` → `Asia/Tokyo`; undefined for a place that no zone, or several, are called by. */
function zoneOfPlace(typed: string): string | undefined {
  const [zone, other] = PLACES.get(typed.replace(/ time$/, '').replaceAll(' ', '_')) ?? [];
  return other === undefined ? zone : undefined;
}

const ZONE_LIKE =
  /^(?:(?:utc|gmt) ?[+-]\d{1,2}(?::?\d\d)?|[a-z]{2,10} time|[ecmp]t|cet|cest|mez|mesz|est|edt|cst|cdt|mst|mdt|pst|pdt|bst|ist|jst|aest|aedt)$/;
/** No place: `20:00 peak time`, `until monday 8:00 christmas`. */
const NO_PLACE =
  /^(?:(?:peak|idle|down|up|run|lunch|dinner|night|day|summer|winter|quiet|high|low|busy|prime|real|full|part|this|next|same|first|last|any|some|no|release|maintenance|import|on|in|of|at) time|christmas|easter|wake|midway|center|-.*|\+\d{1,2})$/;

/**
 * Words after a time that can be its zone, in parentheses or not. `isNamed`: it has this name, `UTC` or
 * `Tokyo time`; `isLike`: it is called like one, for example an abbreviation that several zones share, which has
 * none. Any other place, such as `New York`, is as often a part of a reason.
 */
export function placeAt(words: readonly string[], own = '') {
  for (let taken = Math.min(3, words.length); taken > 0; taken -= 1) {
    const phrase = words.slice(0, taken).join(' ');
    const typed = phrase.toLowerCase().replace(/^(?:in )?\(?(.+?)\)?,?$/, '$1');
    if (NO_PLACE.test(phrase.toLowerCase())) continue;
    const named = /^(local|my|our) time$/.test(typed) ? own : zoneOf(typed);
    const zone = named ?? zoneOfPlace(typed) ?? null;
    const isNamed = named !== undefined;
    const isLike = isNamed || AREAS.has(typed.replace(/\/\S*$/, '/')) || ZONE_LIKE.test(typed);
    if (isLike || zone !== null || /^(eastern|central|mountain|pacific)$/.test(typed))
      return { taken, phrase, zone, isNamed, isLike };
  }
  return null;
}

/** Words that end in a time of day, with its day or not. */
const CLOCK_TIME =
  /(?:\d[:.h]\d\d|\d ?[ap]m|\d ?(?:uhr|h|hrs|o'clock)|(?:\b(?:at|until|till|from|to|um|bis)[ =]|-) ?\d{1,2}|noon|midday|midnight)(?: [a-z]+){0,3}$/i;

/** Whether a zone can follow these words. */
export function endsInTime(words: readonly string[]): boolean {
  return CLOCK_TIME.test(words.slice(-5).join(' '));
}

/** A day and a time of day, each of which may be missing. */
function together(dayText: string, clockText: string, local: MomentContext): Moments | null {
  const days = daysOf(dayText, local);
  const [day = ''] = days;
  if (dayText !== '' && day === '') return null;
  const vague = partsOf(dayText, clockText);
  const clock = vague ?? clockOf(clockText, day !== '' || local.hasLead, dayText === 'tonight');
  if (clock === null && (clockText !== '' || day === '')) return null;
  const times = clock ?? [];
  const either = times.length > 1 ? 'Morning or evening?' : null;
  if (day === '') {
    const options = times.flatMap((time) => nextAt(time, vague !== null, local));
    return { options, why: vague ? `“${clockText}” names no single moment.` : either };
  }
  const isAlone = clock === null;
  const all = isAlone ? timesOfDayOf(dayText, local.key) : times;
  const options = days.flatMap((each) => all.flatMap((time) => optionOn(each, time, local)));
  if (isAlone && dayText === 'today') return null;
  if (options.length === 0) return passed(days, all, local);
  const isDate = isAlone && local.key === 'until' && /\d/.test(dayText);
  const vagueWhy = isDate
    ? `Until the start or the end of ${dayLabel(day, localDay(local.now, local.zone))}?`
    : `“${[dayText, clockText].join(' ').trim()}” names no single moment.`;
  const dayWhy = days.length > 1 ? `Which day is ${dayText}?` : either;
  return { options: options.slice(0, 4), why: isAlone || vague ? vagueWhy : dayWhy };
}

/** A time alone is its next occurrence; of a part of the day, the one of another day has its date. */
function nextAt(time: string, isVague: boolean, local: MomentContext): readonly TimeOption[] {
  const today = localDay(local.now, local.zone);
  const day = futureDay(today, time, local);
  const isPlain = local.key === 'at' && (!isVague || day === today);
  return optionOn(day, time, local).map((one) => (isPlain ? { ...one, text: time } : one));
}

/** A moment that has passed, or that the clocks skip, with the next one at this time. */
function passed(
  days: readonly string[],
  times: readonly string[],
  local: MomentContext,
): Moments | null {
  const [day = '', time = ''] = [days[0], times[0]];
  const isSkipped = instantsOf(day, time, local.zone).length === 0;
  const later = timeText((Number(time.slice(0, 2)) + 1) % 24, time.slice(3));
  const first = isSkipped ? day : localDay(local.now, local.zone);
  const [next] = [first, addDays(first, 1)].flatMap((each) =>
    optionOn(each, isSkipped ? later : time, local),
  );
  const why = isSkipped
    ? `The clocks skip ${time} on that day.`
    : 'This moment has passed. The next one:';
  return { why, options: next ? [next] : [], isOther: true };
}

/** Today, or tomorrow if the time has passed today. */
function futureDay(today: string, time: string, { now, zone }: LocalClock): string {
  return instantAt(today, time, zone) > now ? today : addDays(today, 1);
}

/** The option for a day and a time; none in the past, or where the clocks skip it. */
function optionOn(day: string, time: string, local: MomentContext): readonly TimeOption[] {
  if (time === '24:00') return optionOn(addDays(day, 1), '00:00', local);
  const { now, key, zone } = local;
  const [exact] = instantsOf(day, time, zone);
  if (!exact || exact <= now) return [];
  const lead = key === 'until' ? 'until ' : '';
  const label = `${lead}${dayLabel(day, localDay(now, zone))} ${time}`;
  return [{ key, text: `${day}T${time}`, label }];
}

export const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');

/** `today` or `Sat 28 Nov`. */
export function dayLabel(day: string, today: string): string {
  return day === today ? 'today' : formatDay(day);
}

/** Times that a day alone, or a part of it, can mean. */
const PARTS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^(early )?morning$|^first thing( in the morning)?$/, ['08:00']],
  [/^afternoon$/, ['14:00']],
  [/^evening$/, ['18:00']],
  [/^night$|^tonight$/, ['20:00', '22:00']],
  [/^(eod|cob|end of (the )?day|close of business|after (work|hours)|feierabend)$/, ['18:00']],
  [/^later( today)?$|^soon$|^in a (while|bit|few)$/, ['18:00', '20:00']],
];

function partsOf(dayText: string, clockText: string): readonly string[] | null {
  const text = dayText === 'tonight' && clockText === '' ? 'tonight' : clockText;
  const found = PARTS.find(([pattern]) => pattern.test(text.replace(/^(this|in the) /, '')));
  return found?.[1] ?? null;
}

function timesOfDayOf(dayText: string, key: 'at' | 'until'): readonly string[] {
  if (key === 'until' && /\d/.test(dayText)) return ['00:00', '24:00'];
  return key === 'until' ? ['08:00', '18:00'] : ['08:00', '20:00'];
}

/** `8pm`, `20:00`, `20h`, `20 uhr`, `noon`; with `isHour`, after `at` or a day, also a number alone. */
function clockOf(text: string, isHour: boolean, isTonight = false): readonly string[] | null {
  if (/^(noon|midday|mittag)$/.test(text)) return ['12:00'];
  if (text === 'midnight') return ['00:00'];
  const [, hour = '', minute = '00', half = '', sign = ''] =
    /^(\d{1,2})(?:[:.h](\d{2}))? ?(?:([ap])\.?m\.?|(h|uhr|hrs|o'clock))?$/.exec(text) ?? [];
  const isPlain = half === '' && !/[:h]/.test(text) && sign === '';
  if (hour === '' || Number(minute) > 59 || (isPlain && text.includes('.'))) return null;
  if (isPlain && !isHour) return null;
  const number = Number(hour);
  if (half !== '') {
    const at = (number % 12) + (half === 'p' ? 12 : 0);
    return number >= 1 && number <= 12 ? [timeText(at, minute)] : null;
  }
  if (number > 23) return null;
  const isLoose = (isPlain || sign === "o'clock") && number >= 1 && number <= 12;
  if (isTonight && number < 17) {
    const isEvening = number >= 5 && number < 12 && !hour.startsWith('0') && sign !== 'h';
    return isEvening ? [timeText(number + 12, minute)] : null;
  }
  return isLoose
    ? [timeText(number % 12, minute), timeText((number % 12) + 12, minute)]
    : [timeText(number, minute)];
}

function timeText(hour: number, minute: string): string {
  return `${String(hour).padStart(2, '0')}:${minute}`;
}

/** `8pm`, `7:00`, `20 uhr` → the time of day; null for anything that has two readings. */
export function timeOfDay(text: string): string | null {
  const [time = null, ...others] = clockOf(plain(text), false) ?? [];
  return others.length > 0 ? null : time;
}

/** The same after a word of time, where `8` is an hour: `08:00` and `20:00`. */
export function timesOfDay(text: string): readonly string[] {
  return clockOf(plain(text), true) ?? [];
}

const WEEKDAY =
  /^(?:(this|next|nächsten) )?(mon|tue|wed|thu|fri|sat|sun)(?:day|sday|s|nesday|rsday|urday)?$/;

/** The day of these words, or several that they can mean; none if they are no day. */
function daysOf(text: string, { now, zone }: LocalClock): readonly string[] {
  const today = localDay(now, zone);
  if (/^(today|tonight|heute|this)$/.test(text)) return [today];
  if (/^(tomorrow|tmrw|tmr|tomorow|morgen)$/.test(text)) return [addDays(today, 1)];
  if (/^(yesterday|gestern)$/.test(text)) return [addDays(today, -1)];
  if (/^(next week)$/.test(text)) return [addDays(today, 7 - weekdayOf(today))];
  if (/^(this |next |the )?weekend$/.test(text))
    return [addDays(today, (5 - weekdayOf(today) + 7) % 7)];
  const [, which, name = ''] = WEEKDAY.exec(text) ?? [];
  if (name === '') return datesOf(text, today);
  const ahead = (dayOfName(name) - weekdayOf(today) + 7) % 7;
  if (ahead === 0 ? which === undefined : which === 'next')
    return [addDays(today, ahead), addDays(today, ahead + 7)];
  return [addDays(today, ahead || (which === 'this' ? 0 : 7))];
}

const MONTH = MONTHS.map((name) => `${name}[a-z]*`).join('|');
const NAMED_DATE = patternOf(
  String.raw`^(?:(\d{1,2})(?:st|nd|rd|th|\.)? (?:of )?(<MONTH>)|(<MONTH>) (\d{1,2})(?:st|nd|rd|th)?)$`,
  { MONTH },
);

function datesOf(text: string, today: string): readonly string[] {
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return isDay(text) ? [text] : [];
  const [, first = '', month = '', other = '', second = ''] = NAMED_DATE.exec(text) ?? [];
  const named = MONTHS.indexOf((month || other).slice(0, 3)) + 1;
  if (named > 0) return dateIn(today, Number(first || second), named);
  const [, one = '', sign, two = ''] = /^(\d{1,2})([./])(\d{1,2})\.?$/.exec(text) ?? [];
  if (sign === undefined) return [];
  const [a, b] = [Number(one), Number(two)];
  const dayFirst = dateIn(today, a, b);
  return sign === '.' || a === b ? dayFirst : [...dayFirst, ...dateIn(today, b, a)];
}

/** This year, or the next one if the day has passed; none for a day that does not exist. */
function dateIn(today: string, day: number, month: number): readonly string[] {
  const text = (year: number) =>
    `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
  const year = Number(today.slice(0, 4));
  const date = text(year) < today ? text(year + 1) : text(year);
  return isDay(date) ? [date] : [];
}

const REPEATS = String.raw`^(?:(every|each) (other )?(day|night|morning|evening|week|weekday|weekend|month|(mon|tues|wednes|thurs|fri|satur|sun)day)s?\b.*|(nightly(?= at \d| \d+(?:[:.h]|[ap]m))|daily|hourly|weekly|monthly|weekdays|(on )?\w{3,6}days|(on )?<DAY>-<DAY>)(?: at)?(?: \d.*)?$)`;

const DAY = '(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*';
const REPETITION = patternOf(REPEATS, { DAY });

/** Words that begin with a repetition: `every night`, `weekdays`. */
export function isRepeated(text: string): boolean {
  return REPETITION.test(text);
}

/** What people add to be polite: `if you can`, `when possible`. */
export const POLITE =
  "(?:possible|ok(?:ay)?|(?:that|this|it)(?:'s| is) (?:ok(?:ay)?|fine|possible)|you (?:can|could|like|want|(?:don't|do not) mind|have (?:a )?(?:time|minute|moment|second)))";

/** Words that begin with a condition, which Signalbox does not check: `only if idle`, `once the import is done`. */
export const CONDITION = patternOf(
  String.raw`^(?:but )?(?:(?:only )?(?:if|unless|provided|assuming|falls)|only when|once(?! more| again)|as (?:soon|long) as|sobald)(?:(?<=\bonly \w+|unless|once)|(?! (?:needed|necessary|<POLITE>(?![^,;.!]))))(?![-/\w]).*|\bonly if\b.*`,
  { POLITE },
);

// A list of words, not a grammar: whatever contains one of them could be a time, so that it is asked about.
const TIME_WORDS = patternOf(
  [
    // What begins with such a word is an end or a repetition, also where no moment can be read of it.
    String.raw`^(until|till?|til|bis)\b.*`,
    REPEATS,
    '^overnight$',
    String.raw`^(during|over) (the )?(day|night|lunch|dinner|weekend|holidays?|christmas|easter|new year)\b`,
    String.raw`^(in|for) (about |around )?(-?\d+\S*|<NUMBER>|a (while|bit|moment))$`,
    // It would run at once.
    CONDITION.source,
    String.raw`^(when|after|before|wenn|nach|vor|jeden?|täglich)(?! <POLITE>(?![^,;.!]))(?![-/\w]).*`,
    '^(but )?not (now|yet)$',
    '^at (half|quarter) .*',
    String.raw`\b\d{1,2}:\d\d\b|\bat ([01]?\d|2[0-3])[.h]?[0-5]\d$`,
    String.raw`\b\d{1,2} ?(am|pm|uhr|o'clock)\b`,
    String.raw`(^|\b(on|at|from|by|before|after) )\d{4}-\d\d-\d\d(?!-)|^(on )?\d{1,2}\.\d{1,2}\.(?!\d)|\bon the \d{1,2}(st|nd|rd|th)( of|$)`,
    String.raw`(^|\b(on|by|from|before|after) )(the )?(\d{1,2}(st|nd|rd|th|\.)? ?(of )?<MONTH>|<MONTH> \d{1,2}(st|nd|rd|th)?)\b`,
    String.raw`\b(today|tonight|tomorrow|tmrw|tmr|noon|midday|midnight|eod|eow|eom|cob|heute|morgen|jetzt)\b`,
    String.raw`\b(end of (the )?(day|week|month|quarter|year)|close of business|after (work|hours)|first thing)\b`,
    String.raw`\b(this|tomorrow|in the|monday|tuesday|wednesday|thursday|friday|saturday|sunday) (morning|afternoon|evening|night)\b`,
    String.raw`\b(mon|tues|wednes|thurs|fri|satur|sun)day (at )?\d`,
    String.raw`\b(until|till|til|bis|by|next|before|after|on|this) (next |this )?(mon|tues|wednes|thurs|fri|satur|sun)day\b`,
    String.raw`\b(until|till|til|bis) (\d\S*|the end|next|this)`,
    String.raw`\b(next|this) (week|month|weekend)\b(?!')|\b(over|during|before|after|by|until) (the )?weekend\b`,
    String.raw`\b(in|for|until|within|after) (about |around |at least |the next )?(an?|half|\d+|<NUMBER>|a couple of|(a )?few|some) ?(<UNIT>|seconds|nights?|fortnights?|months?|years?)\b`,
  ].join('|'),
  {
    ...{ POLITE, DAY },
    NUMBER: NUMBERS.slice(1).join('|'),
    UNIT: UNITS,
    MONTH:
      '(jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sept?(ember)?|oct(ober)?|nov(ember)?|dec(ember)?)',
  },
);

/** The words of a text that could be a time; null if there are none. */
export function timeWords(text: string): string | null {
  return TIME_WORDS.exec(text)?.[0] ?? null;
}
