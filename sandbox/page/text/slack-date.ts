const DAY_MS = 86_400_000;

type Style = (at: Date, now: Date) => string;

const date = (at: Date, options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat('en-US', options).format(at);

// The words are English as in the rest of the page; 12 or 24 hours depends on the browser.
const hour12 = new Intl.DateTimeFormat(undefined, { hour: 'numeric' }).resolvedOptions().hour12;
const clock = (at: Date, options: Intl.DateTimeFormatOptions) =>
  date(at, { hour12: hour12 === true, ...options });

const startOfDay = (at: Date) => new Date(at.getFullYear(), at.getMonth(), at.getDate());

export function nearDay(at: Date, now: Date): string | null {
  const days = Math.round((startOfDay(at).getTime() - startOfDay(now).getTime()) / DAY_MS);
  return { 0: 'Today', 1: 'Tomorrow', [-1]: 'Yesterday' }[days] ?? null;
}

const orNear =
  (style: Style): Style =>
  (at, now) =>
    nearDay(at, now)?.toLowerCase() ?? style(at, now);

const short: Style = (at) => date(at, { month: 'short', day: 'numeric', year: 'numeric' });
const plain: Style = (at) => date(at, { month: 'long', day: 'numeric', year: 'numeric' });
const long: Style = (at) =>
  date(at, { weekday: 'long', month: 'long', day: 'numeric', year: 'numeric' });

function ago(at: Date, now: Date): string {
  const seconds = Math.round((at.getTime() - now.getTime()) / 1000);
  const words = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
  if (Math.abs(seconds) < 60) return words.format(seconds, 'second');
  if (Math.abs(seconds) < 3600) return words.format(Math.round(seconds / 60), 'minute');
  if (Math.abs(seconds) < 86_400) return words.format(Math.round(seconds / 3600), 'hour');
  return words.format(Math.round(seconds / 86_400), 'day');
}

export const timeOf: Style = (at) => clock(at, { hour: 'numeric', minute: '2-digit' });

const STYLES: Readonly<Record<string, Style>> = {
  date_num: (at) =>
    [at.getFullYear(), at.getMonth() + 1, at.getDate()]
      .map((part) => String(part).padStart(2, '0'))
      .join('-'),
  date_slash: (at) => date(at, { month: '2-digit', day: '2-digit', year: 'numeric' }),
  date: plain,
  date_pretty: orNear(plain),
  date_short: short,
  date_short_pretty: orNear(short),
  date_long: long,
  date_long_pretty: orNear(long),
  date_long_full: long,
  day_divider_pretty: (at, now) => dayName(at, now),
  time: timeOf,
  time_secs: (at) => clock(at, { hour: 'numeric', minute: '2-digit', second: '2-digit' }),
  ago,
};

/** `{date_short_pretty} at {time}` in the browser's time zone; an unknown token is not replaced. */
export function slackDate(at: Date, format: string, now: Date): string {
  return format.replace(/\{(\w+)\}/g, (token, name) => STYLES[name]?.(at, now) ?? token);
}

/** The name of a day on a divider between messages. */
export function dayName(at: Date, now: Date): string {
  const near = nearDay(at, now);
  if (near !== null) return near;
  const year = at.getFullYear() === now.getFullYear() ? {} : ({ year: 'numeric' } as const);
  return date(at, { weekday: 'long', month: 'long', day: 'numeric', ...year });
}
