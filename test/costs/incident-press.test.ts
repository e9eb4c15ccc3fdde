import { expect, test } from 'vitest';
import { announced } from '../../src/costs/announcements.ts';
import { createIncidentService } from '../../src/costs/incident-answers.ts';
import { incidentId, recentAnomalies, storeAnomaly } from '../../src/costs/incidents.ts';
import { judgeLine } from '../../src/costs/judge-lines.ts';
import { writeState } from '../../src/costs/store.ts';
import { announcementName } from '../../src/costs/watch.ts';
import type { IncidentClick } from '../../src/domain/incidents.ts';
import { append } from '../../src/log/index.ts';
import { transaction } from '../../src/storage/index.ts';
import { freshLog, rowsIn, user } from '../log/logs.ts';
import { ENGINES, type Engine } from '../storage/engines.ts';
import { at, line, steady } from './watched-line.ts';

const NOW = new Date(`${at(52)}T12:00:00Z`);

/** An open anomaly that was announced, and the service of its buttons. */
async function opened(engine: Engine = 'sqlite') {
  const events = await freshLog(engine);
  const { store } = events;
  const watching = { first: at(50), last: at(50), minImpact: 2 };
  const [anomaly] = judgeLine(line(steady(60, { 50: 40 })), [], watching).changed;
  if (!anomaly) throw new Error('Nothing was found');
  const state = { through: at(49), lastSettled: at(50), ranOn: at(51), at: NOW.toISOString() };
  await transaction(store, async (tx) => {
    await storeAnomaly(tx, anomaly, NOW);
    await writeState(tx, 'cost-watch', JSON.stringify({ ...state, lines: 1, version: 1 }));
  });
  const name = announcementName(anomaly, { news: 'opened', day: at(50) });
  const answer = { title: 'Unusual cost', parts: [] };
  await append(events, async (locked) => ({
    ...(await announced(locked, [{ name, channel: '#costs', thread: null, answer }], locked.at)),
    result: null,
  }));
  const allowed = { is: true };
  const denial = { refusal: 'no-rule' } as never;
  const { press } = createIncidentService({
    store,
    events,
    prices: null,
    now: () => NOW,
    wake: () => undefined,
    authorize: async () => (allowed.is ? { ok: true } : { ok: false, denial }),
  });
  const click = (over: Partial<IncidentClick> = {}): IncidentClick => ({
    ...{ verb: 'expected', id: incidentId(anomaly), by: user('UANA'), key: 'p1', ...over },
  });
  const incident = async () => (await recentAnomalies({ store, events }, NOW))[0]?.incident;
  return { events, press, click, incident, allowed };
}

const types = async ({ store }: Awaited<ReturnType<typeof freshLog>>) =>
  (await rowsIn(store)).map(({ type }) => type);

test.for(ENGINES)('a press decides once, and is an event of the log (%s)', async (engine) => {
  const { events, press, click, incident } = await opened(engine);
  const first = await press(click());
  expect(first).toMatchObject({ ok: true, answer: { title: 'prod · compute' } });
  expect((await incident())?.state).toBe('expected');
  expect(await types(events)).toEqual(['announced', 'expected', 'updated']);
  // The process crashed before the answer was recorded.
  expect(await press(click())).toEqual(first);
  expect(await types(events)).toHaveLength(3);
  const other = await press(click({ key: 'p2', verb: 'mute' }));
  expect(JSON.stringify(other)).toContain('expected since');
  expect(await types(events)).toHaveLength(3);
});

test('a mute lasts for seven days, and can be followed by Expected', async () => {
  const { press, click, incident } = await opened();
  await press(click({ verb: 'mute' }));
  expect(await incident()).toMatchObject({ state: 'muted', mutedUntil: at(59) });
  await press(click({ key: 'p2' }));
  expect((await incident())?.state).toBe('expected');
});

test('a press of a user who may not list anomalies decides nothing', async () => {
  const { events, press, click, allowed } = await opened();
  allowed.is = false;
  expect(await press(click())).toMatchObject({ ok: false });
  expect(await types(events)).toEqual(['announced']);
});

test('a press on an anomaly that is not known any more is answered', async () => {
  const { events, press, click } = await opened();
  const answered = await press(click({ id: '0000000000000000' }));
  expect(answered).toMatchObject({ answer: { title: 'This incident no longer exists' } });
  expect(await types(events)).toEqual(['announced']);
});
