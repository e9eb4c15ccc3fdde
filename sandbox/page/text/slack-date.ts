const DAY_MS = 86_400_000;

/** The time and the time zone in which a person reads a date. */
export interface Reading {
  readonly now: Date;
  /** For example `Europe/Berlin`. */
  readonly timeZone: string;
}

type Style = (at: Date, reading: Reading) => string;

const formats = new Map<string, Intl.DateTimeFormat>();

/** The same format for the same options: creating one takes much longer than using it, and a list needs hundreds. */
export function formatOf(locale: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${locale} ${JSON.stringify(options)}`;
  const format = formats.get(key) ?? new Intl.DateTimeFormat(locale, options);
  formats.set(key, format);
  return format;
}

const date = (at: Date, { timeZone }: Reading, options: Intl.DateTimeFormatOptions) =>
  formatOf('en-US', { timeZone, ...options }).format(at);

// The words are English as in the rest of the page; 12 or 24 hours depends on the browser.
const hour12 = new Intl.DateTimeFormat(undefined, { hour: 'numeric' }).resolvedOptions().hour12;

/** The number of the day in the time zone, counted from 1970. */
function dayNumber(at: Date, { timeZone }: Reading): number {
  const day = formatOf('en-CA', { timeZone }).format(at);
  return Math.round(Date.parse(`${day}T00:00:00Z`) / DAY_MS);
}

function nearDay(at: Date, reading: Reading): string | null {
  const days = dayNumber(at, reading) - dayNumber(reading.now, reading);
  return { 0: 'Today', 1: 'Tomorrow', [-1]: 'Yesterday' }[days] ?? null;
}

const long: Intl.DateTimeFormatOptions = {
  weekday: 'long',
  month: 'long',
  day: 'numeric',
  year: 'numeric',
};
const short: Intl.DateTimeFormatOptions = { month: 'short', day: 'numeric', year: 'numeric' };

export const timeOf: Style = (at, reading) =>
  date(at, reading, { hour12: hour12 === true, hour: 'numeric', minute: '2-digit' });

/** The tokens that Signalbox uses. */
const STYLES: Readonly<Record<string, Style>> = {
  date_num: (at, { timeZone }) => formatOf('en-CA', { timeZone }).format(at),
  date_short: (at, reading) => date(at, reading, short),
  date_short_pretty: (at, reading) =>
    nearDay(at, reading)?.toLowerCase() ?? date(at, reading, short),
  date_long: (at, reading) => date(at, reading, long),
  time: timeOf,
};

/** `{date_short_pretty} at {time}` in the reader's time zone; an unknown token is not replaced. */
export function slackDate(at: Date, format: string, reading: Reading): string {
  return format.replace(/\{(\w+)\}/g, (token, name) => STYLES[name]?.(at, reading) ?? token);
}

/** The date and time with the zone, for a tooltip. */
export function fullDate(at: Date, { timeZone }: Reading): string {
  return formatOf('en-US', { timeZone, dateStyle: 'full', timeStyle: 'long' }).format(at);
}

/** The weekday and the date, for the clock of the sandbox: `Mon, Nov 23`. */
export function clockDay(reading: Reading): string {
  return date(reading.now, reading, { weekday: 'short', month: 'short', day: 'numeric' });
}

/** The name of a day on a divider between messages. */
export function dayName(at: Date, reading: Reading): string {
  const near = nearDay(at, reading);
  if (near !== null) return near;
  const yearOf = (day: Date) => date(day, reading, { year: 'numeric' });
  const year = yearOf(at) === yearOf(reading.now) ? {} : ({ year: 'numeric' } as const);
  return date(at, reading, { weekday: 'long', month: 'long', day: 'numeric', ...year });
}
