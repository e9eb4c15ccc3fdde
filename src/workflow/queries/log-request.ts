import type { Answer, CommandOffer } from '../../intent/answers/answer.ts';
import type { LogRequest, PastTime } from '../../intent/ports/changes-queries.ts';

const DAY_MS = 86_400_000;

export function instantOf(past: PastTime, now: Date): Date {
  if ('day' in past) return new Date(`${past.day}T00:00:00Z`);
  return new Date(now.getTime() - past.agoMs);
}

/** The line that asks for the same, from another event on. */
export function logLine(wish: LogRequest, before: number | null): string {
  const { by, command, target, state } = wish;
  const [since, until] = [pastText(wish.since), pastText(wish.until)];
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

/** Asked for a span that holds no moment: "0 events" would say that nobody did anything. */
export function emptySpan(wish: LogRequest, now: Date): Answer | null {
  const { since, until } = wish;
  if (!since || !until || instantOf(since, now) < instantOf(until, now)) return null;
  const [from, to] = [pastText(since), pastText(until)];
  const text = `There is no time between since=${from} and until=${to}: ${
    from === to ? 'both are the same moment' : 'until= is the earlier one'
  }.`;
  const offers = offersFor(wish, since, until);
  return {
    title: 'Between when and when?',
    parts: [
      { kind: 'text', text },
      { kind: 'offers', offers },
    ],
  };
}

function offersFor(wish: LogRequest, since: PastTime, until: PastTime): readonly CommandOffer[] {
  const again = (label: string, from: PastTime, to: PastTime) => {
    return { label, line: logLine({ ...wish, since: from, until: to }, null) };
  };
  if (pastText(since) !== pastText(until)) return [again('The other way round', until, since)];
  if (!('day' in since)) return [];
  const midnight = new Date(instantOf(since, new Date(0)).getTime() + DAY_MS);
  return [again('That whole day', since, { day: midnight.toISOString().slice(0, 10) })];
}
