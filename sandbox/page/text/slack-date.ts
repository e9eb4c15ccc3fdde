const DAY_MS = 86_400_000;

type Style = (at: Date, now: Date) => string;

const date = (at: Date, options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat('en-US', options).format(at);

// The words are English as in the rest of the page; 12 or 24 hours depends on the browser.
const hour12 = new Intl.DateTimeFormat(undefined, { hour: 'numeric' }).resolvedOptions().hour12;
const clock = (at: Date, options: Intl.DateTimeFormatOptions) =>
  date(at, { hour12: hour12 === true, ...options });

const startOfDay = (at: Date) => new Date(at.getFullYear(), at.getMonth(), at.getDate());

function nearDay(at: Date, now: Date): string | null {
  const days = Math.round((startOfDay(at).getTime() - startOfDay(now).getTime()) / DAY_MS);
  return { 0: 'Today', 1: 'Tomorrow', [-1]: 'Yesterday' }[days] ?? null;
}

const long: Intl.DateTimeFormatOptions = {
  weekday: 'long',
  month: 'long',
  day: 'numeric',
  year: 'numeric',
};
const short: Intl.DateTimeFormatOptions = { month: 'short', day: 'numeric', year: 'numeric' };

export const timeOf: Style = (at) => clock(at, { hour: 'numeric', minute: '2-digit' });

/** The tokens that Signalbox uses. */
const STYLES: Readonly<Record<string, Style>> = {
  date_short: (at) => date(at, short),
  date_short_pretty: (at, now) => nearDay(at, now)?.toLowerCase() ?? date(at, short),
  date_long: (at) => date(at, long),
  time: timeOf,
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
