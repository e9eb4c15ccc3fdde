import type { Answer, CommandOffer } from '../../intent/answers/answer.ts';
import type { LogRequest, PastTime } from '../../intent/ports/changes-queries.ts';

const DAY_MS = 86_400_000;

export function instantOf(past: PastTime, now: Date): Date {
  if ('day' in past) return new Date(`${past.day}T00:00:00Z`);
  return new Date(now.getTime() - past.agoMs);
}

/** Returns the command line of the same request, from another event on. */
export function logLine(request: LogRequest, before: number | null): string {
  const { by, command, target, state } = request;
  const [since, until] = [pastText(request.since), pastText(request.until)];
  const given = { by, command, target, state, since, until, before };
  const words = Object.entries(given).flatMap(([key, value]) =>
    value === null ? [] : [/\s/.test(String(value)) ? `${key}="${value}"` : `${key}=${value}`],
  );
  return ['change log', ...words].join(' ');
}

function pastText(past: PastTime | null): string | null {
  if (past === null) return null;
  return 'day' in past ? past.day : `${Math.round(past.agoMs / 60_000)}m`;
}

/** Returns an answer for an empty time range, where "0 events" would be misleading; else null. */
export function emptyTimeRange(request: LogRequest, now: Date): Answer | null {
  const { since, until } = request;
  if (!since || !until || instantOf(since, now) < instantOf(until, now)) return null;
  const [from, to] = [pastText(since), pastText(until)];
  const text = `The time range since=${from} until=${to} is empty: ${
    from === to ? 'both are the same time' : 'until is before since'
  }.`;
  const offers = offersFor(request, since, until);
  return {
    title: 'Empty time range',
    parts: [
      { kind: 'text', text },
      { kind: 'offers', offers },
    ],
  };
}

function offersFor(request: LogRequest, since: PastTime, until: PastTime): readonly CommandOffer[] {
  const again = (label: string, from: PastTime, to: PastTime) => {
    return { label, line: logLine({ ...request, since: from, until: to }, null) };
  };
  if (pastText(since) !== pastText(until)) return [again('Swap both', until, since)];
  if (!('day' in since)) return [];
  const midnight = new Date(instantOf(since, new Date(0)).getTime() + DAY_MS);
  return [again('The whole day', since, { day: midnight.toISOString().slice(0, 10) })];
}
