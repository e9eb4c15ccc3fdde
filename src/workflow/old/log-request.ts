import { DAY_MS } from '../../base/time.ts';
import type { LogRequest, PastTime } from '../../commands/index.ts';
import type { Answer, CommandOffer } from '../../domain/answer.ts';

export function instantOf(past: PastTime, now: Date): Date {
  if ('day' in past) return new Date(`${past.day}T00:00:00Z`);
  if ('daysAgo' in past) return midnightOf(new Date(now.getTime() - past.daysAgo * DAY_MS));
  return new Date(now.getTime() - past.agoMs);
}

function midnightOf(instant: Date): Date {
  return new Date(Math.floor(instant.getTime() / DAY_MS) * DAY_MS);
}

/** Returns the command line of the same request, from another event on. */
export function logLine(request: LogRequest, before: number | null): string {
  const { by, command, target, state } = request;
  const [since, until] = [pastText(request.since), pastText(request.until)];
  const given = { by, command, target, state, since, until, before };
  return ['change log', ...filterWords(given)].join(' ');
}

/** The time as users type it: `2026-11-01`, `yesterday`, `7d`. */
export function pastText(past: PastTime | null): string | null {
  if (past === null) return null;
  if ('day' in past) return past.day;
  if ('daysAgo' in past) return past.daysAgo === 0 ? 'today' : 'yesterday';
  const minutes = Math.round(past.agoMs / 60_000);
  if (minutes % 1_440 === 0) return `${minutes / 1_440}d`;
  return minutes % 60 === 0 ? `${minutes / 60}h` : `${minutes}m`;
}

/** The filters as users type them: `by=me state=failed`. A filter that is null is left out. */
export function filterWords(given: Readonly<Record<string, string | number | null>>): string[] {
  return Object.entries(given).flatMap(([key, value]) =>
    value === null ? [] : [/\s/.test(String(value)) ? `${key}="${value}"` : `${key}=${value}`],
  );
}

/** Returns an answer for an empty time range, where "0 events" would be misleading; else null. */
export function emptyTimeRange(request: LogRequest, now: Date): Answer | null {
  const { since, until } = request;
  if (!since || !until) return null;
  const emptyMs = instantOf(since, now).getTime() - instantOf(until, now).getTime();
  if (emptyMs < 0) return null;
  const text = `The time range since=${pastText(since)} until=${pastText(until)} is empty: ${
    emptyMs === 0 ? 'both are the same time' : 'until is before since'
  }.`;
  const again = (label: string, from: PastTime, to: PastTime) => {
    return { label, line: logLine({ ...request, since: from, until: to }, null) };
  };
  const day = emptyMs === 0 ? dayAfter(since) : null;
  const offers: readonly CommandOffer[] =
    emptyMs > 0
      ? [again('Swap both', until, since)]
      : day
        ? [again('The whole day', since, day)]
        : [];
  return {
    title: 'Empty time range',
    parts: [
      { kind: 'text', text },
      { kind: 'offers', offers },
    ],
  };
}

/** The end of a day that has one in the past; null for today and for a time ago. */
function dayAfter(since: PastTime): PastTime | null {
  if ('daysAgo' in since) return since.daysAgo === 1 ? { daysAgo: 0 } : null;
  if (!('day' in since)) return null;
  const midnight = new Date(instantOf(since, new Date(0)).getTime() + DAY_MS);
  return { day: midnight.toISOString().slice(0, 10) };
}
