import { expect, test } from 'vitest';
import { type CommandContext, commands } from '../../src/commands/index.ts';
import type { Answer, AnswerPart, Caller } from '../../src/domain/answer.ts';
import type { Change, UserId } from '../../src/domain/change.ts';
import { draftChange } from '../../src/domain/draft.ts';
import { loadChange } from '../../src/log/index.ts';
import type { HomeContent, HomeLists, WorkflowContext } from '../../src/workflow/context.ts';
import { createChangesQueries, showHome } from '../../src/workflow/lists.ts';
import { policyOf } from '../domain/policy-fixtures.ts';
import {
  aChange,
  ana,
  begun,
  ben,
  cleo,
  createTestContext,
  dora,
  dueJobs,
  emil,
  eventsOf,
  loaded,
  minutes,
  moved,
  NOON,
  newId,
  ORGANIZATION,
  PLAN,
  REQUIRES,
  RULE,
  STAGING,
} from './context.ts';

function asks(by: UserId): Caller {
  return { by, channel: null };
}

function queriesOf(context: WorkflowContext, effect: string | null = null) {
  const named = async () => ({ ok: false, why: 'nobody' }) as const;
  const changes = createChangesQueries(context, named, async () => effect);
  const ask = async (name: string, args: object, asker: Caller): Promise<Answer> => {
    const query = commands.find((command) => command.name === name);
    if (query?.kind !== 'query') throw new Error(`There is no query ${name}`);
    return query.answer(args, { changes, now: context.now } as CommandContext, asker);
  };
  return {
    ...changes,
    list: (args: object, asker: Caller) => ask('change list', args, asker),
    show: (id: string, asker: Caller, details?: 'details') =>
      ask('change show', { id, details }, asker),
    cancel: (id: string, asker: Caller) => ask('change cancel', { id }, asker),
  };
}

/** A workflow, and the queries of its changes. */
async function asking() {
  const world = await createTestContext();
  return { ...world, ...queriesOf(world.context) };
}

type Part<Kind extends AnswerPart['kind']> = Extract<AnswerPart, { readonly kind: Kind }>;

function partsOf<Kind extends AnswerPart['kind']>({ parts }: Answer, kind: Kind) {
  return parts.filter((part): part is Part<Kind> => part.kind === kind);
}

function idsIn(answer: Answer): readonly string[] {
  return partsOf(answer, 'changes').flatMap(({ changes }) => changes.map(({ id }) => id));
}

function linesIn(answer: Answer): readonly string[] {
  return partsOf(answer, 'lines').flatMap(({ lines }) =>
    lines.map((line) =>
      line.map((part) => (typeof part === 'string' ? part : Object.values(part)[0])).join(''),
    ),
  );
}

async function homeOf(
  test: Awaited<ReturnType<typeof createTestContext>>,
  user: UserId,
): Promise<HomeContent> {
  await showHome(test.context, user);
  return test.shown.findLast(({ name }) => name === 'showHome')?.given[1] as HomeContent;
}

async function listsOf(test: Parameters<typeof homeOf>[0], user: UserId): Promise<HomeLists> {
  const content = await homeOf(test, user);
  if (!content.ok) throw new Error(content.refusal);
  return content.lists;
}

const ids = (changes: readonly Change[]) => changes.map(({ id }) => id);

test('Home shows each user what waits for them, what they asked for and what runs', async () => {
  const all = await createTestContext();
  const { context } = all;
  const draft = await aChange(context, { state: 'draft' });
  const pending = await aChange(context);
  const executing = await aChange(context, { state: 'executing' });
  const unknown = await aChange(context, { state: 'unknown' });
  const done = await aChange(context, { state: 'succeeded' });
  const rejected = await aChange(context, { state: 'rejected' });

  const own = await listsOf(all, ana);
  const owned = [own.waiting, own.mine, own.running].map(ids);
  expect(owned).toEqual([[], [pending.id], [executing.id]]);
  expect(own.toAnswer.map(({ change, mayAnswer }) => [change.id, mayAnswer])).toEqual([
    [unknown.id, false],
  ]);
  expect(ids(own.recent).toSorted()).toEqual([done.id, rejected.id].toSorted());

  const approver = await listsOf(all, ben);
  expect(ids(approver.waiting)).toEqual([pending.id]);
  expect(approver.toAnswer).toMatchObject([{ mayAnswer: true }]);
  const others = [...approver.running, ...approver.recent, ...approver.waiting];
  expect(ids(others)).not.toContain(draft.id);

  const nobody = await listsOf(all, emil);
  expect([nobody.waiting, nobody.mine, nobody.running, nobody.recent]).toEqual([[], [], [], []]);
});

test('Home orders what waits by its expiry', async () => {
  const all = await createTestContext();
  const long = await aChange(all.context, { requires: { expiresAfterMs: 9 * 3_600_000 } });
  const short = await aChange(all.context, { requires: { expiresAfterMs: 3_600_000 } });
  expect(ids((await listsOf(all, ben)).waiting)).toEqual([short.id, long.id]);
});

test('an ended break-glass change is shown to those who may review it', async () => {
  const all = await createTestContext();
  const { id } = await aChange(all.context, { requires: { breakGlass: 'operator' } });
  await moved(all.context, id, { type: 'break-glass', by: ana, reason: 'it burns' });
  const end = { type: 'denied', why: 'frozen' } as const;
  await moved(all.context, id, end);
  expect((await listsOf(all, ben)).toAnswer).toMatchObject([{ change: { id }, mayAnswer: true }]);
  expect((await listsOf(all, ana)).toAnswer).toEqual([]);
  await moved(all.context, id, { type: 'reviewed', by: ben, note: 'fine' });
  expect((await listsOf(all, ben)).toAnswer).toEqual([]);
});

test('Home shows a user whom Slack does not identify why it is empty', async () => {
  const all = await createTestContext();
  all.roles.set(ana, 'deactivated');
  expect(await homeOf(all, ana)).toEqual({ ok: false, refusal: 'deactivated' });
});

test('Home is shown without costs that cannot be read', async () => {
  const homeCosts = () => Promise.reject(new Error('no report'));
  const policy = policyOf([RULE, { allow: ['cost'], to: 'operator' }]);
  const all = await createTestContext({ policy, homeCosts });
  expect((await listsOf(all, ana)).costs).toBeNull();
});

test('the list without a filter has what waits for approval, and no draft of anybody', async () => {
  const { context, list } = await asking();
  const pending = await aChange(context);
  await aChange(context, { state: 'draft' });
  await aChange(context, { state: 'succeeded' });
  const answer = await list({}, asks(dora));
  expect([answer.title, idsIn(answer)]).toEqual(['1 change waiting for approval', [pending.id]]);
});

test('drafts are listed for their requester only', async () => {
  const { context, list } = await asking();
  const { id } = await aChange(context, { state: 'draft' });
  const drafts = { state: 'draft' } as const;
  expect(idsIn(await list(drafts, asks(ana)))).toEqual([id]);
  expect(idsIn(await list(drafts, asks(ben)))).toEqual([]);
});

test('a list is filtered by service, state, person and time', async () => {
  const { context, pass, list } = await asking();
  const failed = await aChange(context, { state: 'failed' });
  const elsewhere = { ...PLAN.target, id: '22222222-2222-4222-8222-222222222222', name: 'other' };
  const other = await aChange(context, { requester: cleo, plan: { target: elsewhere } });
  const found = async (over: object) => idsIn(await list(over, asks(ana)));
  expect(await found({ service: STAGING })).toEqual([failed.id]);
  expect(await found({ state: 'failed' })).toEqual([failed.id]);
  expect(await found({ by: 'me' })).toEqual([failed.id]);
  expect(await found({ which: 'all' })).toHaveLength(2);
  expect(await found({ since: '1m' })).toContain(other.id);
  pass(120_000);
  expect(await found({ since: '1m' })).toEqual([]);
  expect((await list({ by: 'zoe' }, asks(ana))).title).toBe('Which user?');
});

test('a long list has pages', async () => {
  const { context, pass, list } = await asking();
  for (let n = 0; n < 22; n += 1) {
    await aChange(context);
    pass(1_000);
  }
  const first = await list({}, asks(ben));
  expect(idsIn(first)).toHaveLength(20);
  expect(partsOf(first, 'note')).toEqual([{ kind: 'note', text: '2 older changes not shown.' }]);
  const last = idsIn(first).at(-1) ?? '';
  const older = { label: 'Older', line: `change list pending before=${last}` };
  expect(partsOf(first, 'offers')[0]?.offers[0]).toEqual(older);
  const second = await list({ which: 'pending', before: last }, asks(ben));
  expect(second.title).toBe(`2 changes waiting for approval before ${last}`);
  expect(idsIn(second)).toHaveLength(2);
});

test('a change is shown with its history, its groups and the buttons of the reader', async () => {
  const { context } = await createTestContext();
  const { id } = await aChange(context);
  const identity = await context.people.identify(ben, { fresh: true });
  const { groups = [] } = identity.ok ? identity.evidence : {};
  const evidence = { groups: groups.map((group) => ({ ...group })) };
  await moved(context, id, { type: 'rejected', by: ben, reason: 'not now', evidence });
  const { show } = queriesOf(context, 'It saved 3 credits.');
  const answer = await show(` #${id.toLowerCase()}.`, asks(ben));
  expect(linesIn(answer)).toEqual([
    `${NOON}  ${ana} requested it`,
    `${NOON}  ${ben} rejected it: not now`,
  ]);
  const offers = [{ label: 'Details', line: `change show ${id} details` }];
  expect(partsOf(answer, 'offers')).toEqual([{ kind: 'offers', offers }]);
  const evidenced = linesIn(await show(id, asks(ben), 'details')).join('\n');
  expect(evidenced).toContain(`${ana} requested service stop staging → waiting · ${id} · event `);
  expect(evidenced).toContain('      members of S-approver (3 members, read 0 s before)');
  expect(partsOf(answer, 'text')).toEqual([{ kind: 'text', text: 'It saved 3 credits.' }]);
  expect(answer.change).toMatchObject({ change: { id, state: 'rejected' } });
  expect(answer.change?.hidden).toContain('change.approve');
});

test('the buttons that a reader may press are not hidden', async () => {
  const { context } = await createTestContext();
  const { id } = await aChange(context);
  const hiddenFrom = async (by: UserId) =>
    (await queriesOf(context).show(id, asks(by))).change?.hidden ?? [];
  expect(await hiddenFrom(ben)).not.toContain('change.approve');
  expect(await hiddenFrom(ben)).toEqual(expect.arrayContaining(['change.cancel', 'change.reveal']));
  expect(await hiddenFrom(ana)).toContain('change.approve');
  expect(await hiddenFrom(ana)).not.toContain('change.cancel');
  expect(await hiddenFrom(ana)).not.toContain('change.reveal');
});

test('an unknown id offers similar ones, and never the draft of another user', async () => {
  const { context, show } = await asking();
  const pending = await aChange(context);
  const draft = await aChange(context, { state: 'draft' });
  const missing = `${pending.id.slice(0, 5)}${pending.id.endsWith('2') ? '3' : '2'}`;
  const answer = await show(missing, asks(ben));
  expect(answer.title).toBe('Change not found');
  const similar = {
    label: `${pending.id}: service stop staging`,
    line: `change show ${pending.id}`,
  };
  expect(partsOf(answer, 'offers')[0]?.offers).toContainEqual(similar);
  expect((await show(draft.id, asks(ben))).title).toBe('Change not found');
  expect((await show(draft.id, asks(ana))).title).toBe('History');
});

test('a draft that was withdrawn stays private', async () => {
  const { context, show } = await asking();
  const { id } = await aChange(context, { state: 'draft' });
  await moved(context, id, { type: 'cancelled', by: ana });
  expect((await show(id, asks(ben))).title).toBe('Change not found');
  expect(await loadChange(context.events, id)).toMatchObject({ state: 'cancelled' });
});

test('the run of a schedule, which has no card of its own, is shown to others also after it was stopped', async () => {
  const all = await createTestContext();
  const { context } = all;
  const request = { organization: ORGANIZATION, command: 'service stop', requester: ana };
  const planned = { reason: null, plan: PLAN, requires: REQUIRES };
  const drafted = draftChange({ ...request, ...planned }, NOON);
  const inherits = { confirmedAt: NOON, approvals: [], breakGlass: null };
  const { id } = await begun(context, newId(), { ...drafted, inherits });
  await moved(context, id, { type: 'stale', why: 'target-changed' });
  const { list, show } = queriesOf(context);
  expect(idsIn(await list({ which: 'all' }, asks(ben)))).toEqual([id]);
  expect((await show(id, asks(ben))).title).toBe('History');
  expect(ids((await listsOf(all, ben)).recent)).toEqual([id]);
});

test('a requester cancels by the id, and the card follows', async () => {
  const { context, woken } = await createTestContext();
  const { id } = await aChange(context);
  const answer = await queriesOf(context).cancel(id, asks(ana));
  expect([answer.title, idsIn(answer)]).toEqual(['Cancelled', [id]]);
  expect((await loaded(context, id)).cancelledBy).toBe(ana);
  expect((await eventsOf(context, `change/${id}`)).at(-1)).toMatchObject({
    type: 'cancelled',
    evidence: { roles: ['operator'] },
  });
  expect(await dueJobs(context)).toContain(`card ${id}`);
  expect(woken.count).toBe(1);
});

test('nobody else cancels, and a change that runs is not cancelled', async () => {
  const { context, cancel, show } = await asking();
  const { id } = await aChange(context);
  const running = await aChange(context, { state: 'executing' });
  expect(await cancel(id, asks(ben))).toMatchObject({
    title: 'Not cancelled',
    refused: { refusal: 'not-requester', press: { verb: 'cancel', by: ben } },
  });
  const refused = { refusal: 'already-decided' };
  expect(await cancel(running.id, asks(ana))).toMatchObject({ refused });
  expect((await loaded(context, id)).state).toBe('pending');
  expect(linesIn(await show(id, asks(ana), 'details')).join('\n')).toContain(
    `${NOON}  ${ben} was refused (not requester): cancel service stop staging · ${id}`,
  );
});

/** The policy of a context in which only viewers may list changes. */
function viewersList() {
  const { rules, ...base } = policyOf([{ allow: ['cost'], to: 'viewer' }]);
  return { ...base, rules: rules.map((rule) => ({ ...rule, commands: ['change list'] })) };
}

test('the last changes of a target are shown to users who may list changes', async () => {
  const { context, roles } = await createTestContext();
  const policy = viewersList();
  const { id } = await aChange(context, { state: 'succeeded' });
  await aChange(context, { state: 'draft' });
  const { latestOf } = queriesOf({ ...context, policy });
  expect(ids(await latestOf(PLAN.target, asks(dora)))).toEqual([id]);
  expect(await latestOf(PLAN.target, asks(ben))).toEqual([]);
  roles.set(dora, 'guest');
  expect(await latestOf(PLAN.target, asks(dora))).toEqual([]);
});

test('the open changes without drafts are shown to users who may list changes', async () => {
  const { context } = await createTestContext();
  const { id } = await aChange(context);
  await aChange(context, { state: 'draft', requester: dora });
  await aChange(context, { state: 'succeeded' });
  const { openOf } = queriesOf({ ...context, policy: viewersList() });
  const together = await Promise.all([dora, ben, dora].map((by) => openOf(asks(by))));
  expect(together.map(ids)).toEqual([[id], [], [id]]);
  await moved(context, id, { type: 'cancelled', by: ana });
  expect(await openOf(asks(dora))).toEqual([]);
});

test('the commands that a user requested most come first; without a database there are none', async () => {
  const { context } = await createTestContext();
  await aChange(context, { command: 'service start' });
  for (let n = 0; n < 2; n += 1) await aChange(context);
  await aChange(context, { command: 'service scale', requester: ben });
  expect(await queriesOf(context).frequent(ana)).toEqual(['service stop', 'service start']);
  await context.store.close();
  expect(await queriesOf(context).frequent(ana)).toEqual([]);
});

test('a time that is past is no filter by mistake', async () => {
  const { context, clock, list } = await asking();
  await aChange(context);
  clock.now = minutes(24 * 60);
  const titleOf = async (since: string) => (await list({ since }, asks(ana))).title;
  expect(await titleOf('yesterday')).toBe('1 change · since yesterday');
  expect(await titleOf('today')).toBe('Changes · since today');
  expect(await titleOf('2026-11-20')).toBe('1 change · since 2026-11-20');
});
