import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { within } from '../../src/base/calendar.ts';
import { addDays, type Day, dayOf } from '../../src/base/time.ts';
import { answerCosts } from '../../src/costs/answer.ts';
import { digestReader } from '../../src/costs/config.ts';
import { composeDigest } from '../../src/costs/digest.ts';
import { rowsNeeded } from '../../src/costs/digest-data.ts';
import { shouldWaitForDays } from '../../src/costs/digest-schedule.ts';
import { recentAnomalies } from '../../src/costs/incidents.ts';
import { createAnomalyWatch } from '../../src/costs/watch.ts';
import type { UserId } from '../../src/domain/change.ts';
import { dayStates } from '../../src/maths/days.ts';
import { forecastMonth } from '../../src/maths/forecast.ts';
import { seriesFrom } from '../../src/maths/lines.ts';
import { freshLog } from '../log/logs.ts';
import { digest, factsFor } from './facts.ts';
import { BILL_FROM, type LateBill, readBill } from './late-bill.ts';
import { written } from './written.ts';

const ASKER = { by: 'U0ANA00001' as UserId };
const LOCK_AGES = [1, 2, 5, 9, 12, 14];
const TODAY = '2026-11-20';
const at = (day: Day, time = '09:30') => new Date(`${day}T${time}:00Z`);
const LONG_AGO = '2026-09-20';

describe.for(LOCK_AGES)('with days that lock after %i days', (lockAge) => {
  test.for([
    ['after two months', LONG_AGO],
    ['on the first day of the installation', TODAY],
  ] as const)('a digest compares its day and has a forecast, %s', ([, installed]) => {
    const read = readBill({ lockAge, installed }, at(TODAY), rowsNeeded(TODAY));
    const states = dayStates(read.rows, rowsNeeded(TODAY));
    const { message, thread } = composeDigest(factsFor({ read, states }));
    const text = `${written(message)}\n${thread && written(thread)}`;
    expect(text).not.toContain('too early to compare');
    expect(text).toMatch(/^[+−]?\d+% vs \w+ \d+ Nov \(/m);
    expect(text).toMatch(/^Forecast: November 2026 about 3,\d+ /m);
    // A day that moves for three days is settled at five, and four days old at the first fetch.
    const hasOpenHeadline = lockAge > (installed === TODAY ? 4 : 5);
    expect(/ on \w+ \d+ Nov, not final$/m.test(text)).toBe(hasOpenHeadline);
    expect(message.title.includes('not final')).toBe(hasOpenHeadline);
    if (installed === TODAY) expect(text).not.toContain('usually become final');
    else expect(text).toContain(`days usually become final after ${lockAge} day`);
  });

  test('the forecast is that of the same bill with locked days', () => {
    const forecast = (age: number) => {
      const { rows, lockAge: known } = readBill(
        { lockAge: age, installed: LONG_AGO },
        at(TODAY),
        rowsNeeded(TODAY),
      );
      const result = forecastMonth(seriesFrom(dayStates(rows, rowsNeeded(TODAY))), TODAY, known);
      return result.ok ? result.total : Number.NaN;
    };
    expect(Math.abs(forecast(lockAge) / forecast(1) - 1)).toBeLessThan(0.01);
  });

  test('seven days are compared with the seven before', async () => {
    const bill = { lockAge, installed: LONG_AGO };
    const context = {
      costs: async (span: Parameters<typeof readBill>[2]) => readBill(bill, at(TODAY), span),
      refreshCosts: () => Promise.reject(new Error('not requested')),
      services: [],
      now: () => at(TODAY),
    };
    const text = written(await answerCosts('7d vs prev', context, ASKER));
    expect(text).toMatch(/% vs 6–12 Nov/);
    expect(text.includes('not final, but unchanged for 2 days')).toBe(lockAge > 5);
  });

  test('five days without costs are noticed, and their end as well', async () => {
    const outage = (day: Day) => day >= '2026-10-12' && day <= '2026-10-16';
    const bill = { lockAge, installed: LONG_AGO, factor: (day: Day) => (outage(day) ? 0 : 1) };
    const seen = await watched(bill, '2026-10-01', '2026-10-31');
    expect(firstDay(seen, ({ state }) => state !== 'resolved')).toBeLessThanOrEqual(18);
    expect(firstDay(seen, ({ state }) => state === 'resolved')).toBeLessThanOrEqual(24);
    expect(seen.flatMap(({ found }) => found).every(({ direction }) => direction === 'down')).toBe(
      true,
    );
  });

  test('a spike is noticed on the next day and over eight days later', async () => {
    const factor = (day: Day) => (day === '2026-10-13' ? 4 : 1);
    const seen = await watched(
      { lockAge, installed: LONG_AGO, factor },
      '2026-10-01',
      '2026-10-31',
    );
    expect(firstDay(seen, ({ state }) => state === 'open')).toBe(14);
    expect(firstDay(seen, ({ state }) => state === 'resolved')).toBeLessThanOrEqual(21);
  });

  test('a monthly digest is posted when the month is final', () => {
    const covers = { first: '2026-10-01', last: '2026-10-31' };
    const slot = (day: Day) => ({ localDay: day, at: at(day), covers });
    const posted = Array.from({ length: 28 }, (_, index) => addDays('2026-11-01', index)).find(
      (day) => {
        const read = readBill({ lockAge, installed: LONG_AGO }, at(day), rowsNeeded(day));
        const states = dayStates(read.rows, rowsNeeded(day));
        const known = { now: at(day), states, lockAge: read.lockAge, settledBefore: null };
        return !shouldWaitForDays(digest({ period: 'month', at: '09:30' }), slot(day), known);
      },
    );
    expect(posted).toBe(addDays('2026-10-31', lockAge));
    const { rows } = readBill({ lockAge, installed: LONG_AGO }, at(posted ?? ''), covers);
    const states = within(dayStates(rows, covers), covers);
    expect(states.filter(({ state }) => state !== 'final')).toEqual([]);
  });
});

const BILL = { lockAge: 12, installed: LONG_AGO };

test('a digest has one name for days that are not final, also for settled ones', () => {
  const read = readBill(BILL, at(TODAY), rowsNeeded(TODAY));
  const states = dayStates(read.rows, rowsNeeded(TODAY));
  const { message, thread } = composeDigest(factsFor({ read, states }));
  expect(thread && written(thread)).toContain('64.0 credits on Sun 15 Nov, not final');
  const text = `${written(message)}\n${thread && written(thread)}`;
  expect(message.title).toMatch(/^Sun 15 Nov: 64 credits, not final \(usual \d+–\d+\)/);
  expect(text).toMatch(/^As of .* · Not final: 9–19 Nov: [\d,.]+ credits · days in UTC/m);
  expect(text).toMatch(
    /1–15 Nov \(7 not final, but unchanged for 2 days\): [\d,.]+, −4% vs 1–15 Oct/,
  );
  expect(text).toMatch(/^Not final: 9–19 Nov: [\d,.]+ credits$/m);
  expect(text).not.toMatch(/settled|locked/);
});

test('an answer counts the days that are not final, and why some are compared', async () => {
  const costs = async (span: Parameters<typeof readBill>[2]) => readBill(BILL, at(TODAY), span);
  const refreshCosts = () => Promise.reject(new Error('not requested'));
  const context = { costs, refreshCosts, services: [], now: () => at(TODAY) };
  const answer = async (words: string) => written(await answerCosts(words, context, ASKER));
  const month = await answer('mtd vs prev');
  expect(month).toContain(', on 15 days (7 not final, but unchanged for 2 days): ');
  expect(month).toContain('11 of 19 days are not final');
  expect(month).not.toMatch(/settled|locked/);
  expect(await answer('2026-11-15')).toContain('This day is not final yet.');
  expect(await answer('yesterday vs last-week')).toContain('Heading for +');
});

interface ScannedDay {
  readonly day: number;
  readonly found: readonly { readonly state: string; readonly direction: string }[];
}

/** The incidents after the scan at 07:00 UTC of each of these days of October. */
async function watched(bill: LateBill, first: Day, last: Day): Promise<readonly ScannedDay[]> {
  const events = await freshLog('sqlite');
  const { store } = events;
  const clock = { now: at(addDays(first, -1), '12:00') };
  const watch = createAnomalyWatch({
    store,
    events,
    costs: async (span) => readBill(bill, clock.now, span),
    budgets: [],
    configured: [],
    readOptions: digestReader([]),
    services: () => [],
    prices: null,
    log: pino({ level: 'silent' }),
    now: () => clock.now,
  });
  const seen: ScannedDay[] = [];
  for (let day = first; day <= last; day = addDays(day, 1)) {
    clock.now = at(day, '07:00');
    expect(await watch()).toBe(1);
    const anomalies = await recentAnomalies({ store, events }, clock.now);
    const own = anomalies.filter(({ incident }) => incident.since >= first);
    const found = own.map(({ incident: { state, direction } }) => ({ state, direction }));
    seen.push({ day: Number(dayOf(clock.now).slice(8)), found });
  }
  return seen;
}

/** The first day of October after whose scan an incident is like that; NaN without any. */
function firstDay(
  seen: readonly ScannedDay[],
  isLike: (incident: ScannedDay['found'][number]) => boolean,
): number {
  return seen.find(({ found }) => found.some(isLike))?.day ?? Number.NaN;
}

test('the bill begins early enough for two months of history', () => {
  expect(BILL_FROM < addDays(LONG_AGO, -70)).toBe(true);
});
