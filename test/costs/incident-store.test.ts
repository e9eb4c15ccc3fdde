import { expect, test } from 'vitest';
import { anomaliesSince, incidentId, storeAnomaly } from '../../src/costs/incidents.ts';
import { judgeLine } from '../../src/costs/judge-lines.ts';
import { transaction } from '../../src/storage/index.ts';
import { freshLog, user, write } from '../log/logs.ts';
import { ENGINES } from '../storage/engines.ts';
import { at, line, steady } from './watched-line.ts';

const NOON = new Date('2026-11-20T12:00:00.000Z');

const WATCHING = { first: at(50), last: at(50), minImpact: 2 };

test.for(ENGINES)('an incident is read back in its newest state (%s)', async (engine) => {
  const events = await freshLog(engine);
  const { store } = events;
  const spiked = line(steady(60, { 50: 40 }), {
    name: '<!channel> · compute',
    id: 'a "b" compute',
  });
  const [opened] = judgeLine(spiked, [], WATCHING).changed;
  if (!opened) throw new Error('Nothing was found');
  await transaction(store, (tx) => storeAnomaly(tx, opened, NOON));
  expect(await anomaliesSince({ store, events }, at(0))).toEqual([opened]);

  const announced = { ...opened, announced: 'alone' as const };
  await transaction(store, (tx) => storeAnomaly(tx, announced, NOON));
  expect(await anomaliesSince({ store, events }, at(0))).toEqual([announced]);
  expect(await anomaliesSince({ store, events }, at(51))).toEqual([]);
});

test('what people decided about an incident is read from the log, never from its row', async () => {
  const events = await freshLog('sqlite');
  const { store } = events;
  const [opened] = judgeLine(line(steady(60, { 50: 40 })), [], WATCHING).changed;
  if (!opened) throw new Error('Nothing was found');
  const stateOf = async (state: typeof opened.incident.state) => {
    const forged = { ...opened, incident: { ...opened.incident, state } };
    await transaction(store, (tx) => storeAnomaly(tx, forged, NOON));
    return (await anomaliesSince({ store, events }, at(0)))[0]?.incident.state;
  };
  expect(await stateOf('expected')).toBe('ongoing');
  expect(await stateOf('muted')).toBe('ongoing');

  const facts = { by: user('UANA'), line: opened.line, name: opened.name, since: at(50) };
  const stream = `incident/${incidentId(opened)}` as const;
  await write(events, stream, { type: 'muted', press: 'p1', until: at(59), ...facts });
  expect(await stateOf('open')).toBe('muted');
  await write(events, stream, { type: 'expected', press: 'p2', ...facts });
  expect(await stateOf('open')).toBe('expected');
  expect(await stateOf('resolved')).toBe('resolved');
});

test('the id on a button is unique per incident of a line, and contains no name', () => {
  const one = judgeLine(line(steady(60, { 50: 40 })), [], {
    first: at(50),
    last: at(50),
    minImpact: 2,
  });
  const [first] = one.changed;
  if (!first) throw new Error('Nothing was found');
  const later = { ...first, incident: { ...first.incident, since: at(51) } };
  expect(incidentId(first)).toMatch(/^[0-9a-f]{16}$/);
  expect(incidentId(later)).not.toBe(incidentId(first));
});
