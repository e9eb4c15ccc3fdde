import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/base/text.ts';
import { commands } from '../../src/commands/index.ts';
import type { ChangeId } from '../../src/domain/change.ts';
import type { FreezeUntil } from '../../src/domain/freezes.ts';
import { addJobs, transaction } from '../../src/storage/index.ts';
import { jobKinds } from '../../src/workflow/background.ts';
import type { SeenMark } from '../../src/workflow/context.ts';
import { runKind } from '../../src/workflow/execute.ts';
import { createFreezeService } from '../../src/workflow/freezes.ts';
import { ownJobs } from '../../src/workflow/own.ts';
import { currentPolicy } from '../../src/workflow/target.ts';
import { checkChannels } from '../../src/workflow/witness.ts';
import { policyOf } from '../domain/policy-fixtures.ts';
import { applied, applyOwn } from './applied.ts';
import {
  aChange,
  ana,
  channel,
  createTestContext,
  eventsOf,
  loaded,
  minutes,
  newId,
  notices,
  PLAN,
  RULE,
} from './context.ts';
import { jobsFor, runDue } from './due.ts';

const ANY = { ...RULE, allow: ['*'] };
const TARGET = { ...PLAN.target, kind: 'freeze', id: 'tag:dev', tags: ['dev'] } as const;

async function createFreezeContext() {
  const changes = commands.flatMap((each) => (each.kind === 'change' ? [each] : []));
  const marks: SeenMark[] = [];
  const test = await createTestContext({
    commands: new Map(changes.map((each) => [each.name, each])),
    policy: policyOf([ANY]),
    messages: { readMarks: async () => marks },
  });
  const { context } = test;
  const plan = (body: JsonObject) => ({ target: TARGET, body, before: null, rows: [] });
  const example = (until: Date) => ({
    command: 'change freeze',
    reason: 'launch',
    plan: plan({ scope: { tag: 'dev' }, until: until.toISOString() }),
  });
  const unfreeze = (lift: ChangeId) => ({
    command: 'change unfreeze',
    plan: plan({ lift, scope: { tag: 'dev' }, until: minutes(60).toISOString() }),
  });
  return {
    ...test,
    ...{ example, unfreeze, marks, freezes: createFreezeService(context) },
    make: (until = minutes(60)) => applied(context, example(until)),
    inForce: async () =>
      (await currentPolicy(context, context.events)).freezes.map(({ made, until }) => [
        made?.id,
        until,
      ]),
    end: () => runDue(context, { freeze: jobKinds(context).freeze }),
  };
}

test('a freeze is in force with its reason and its requester, until its end', async () => {
  const { clock, make, inForce, freezes } = await createFreezeContext();
  const { id } = await make();
  expect(await inForce()).toEqual([[id, minutes(60)]]);
  expect(await freezes.madeInSlack()).toMatchObject([
    {
      ...{ id, name: 'tag:dev', scope: { tag: 'dev' } },
      freeze: { from: minutes(0), until: minutes(60), reason: 'launch', made: { id, by: ana } },
    },
  ]);
  expect(await freezes.all()).toHaveLength(1);
  clock.now = minutes(60);
  expect(await inForce()).toEqual([]);
  expect(await freezes.all()).toEqual([]);
});

test('freezes of the file and of Slack are listed together', async () => {
  const { context, make } = await createFreezeContext();
  const { id } = await make();
  const freeze = { from: '2026-11-20T00:00Z', until: '2026-11-21T00:00Z', reason: 'year end' };
  const policy = policyOf([RULE], [freeze]);
  const all = await createFreezeService({ ...context, policy }).all();
  expect(all.map(({ reason, made }) => [reason, made?.id])).toEqual([
    ['year end', undefined],
    ['launch', id],
  ]);
});

test('a freeze whose end has passed before it ran fails, and nothing is frozen', async () => {
  const { context, example, inForce } = await createFreezeContext();
  const { id } = await aChange(context, { ...example(minutes(0)), state: 'approved' });
  expect(await applyOwn(context, id)).toMatchObject({ ok: false });
  const outcome = { text: 'freeze: until has passed' };
  expect(await loaded(context, id)).toMatchObject({ state: 'failed', outcome });
  expect(await inForce()).toEqual([]);
});

test('an unfreeze ends the freeze at once', async () => {
  const { context, make, unfreeze, inForce } = await createFreezeContext();
  const { id } = await make();
  const lifting = await applied(context, unfreeze(id));
  expect(await inForce()).toEqual([]);
  const last = (await eventsOf(context, `freeze/${id}`)).at(-1);
  expect(last).toMatchObject({ type: 'lifted', change: lifting.id, by: ana });
});

test.for([
  ['was lifted before', 0],
  ['has ended', 60],
] as const)('an unfreeze fails where the freeze %s', async ([, minute]) => {
  const { context, clock, make, unfreeze } = await createFreezeContext();
  const { id } = await make();
  if (minute === 0) await applied(context, unfreeze(id));
  clock.now = minutes(minute);
  const late = await aChange(context, { ...unfreeze(id), state: 'approved' });
  const text = 'freeze: the freeze has ended or was lifted';
  expect(await applyOwn(context, late.id)).toEqual({ ok: false, text });
});

const blocked = async () => {
  const one = await createFreezeContext();
  const freeze = await one.make();
  const revert = 'REVERT' as ChangeId;
  const dueAt = minutes(60).getTime();
  await transaction(one.context.store, (tx) =>
    addJobs(tx, { kind: 'unfreeze-offer', key: revert, dueAt }),
  );
  const offered = () => jobsFor(one.context, revert, one.clock.now);
  return { ...one, freeze, offered };
};

test('the reverts that a freeze blocked are offered once it is lifted', async () => {
  const { context, freeze, unfreeze, end, offered } = await blocked();
  await end();
  expect(await offered()).toEqual([]);
  await applied(context, unfreeze(freeze.id));
  await end();
  expect(await offered()).toEqual(['unfreeze-offer']);
});

test('the reverts that a freeze blocked are offered at its end, which is recorded', async () => {
  const { context, clock, freeze, end, offered } = await blocked();
  clock.now = minutes(60);
  await end();
  expect(await offered()).toEqual(['unfreeze-offer']);
  const last = (await eventsOf(context, `freeze/${freeze.id}`)).at(-1);
  expect(last).toMatchObject({ type: 'lifted', change: null, by: 'signalbox' });
  await end();
  expect(await eventsOf(context, `freeze/${freeze.id}`)).toHaveLength(2);
});

test('claim, freeze and outcome are one append, and nothing is sent or noted', async () => {
  const { context, example, inForce, shown } = await createFreezeContext();
  const { id } = await aChange(context, { ...example(minutes(60)), state: 'approved' });
  await runKind(context).run({ key: id, again: false, attempts: 1 });
  expect(await inForce()).toEqual([[id, minutes(60)]]);
  const own = await eventsOf(context, `change/${id}`);
  const [frozen] = await eventsOf(context, `freeze/${id}`);
  expect(own.slice(-2).map(({ type }) => type)).toEqual(['claimed', 'succeeded']);
  // Between them, the change takes its target.
  expect(own.slice(-2).map(({ seq }) => seq - (frozen?.seq ?? 0))).toEqual([-2, 1]);
  expect(shown.map(({ name }) => name)).not.toContain('postSending');
});

test('what is due for a freeze is found again from the log alone', async () => {
  const { context, make, unfreeze } = await createFreezeContext();
  const { id } = await make();
  const due = () => ownJobs(context.events, `freeze/${id}`, context.now());
  expect(await due()).toEqual([{ kind: 'freeze', key: id, dueAt: minutes(60).getTime() }]);
  await applied(context, unfreeze(id));
  // The reverts that it blocked may not be offered yet.
  expect(await due()).toEqual([{ kind: 'freeze', key: id, dueAt: minutes(0).getTime() }]);
});

test.for<[string, FreezeUntil, Date]>([
  ['a duration', { inMs: 4 * 3_600_000 }, minutes(240)],
  ['a duration, up to the minute', { inMs: 90_500 }, minutes(2)],
  ['a time in the zone of the user', { time: '20:00', day: null, offset: null }, minutes(420)],
])('the end that a user enters is %s', async ([, until, at]) => {
  const { freezes } = await createFreezeContext();
  expect(await freezes.endOf(until, ana)).toEqual({ ok: true, at });
});

/** Slack shows a freeze that the log does not know. */
async function lostFreeze() {
  const all = await createFreezeContext();
  const { context, marks, shown, unfreeze } = all;
  const id = newId();
  const at = { channel: channel('CAPPROVALS'), ts: '7.0' };
  const mark = { version: 5, change: id, schedule: null, at, isCard: true, isFreeze: true };
  const approved = await aChange(context, { state: 'approved' });
  const claims = () => runKind(context).run({ key: approved.id, again: false, attempts: 1 });
  marks.push({ ...mark, hash: 'lost' });
  await checkChannels(context);
  return {
    ...{ ...all, id, approved, claims },
    found: async (hash: string) => {
      marks.push({ ...mark, hash });
      await checkChannels(context);
    },
    lift: () => applied(context, unfreeze(id)),
    drawnLost: () => shown.flatMap(({ name, given }) => (name === 'drawLost' ? [given] : [])),
  };
}

test('a freeze that the log has lost stops every execution until a person lifts it, and ends no change', async () => {
  const { context, approved, claims, lift, end, id, drawnLost } = await lostFreeze();
  expect(await claims()).toBeInstanceOf(Date);
  expect((await loaded(context, approved.id)).state).toBe('approved');
  // Its card is the only place that shows what it covers.
  expect(drawnLost()).toEqual([]);
  await lift();
  await end();
  expect(drawnLost()).toEqual([[id, { channel: 'CAPPROVALS', ts: '7.0' }, null]]);
  await claims();
  const events = await eventsOf(context, `change/${approved.id}`);
  expect(events.map(({ type }) => type)).toContain('claimed');
});

test('a freeze that the log has lost is reported once, with both decisions, and listed', async () => {
  const { context, id, freezes, found } = await lostFreeze();
  await found('lost too');
  await checkChannels(context);
  const actions = [{ value: 'change freeze' }, { value: `change unfreeze ${id}` }];
  expect(await notices(context)).toMatchObject([{ to: null, actions }]);
  expect(await freezes.all()).toMatchObject([{ on: null, made: { id, by: null } }]);
});

test('a freeze that the log has lost refuses no request and no approval: what it covers is unknown', async () => {
  const { inForce } = await lostFreeze();
  expect(await inForce()).toEqual([]);
});

test('a freeze that the log has lost is one that the log does not know: a foreign mark on a known freeze is only reported', async () => {
  const { context, make, marks } = await createFreezeContext();
  const { id } = await make();
  const at = { channel: channel('CAPPROVALS'), ts: '7.0' };
  const mark = { version: 9, hash: 'lost', change: id, schedule: null, at };
  marks.push({ ...mark, isCard: true, isFreeze: true });
  await checkChannels(context);
  expect((await eventsOf(context, `freeze/${id}`)).map(({ type }) => type)).toEqual(['created']);
  const text = expect.stringContaining(`Affected: ${id}.`);
  expect(await notices(context)).toMatchObject([{ text }]);
});

test('a freeze that the log has lost is not lifted by a request that did not see all of it', async () => {
  const { context, clock, unfreeze, id, found, claims } = await lostFreeze();
  const asked = await aChange(context, { ...unfreeze(id), state: 'approved' });
  clock.now = minutes(1);
  await found('lost too');
  expect(await applyOwn(context, asked.id)).toMatchObject({ ok: false });
  expect(await claims()).toBeInstanceOf(Date);
});

test('a freeze that the log has lost does not stop a decision about freezes', async () => {
  const { context, id, unfreeze, inForce } = await lostFreeze();
  const asked = await aChange(context, { ...unfreeze(id), state: 'approved', requester: ana });
  await runDue(context, { run: runKind(context) });
  expect((await loaded(context, asked.id)).state).toBe('succeeded');
  expect(await inForce()).toEqual([]);
});
