import { expect, test } from 'vitest';
import type { UserId } from '../../src/domain/change.ts';
import { enqueueClick } from '../../src/workflow/old/click-intake.ts';
import { countCommand } from '../../src/workflow/old/command-rate.ts';
import type { WorkflowContext } from '../../src/workflow/old/ports.ts';
import { countAttempts } from '../../src/workflow/old/rate-limit.ts';
import { ana, ben, cleo, user } from '../storage/example-change.ts';
import { createTestContext } from './context.ts';

const times = (count: number, by: UserId) => Array.from({ length: count }, () => by);

async function refusals({ database }: WorkflowContext): Promise<readonly string[]> {
  const events = await database.db
    .selectFrom('audit_event')
    .select('body')
    .where('kind', '=', 'refused')
    .execute();
  return events.map((event) => {
    const { tried, refusal } = JSON.parse(event.body).body;
    return `${tried} ${refusal}`;
  });
}

test.for([
  ['click', 30, 60_000],
  ['draft', 20, 600_000],
  ['command', 60, 60_000],
  ['refresh', 3, 600_000],
] as const)('of %s a person gets %i in their while', async ([kind, most, withinMs]) => {
  const { context, clock } = await createTestContext();
  const ask = (by: readonly UserId[]) =>
    context.database.transaction((tx) => countAttempts(tx, context, kind, by));
  expect(new Set(await ask(times(most - 1, ana)))).toEqual(new Set(['ok']));
  expect(await ask([ana, ana, ben, ana])).toEqual(['ok', 'limited', 'ok', 'muted']);
  expect(await ask([ana])).toEqual(['muted']);
  // A flood is one event of the trail, not a flood of events.
  expect(await refusals(context)).toEqual([`${kind} rate-limited`]);

  clock.now = new Date(clock.now.getTime() + withinMs);
  expect(await ask([ana])).toEqual(['ok']);
});

test('all users share a total limit, which one user alone cannot reach', async () => {
  const { context, clock } = await createTestContext();
  const ask = (by: readonly UserId[]) =>
    context.database.transaction((tx) => countAttempts(tx, context, 'draft', by));
  // What is refused to one of them takes nothing from the others.
  await ask(times(5_000, ana));
  const others = Array.from({ length: 49 }, (_, n) => user(`U${n}`));
  for (const each of others) expect(new Set(await ask(times(20, each)))).toEqual(new Set(['ok']));
  expect(await ask([ben, cleo])).toEqual(['limited', 'limited']);
  expect(await refusals(context)).toEqual(['draft rate-limited', 'draft of all rate-limited']);

  clock.now = new Date(clock.now.getTime() + 600_000);
  expect(await ask([ben])).toEqual(['ok']);
});

test('what is refused to one user takes nothing from the others of the same commit', async () => {
  const { context } = await createTestContext();
  const ask = (by: readonly UserId[]) =>
    context.database.transaction((tx) => countAttempts(tx, context, 'draft', by));
  for (let n = 0; n < 48; n += 1) await ask(times(20, user(`U${n}`)));
  const statuses = await ask([...times(25, ana), ...times(20, ben)]);
  expect(statuses.filter((status) => status === 'ok')).toHaveLength(40);
  expect(new Set(statuses.slice(25))).toEqual(new Set(['ok']));
  expect(await ask([cleo])).toEqual(['limited']);
});

test('a count of all users that is missing does not stop a refusal', async () => {
  const { context } = await createTestContext();
  const { transaction, db } = context.database;
  await transaction((tx) => countAttempts(tx, context, 'draft', times(20, ana)));
  await transaction((tx) => tx.deleteFrom('tally').where('person', '=', user('*')).execute());
  expect(await transaction((tx) => countAttempts(tx, context, 'draft', [ana]))).toEqual([
    'limited',
  ]);
  expect(await db.selectFrom('tally').select('person').execute()).toHaveLength(2);
});

function letter(context: WorkflowContext, key: string) {
  return enqueueClick(context, { key, kind: 'click', body: {}, by: ana, at: context.now() });
}

test('a limited click is stored as handled and does not limit other users', async () => {
  const { context } = await createTestContext();
  const some = await Promise.all(
    Array.from({ length: 33 }, (_, n) => letter(context, `click:${n}`)),
  );
  expect(some.filter((each) => each === 'ok')).toHaveLength(30);
  expect(some.slice(-3)).toEqual(['limited', 'muted', 'muted']);
  const open = await context.database.db
    .selectFrom('inbox')
    .select('dedup_key')
    .where('handled_at', 'is', null)
    .execute();
  expect(open).toHaveLength(30);
  const theirs = { key: 'click:ben', kind: 'click', body: {}, by: ben, at: context.now() };
  expect(await enqueueClick(context, theirs)).toBe('ok');
});

test('a repeated click is not counted again', async () => {
  const { context } = await createTestContext();
  const same = await Promise.all(times(40, ana).map(() => letter(context, 'click:captured')));
  expect(new Set(same)).toEqual(new Set(['ok', 'again']));
  expect(await letter(context, 'click:another')).toBe('ok');
});

test('two replicas count commands together, except the first few of each user', async () => {
  const { context } = await createTestContext();
  const other: WorkflowContext = { ...context, instance: 'another' };
  const paces: string[] = [];
  for (let n = 0; n < 60; n += 1) {
    paces.push(await countCommand(context, ana), await countCommand(other, ana));
  }
  const fine = paces.filter((pace) => pace === 'ok').length;
  expect(fine).toBeGreaterThanOrEqual(60);
  expect(fine).toBeLessThan(60 + 20);
  expect(paces.filter((pace) => pace === 'limited')).toHaveLength(1);
  expect(await refusals(context)).toEqual(['command rate-limited']);
});

test('a few commands per minute cause no database write', async () => {
  const { context, clock } = await createTestContext();
  for (let n = 0; n < 19; n += 1) expect(await countCommand(context, ana)).toBe('ok');
  clock.now = new Date(clock.now.getTime() + 60_000);
  for (let n = 0; n < 19; n += 1) expect(await countCommand(context, ana)).toBe('ok');
  expect(await context.database.db.selectFrom('tally').selectAll().execute()).toEqual([]);
});
