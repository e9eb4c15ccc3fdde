import { pino } from 'pino';
import { DAY_MS, type Day, dayOf, daysBetween, HOUR_MS } from '../src/base/time.ts';
import { digestReader } from '../src/costs/config.ts';
import { readLastPosted } from '../src/costs/digest-data.ts';
import { createDigestRun } from '../src/costs/digest-posts.ts';
import type { Answer } from '../src/domain/answer.ts';
import type { ChannelId } from '../src/domain/change.ts';
import { costSelectorSchema } from '../src/domain/policy-schema.ts';
import type { CostRow } from '../src/maths/rows.ts';
import type { Bar } from './costs-figures.ts';
import { openBenchLog } from './costs-store.ts';
import { chanceFrom } from './costs-worlds.ts';

// 400 days of a daily digest: each is about a later day than the one before, also where the clocks
// change, the report fails or Signalbox does not run.

const EVERYTHING = costSelectorSchema({ services: new Map(), tags: [], warehouses: [], teams: [] });

const DAYS = 400;
const FIRST = Date.parse('2025-09-20T00:00:00Z');
const STEP_MS = HOUR_MS / 4;

const SLOTS = [
  { at: '01:30', timezone: 'Europe/Berlin' },
  { at: '09:00', timezone: 'Europe/Berlin' },
  { at: '19:30', timezone: 'America/New_York' },
  { at: '09:00', timezone: 'Asia/Tokyo' },
  { at: '23:45', timezone: 'Australia/Lord_Howe' },
] as const;

export async function digestTest(seed: number): Promise<readonly Bar[]> {
  const bars: Bar[] = [];
  for (const [index, slot] of SLOTS.entries()) {
    const days = await reportedDays(slot, seed + index);
    const wrong = days.filter((day, at) => at > 0 && day <= (days[at - 1] ?? '')).length;
    const label = `digests at ${slot.at} ${slot.timezone}, days not ascending`;
    bars.push({
      label,
      seen: `${wrong} of ${days.length}`,
      bar: '0',
      met: wrong === 0 && days.length > DAYS / 2,
    });
  }
  return bars;
}

async function reportedDays(slot: (typeof SLOTS)[number], seed: number): Promise<readonly Day[]> {
  const chance = chanceFrom(seed);
  const reading = digestReader(EVERYTHING)({ channel: '#costs', days: 'daily', ...slot });
  if (!reading.ok) throw new Error('the options of the digest are not valid');
  const clock = { now: new Date(FIRST) };
  const events = await openBenchLog(() => clock.now);
  const { store } = events;
  const posted: Answer[] = [];
  const room = { id: 'C0COSTS' as ChannelId, name: 'costs', outside: false, joined: true };
  const messenger = {
    findPost: async () => null,
    findChannels: async () => new Map([['#costs', { ok: true, room } as const]]),
    postToChannel: async (_: ChannelId, answer: Answer, thread?: string) => {
      if (thread === undefined) posted.push(answer);
      return { ok: true, at: { channel: room.id, ts: String(posted.length) } } as const;
    },
  };
  const failing = new Set<Day>();
  const run = createDigestRun({
    store,
    events,
    messenger,
    configured: [reading.value],
    readOptions: digestReader(EVERYTHING),
    costs: async (span) => {
      const isFailing = failing.has(dayOf(clock.now));
      const gap = { month: span.last.slice(0, 7), why: 'no answer', denied: false, from: null };
      const rows = isFailing ? [] : daysBetween(span.first, span.last).map(rowOn(clock.now));
      return { rows, fetchedAt: clock.now, problems: [], gaps: isFailing ? [gap] : [] };
    },
    services: () => [],
    budgets: [],
    floor: {},
    log: pino({ level: 'silent' }),
    now: () => clock.now,
    pause: async () => undefined,
  });
  const days: Day[] = [];
  let offUntil = 0;
  try {
    for (let at = FIRST; at < FIRST + DAYS * DAY_MS; at += STEP_MS) {
      clock.now = new Date(at);
      if (chance() < 0.0005) offUntil = at + chance() * 3 * DAY_MS;
      if (chance() < 0.0005) failing.add(dayOf(clock.now));
      if (at < offUntil) continue;
      const before = posted.length;
      await run();
      if (posted.length === before) continue;
      days.push((await readLastPosted(store, '#costs'))?.day ?? '');
    }
  } finally {
    await store.close();
  }
  return days;
}

function rowOn(now: Date) {
  return (day: Day): CostRow => ({
    day,
    entityId: 's-1',
    entityName: 'analytics',
    kind: 'service',
    serviceId: 's-1',
    warehouseId: 'w-1',
    metrics: { computeCredits: 100_000_000 },
    total: 100_000_000,
    locked: now.getTime() - Date.parse(day) > 3 * DAY_MS,
  });
}
