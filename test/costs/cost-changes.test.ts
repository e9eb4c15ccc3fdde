import { expect, test } from 'vitest';
import { listCostChanges } from '../../src/costs/why.ts';
import type { Change } from '../../src/domain/change.ts';
import type { Database } from '../../src/storage/old/database.ts';
import { ENGINES, freshDatabase } from '../storage/engines.ts';
import { aChange, ana, aPost, ben, elsewhere, minutes, stored } from '../storage/example-change.ts';

const STAGING = { id: '11111111-1111-4111-8111-111111111111', name: 'staging' };
const CREATED = { id: 's-9', name: 'Analytics EU' };
/** The examples run on 14 August 2026, at noon. */
const DAY = { first: '2026-08-14', last: '2026-08-14' };
const COST = { cost: { text: 'unknown', perDay: null, share: null } };

function ended(at: Date, over: Partial<Change> = {}): Partial<Change> {
  const outcome = { how: 'succeeded', at, tookMs: 1, requestId: null, reported: [] } as const;
  return { state: 'succeeded', outcome, ...over };
}

const withCost = (change: Change): Change => ({ ...change, plan: { ...change.plan, ...COST } });

async function texts(database: Database, services = [STAGING, CREATED], span = DAY) {
  const warned: unknown[] = [];
  const log = { warn: (facts: unknown) => void warned.push(facts) };
  // It logs nothing else.
  const context = { database, log } as unknown as Parameters<typeof listCostChanges>[0];
  const found = await listCostChanges(context, { services, span });
  return { found, texts: found.map(({ text }) => text), warned };
}

test.for(ENGINES)(
  'the accepted changes of the services are listed, the first one first, on %s',
  async (engine) => {
    const database = await freshDatabase(engine);
    const scale = withCost(aChange(ended(minutes(5), { requester: ben })));
    await stored(
      database,
      aChange(ended(minutes(9))),
      scale,
      aPost(ended(minutes(1))),
      elsewhere(ended(minutes(2))),
      aChange({ state: 'pending' }),
      aChange({ ...ended(minutes(3)), state: 'failed' }),
    );
    const { found } = await texts(database);
    expect(found.map(({ text }) => text)).toEqual([
      'Create service staging',
      'Scale staging · Minimum 8 → 16',
      // Rows of changes without a cost effect may be private.
      'Scale staging',
    ]);
    expect(found[1]).toEqual({
      id: scale.id,
      by: ben,
      at: minutes(5),
      text: 'Scale staging · Minimum 8 → 16',
    });
    expect(found[0]?.by).toBe(ana);
  },
);

test('only changes of these UTC days are listed', async () => {
  const database = await freshDatabase('sqlite');
  const times = [
    '2026-08-13T23:59:59Z',
    '2026-08-14T00:00:00Z',
    '2026-08-14T23:59:59Z',
    '2026-08-15T00:00:00Z',
  ];
  await stored(database, ...times.map((time) => aChange(ended(new Date(time)))));
  const { found } = await texts(database);
  expect(found.map(({ at }) => at)).toEqual(times.slice(1, 3).map((time) => new Date(time)));
});

test('a change whose unknown outcome was resolved as accepted is listed', async () => {
  const database = await freshDatabase('sqlite');
  const unknown = {
    how: 'unknown',
    at: minutes(4),
    tookMs: 1,
    requestId: null,
    status: null,
    text: 'no answer',
  } as const;
  const resolution = { by: ben, at: minutes(8), happened: true, note: 'seen in the console' };
  await stored(database, aChange({ state: 'succeeded', outcome: unknown, resolution }));
  expect((await texts(database)).texts).toEqual(['Scale staging']);
});

test.for(ENGINES)('without services nothing is read, on %s', async (engine) => {
  const database = await freshDatabase(engine);
  await stored(database, aChange(ended(minutes(1))));
  expect((await texts(database, [])).texts).toEqual([]);
});

test('of a change with many fields the first three are shown', async () => {
  const database = await freshDatabase('sqlite');
  const { plan } = withCost(aChange(ended(minutes(1))));
  const [row = expect.fail('the change has no row')] = plan.rows;
  const rows = ['A', 'B', 'C', 'D'].map((label) => ({ ...row, label }));
  await stored(database, { ...aChange(ended(minutes(1))), plan: { ...plan, rows } });
  const [text = ''] = (await texts(database)).texts;
  expect(text).toContain(' · C ');
  expect(text).not.toContain(' · D ');
});

test('an unreadable row is logged and left out', async () => {
  const database = await freshDatabase('sqlite');
  const [one, other] = [aChange(ended(minutes(1))), aChange(ended(minutes(2)))];
  await stored(database, one, other);
  await database.transaction((tx) =>
    tx.updateTable('change').set({ plan: '{' }).where('id', '=', one.id).execute(),
  );
  const { found, warned } = await texts(database);
  expect(found.map(({ id }) => id)).toEqual([other.id]);
  expect(warned).toEqual([{ change: one.id, err: expect.any(Error) }]);
});
