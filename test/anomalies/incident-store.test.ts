import { expect, test } from 'vitest';
import { anomaliesSince, incidentId, storeAnomaly } from '../../src/anomalies/incident-store.ts';
import { judgeLine } from '../../src/anomalies/judge-line.ts';
import { ENGINES, freshDatabase } from '../storage/engines.ts';
import { at, line, steady } from './watched-line.ts';

const NOON = new Date('2026-11-20T12:00:00.000Z');

test.for(ENGINES)(
  'an incident is read back as it was, with its newest word (%s)',
  async (engine) => {
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

    const told = { ...opened, announced: 'alone' as const };
    await transaction((tx) => storeAnomaly(tx, told, NOON));
    expect(await anomaliesSince(db, at(0))).toEqual([told]);
    expect(await anomaliesSince(db, at(51))).toEqual([]);
  },
);

test('the id on a button tells one incident of a line from another, and names nothing', () => {
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
