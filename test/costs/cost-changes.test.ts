import { expect, test } from 'vitest';
import { listCostChanges } from '../../src/costs/why.ts';
import { ana, ben, type Example, moved, PLAN } from '../workflow/context.ts';
import { contextWith, minutesLater as minutes } from './sent-changes.ts';

const STAGING = { id: PLAN.target.id, name: 'staging' };
const CREATED = { id: 's-9', name: 'Analytics EU' };
/** The examples run on 14 August 2026, at noon. */
const DAY = { first: '2026-08-14', last: '2026-08-14' };
const ROW = { field: 'minReplicaMemoryGb', label: 'Minimum', before: 8, after: 16 };
const COST = { cost: { text: 'unknown', perDay: null, share: null }, rows: [ROW] };

async function listed(examples: readonly Example[], services = [STAGING, CREATED], span = DAY) {
  const { context, changes } = await contextWith(...examples);
  return { changes, found: await listCostChanges(context, { services, span }) };
}

test('the accepted changes of the services are listed, the first one first', async () => {
  const { target } = PLAN;
  const created = { ...target, kind: 'new service', id: CREATED.name.toLowerCase() } as const;
  const approved = { approvers: [ana], requires: { count: 1 } };
  const byBen = { answeredAt: minutes(5), requester: ben, plan: COST, ...approved };
  const { changes, found } = await listed([
    { answeredAt: minutes(9) },
    byBen,
    { answeredAt: minutes(1), command: 'service create', plan: { target: created } },
    { answeredAt: minutes(2), plan: { target: { ...target, id: 'elsewhere' } } },
    { state: 'pending' },
    { answeredAt: minutes(3), state: 'failed' },
  ]);
  const texts = ['Create service staging', 'Scale staging', 'Scale staging'];
  expect(found.map(({ text }) => text)).toEqual(texts);
  const scaled = { id: changes[1]?.id, by: ben, at: minutes(5), text: 'Scale staging' };
  expect(found[1]).toEqual(scaled);
  expect(found[0]?.by).toBe(ana);
});

test('only changes of these UTC days are listed', async () => {
  const times = [
    '2026-08-13T23:59:59Z',
    '2026-08-14T00:00:00Z',
    '2026-08-14T23:59:59Z',
    '2026-08-15T00:00:00Z',
  ].map((time) => new Date(time));
  const { found } = await listed(times.map((answeredAt) => ({ answeredAt })));
  expect(found.map(({ at }) => at)).toEqual(times.slice(1, 3));
});

test('a change whose unknown outcome was resolved as accepted is listed', async () => {
  const { context, changes } = await contextWith({ state: 'unknown', answeredAt: minutes(4) });
  const [change = expect.fail('there is no change')] = changes;
  await moved(context, change.id, { type: 'resolved', by: ben, as: 'succeeded', note: 'seen' });
  const found = await listCostChanges(context, { services: [STAGING], span: DAY });
  expect(found.map(({ text }) => text)).toEqual(['Scale staging']);
});

test('without services nothing is listed', async () => {
  expect((await listed([{ answeredAt: minutes(1) }], [])).found).toEqual([]);
});
