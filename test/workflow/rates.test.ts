import { expect, test } from 'vitest';
import { sql, transaction } from '../../src/storage/index.ts';
import type { WorkflowContext } from '../../src/workflow/context.ts';
import { countAttempts, countCommand, limitedUntil, pruneRates } from '../../src/workflow/rates.ts';
import { ana, ben, cleo, createTestContext, refusals, user } from './context.ts';

async function refused(context: WorkflowContext): Promise<readonly string[]> {
  return (await refusals(context)).map(({ tried, why }) => `${tried} ${why}`);
}

async function counters({ store }: WorkflowContext): Promise<readonly string[]> {
  const rows = await transaction(store, (tx) =>
    tx.selectFrom('rate_counter').select('person').orderBy('person').execute(),
  );
  return rows.map(({ person }) => person);
}

test.for([
  ['press', 30, 60_000],
  ['draft', 20, 600_000],
  ['command', 60, 60_000],
  ['refresh', 3, 600_000],
] as const)('of %s a person gets %i in their while', async ([kind, most, withinMs]) => {
  const { context, pass } = await createTestContext();
  const ask = (by = ana) => countAttempts(context, kind, by);
  for (let n = 0; n < most; n += 1) expect(await ask()).toBe('ok');
  expect([await ask(), await ask(ben), await ask()]).toEqual(['limited', 'ok', 'muted']);
  // A flood is one event of the log, not a flood of events.
  expect(await refused(context)).toEqual([`${kind} rate-limited`]);

  pass(withinMs);
  expect(await ask()).toBe('ok');
});

test('all users share a total limit, which one user alone cannot reach', async () => {
  const { context, pass } = await createTestContext();
  const ask = (by: typeof ana, more: number) => countAttempts(context, 'draft', by, more);
  // What is refused to one of them takes nothing from the others.
  await ask(ana, 20);
  for (let n = 0; n < 30; n += 1) await ask(ana, 1);
  for (let n = 0; n < 49; n += 1) expect(await ask(user(`U${n}`), 20)).toBe('ok');
  expect([await ask(ben, 1), await ask(cleo, 1)]).toEqual(['limited', 'limited']);
  expect(await refused(context)).toEqual(['draft rate-limited', 'draft of all rate-limited']);

  pass(600_000);
  expect(await ask(ben, 1)).toBe('ok');
});

test('a count of all users that is missing does not stop a refusal', async () => {
  const { context } = await createTestContext();
  await countAttempts(context, 'draft', ana, 20);
  await transaction(context.store, (tx) =>
    sql`delete from rate_counter where person = '*'`.execute(tx),
  );
  expect(await countAttempts(context, 'draft', ana)).toBe('limited');
  expect(await counters(context)).toEqual(['*', ana]);
});

test('a user who is limited reads when the next action is possible', async () => {
  const { context, clock } = await createTestContext();
  for (let n = 0; n < 3; n += 1) expect(await limitedUntil(context, 'refresh', ana)).toBeNull();
  const until = await limitedUntil(context, 'refresh', ana);
  expect(until).toEqual(new Date(clock.now.getTime() + 600_000));
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
  expect(await refused(context)).toEqual(['command rate-limited']);
});

test('a few commands per minute cause no database write', async () => {
  const { context, pass } = await createTestContext();
  for (let n = 0; n < 19; n += 1) expect(await countCommand(context, ana)).toBe('ok');
  pass(60_000);
  for (let n = 0; n < 19; n += 1) expect(await countCommand(context, ana)).toBe('ok');
  expect(await counters(context)).toEqual([]);
});

test('counters of windows that ended are dropped', async () => {
  const { context, pass } = await createTestContext();
  await countAttempts(context, 'press', ana);
  await pruneRates(context);
  expect(await counters(context)).toEqual(['*', ana]);
  pass(2 * 600_000 + 60_000);
  await pruneRates(context);
  expect(await counters(context)).toEqual([]);
});
