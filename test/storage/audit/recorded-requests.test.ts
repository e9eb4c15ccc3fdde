import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Change } from '../../../src/changes/change.ts';
import type { JsonObject } from '../../../src/intent/answers/units.ts';
import { appendEvent } from '../../../src/storage/audit/append.ts';
import type { AuditEvent } from '../../../src/storage/audit/chain.ts';
import { recordedRequests } from '../../../src/storage/audit/recorded-requests.ts';
import type { Database } from '../../../src/storage/engine/database.ts';
import { freshDatabase } from '../engines.ts';
import { ana, ben, elsewhere, minutes, NOON, newId, stored } from '../example-change.ts';

const REFUSED = {
  by: ben,
  tried: 'service resize',
  refusal: 'frozen',
  command: 'service scale',
  target: 'staging',
  rule: 3,
  roles: ['operator'],
};
const refused = (body: JsonObject, over: Partial<AuditEvent> = {}): AuditEvent => ({
  kind: 'refused',
  at: NOON,
  body,
  ...over,
});

function drafted({ id: changeId }: Pick<Change, 'id'>, body: JsonObject = {}): AuditEvent {
  const facts = { by: ana, command: 'service scale', target: 'staging', ...body };
  return { kind: 'drafted', changeId, version: 1, to: 'draft', at: NOON, body: facts };
}

async function requestsIn(database: Database, batch?: number) {
  const range = { since: minutes(-1), until: minutes(1) };
  const found: unknown[] = [];
  for await (const request of recordedRequests(database.db, range, batch)) found.push(request);
  return found;
}

async function recorded(database: Database, ...events: AuditEvent[]): Promise<void> {
  await database.transaction(async (tx) => {
    for (const event of events) await appendEvent(tx, null, event);
  });
}

test('a recorded draft has its request and its stored change', async () => {
  const database = await freshDatabase('sqlite');
  const change = elsewhere();
  await stored(database, change, elsewhere());
  await recorded(database, drafted(change, { roles: ['operator'] }));
  expect(await requestsIn(database)).toEqual([
    {
      kind: 'drafted',
      id: change.id,
      at: NOON,
      by: ana,
      roles: ['operator'],
      command: 'service scale',
      target: 'staging',
      change,
    },
  ]);
});

test('a recorded refusal has the request, the refusal and the rule', async () => {
  const database = await freshDatabase('sqlite');
  await recorded(database, refused(REFUSED), refused({ ...REFUSED, rule: null }));
  const { tried: entered, ...facts } = REFUSED;
  expect(await requestsIn(database)).toEqual([
    { kind: 'refused', seq: 1, at: NOON, ...facts, entered },
    { kind: 'refused', seq: 2, at: NOON, ...facts, entered, rule: null },
  ]);
});

test('a request of release 1.0 has no roles', async () => {
  const database = await freshDatabase('sqlite');
  const { roles: _, ...body } = REFUSED;
  const odd = { ...REFUSED, roles: 'operator' };
  await recorded(database, refused(body), refused(odd), drafted({ id: newId() }));
  const roles = (await requestsIn(database)).map(
    (request) => (request as { roles: unknown }).roles,
  );
  expect(roles).toEqual([null, null, null]);
});

test.for<[string, AuditEvent]>([
  ['a refused click', refused(REFUSED, { changeId: newId() })],
  ['a refusal without a command', refused({ ...REFUSED, command: null })],
  ['a draft without a change', { kind: 'drafted', at: NOON, body: drafted({ id: newId() }).body }],
  ['a draft without a target', drafted({ id: newId() }, { target: null })],
  ['a draft without a user', drafted({ id: newId() }, { by: null })],
  ['an approval', { ...drafted({ id: newId() }), kind: 'approved' }],
  ['an approval that names what a refusal names', refused(REFUSED, { kind: 'approved' })],
])('%s is no request', async ([, event]) => {
  const database = await freshDatabase('sqlite');
  await recorded(database, event);
  expect(await requestsIn(database)).toEqual([]);
});

test('a draft whose row is missing or unreadable has no change', async () => {
  const database = await freshDatabase('sqlite');
  const [unreadable, sound] = [elsewhere(), elsewhere()];
  await stored(database, unreadable, sound);
  await database.transaction((tx) =>
    sql`update change set plan = 'no plan' where id = ${unreadable.id}`.execute(tx),
  );
  await recorded(database, drafted(unreadable), drafted({ id: newId() }), drafted(sound));
  const found = (await requestsIn(database)) as { change: Change | null }[];
  expect(found.map(({ change }) => change?.id ?? null)).toEqual([null, null, sound.id]);
});

test.for([1, 2, 3, 4])('requests are read in order, %i at a time', async (batch) => {
  const database = await freshDatabase('sqlite');
  const changes = [elsewhere(), elsewhere()] as const;
  await stored(database, ...changes);
  await recorded(database, drafted(changes[0]), refused(REFUSED), drafted(changes[1]));
  const found = (await requestsIn(database, batch)) as { kind: string; change?: Change }[];
  expect(found.map(({ kind, change }) => [kind, change?.id])).toEqual([
    ['drafted', changes[0].id],
    ['refused', undefined],
    ['drafted', changes[1].id],
  ]);
  expect(found[1]).not.toHaveProperty('change');
});
