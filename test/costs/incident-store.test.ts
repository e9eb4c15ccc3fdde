import { expect, test } from 'vitest';
import { anomaliesSince, incidentId, storeAnomaly } from '../../src/costs/incidents.ts';
import { judgeLine } from '../../src/costs/judge-lines.ts';
import { incidentsSince, saveIncident } from '../../src/storage/old/incidents.ts';
import { ENGINES, freshDatabase } from '../storage/engines.ts';
import { at, line, steady } from './watched-line.ts';

const NOON = new Date('2026-11-20T12:00:00.000Z');

test.for(ENGINES)('an incident is read back in its newest state (%s)', async (engine) => {
  const { db, transaction } = await freshDatabase(engine);
  const watching = { first: at(50), last: at(50), minImpact: 2 };
  const spiked = line(steady(60, { 50: 40 }), {
    name: '<!channel> · compute',
    id: 'a "b" compute',
  });
  const [opened] = judgeLine(spiked, [], watching).changed;
  if (!opened) throw new Error('Nothing was found');
  await transaction((tx) => storeAnomaly(tx, opened, NOON));
  expect(await anomaliesSince(db, at(0))).toEqual([opened]);
  // The names that a replica of version 1.0 reads.
  expect((await incidentsSince(db, at(0)))[0]?.facts).toMatchObject({
    told: opened.announced,
    incident: { toldImpact: opened.incident.reportedImpact, days: [{ final: true }] },
  });

  const announced = { ...opened, announced: 'alone' as const };
  await transaction((tx) => storeAnomaly(tx, announced, NOON));
  expect(await anomaliesSince(db, at(0))).toEqual([announced]);
  expect(await anomaliesSince(db, at(51))).toEqual([]);
});

test('an incident that version 1.0 stored is read with the current names', async () => {
  const { db, transaction } = await freshDatabase('sqlite');
  const watching = { first: at(50), last: at(50), minImpact: 2 };
  const [opened] = judgeLine(line(steady(60, { 50: 40 })), [], watching).changed;
  if (!opened) throw new Error('Nothing was found');
  const { line: key, announced: _, incident, ...rest } = opened;
  const { reportedImpact: toldImpact, state, ...others } = incident;
  const days = incident.days.map(({ settled: final, ...day }) => ({ ...day, final }));
  const facts = { ...rest, incident: { ...others, days, state, toldImpact }, told: 'crowd' };
  const onset = incident.since;
  const json = JSON.parse(JSON.stringify(facts));
  await transaction((tx) =>
    saveIncident(tx, { line: key, onset, state, facts: json, updatedAt: NOON }),
  );
  expect(await anomaliesSince(db, onset)).toEqual([{ ...opened, announced: 'crowd' }]);
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
