import timers from 'node:timers/promises';
import { expect, test } from 'vitest';
import { PostRefused } from '../../src/domain/answer.ts';
import type { Change, State, UserId } from '../../src/domain/change.ts';
import { openLog } from '../../src/log/index.ts';
import { afterDrawn } from '../../src/workflow/cards.ts';
import { redrawOpen } from '../../src/workflow/moves.ts';
import { reportLate } from '../../src/workflow/show.ts';
import { replaceExport } from '../harness/replace-export.ts';
import { tamper } from '../log/logs.ts';
import {
  aChange,
  ana,
  ben,
  channel,
  cleo,
  dueJobs,
  eventsOf,
  loaded,
  type Movement,
  minutes,
  moved,
  notices,
  PLAN,
  recorded,
  STAGING,
} from './context.ts';
import { endJobs, jobsFor } from './due.ts';
import { workflowWithCards } from './slack-of-cards.ts';

type World = Awaited<ReturnType<typeof workflowWithCards>>;
type Options = NonNullable<Parameters<typeof workflowWithCards>[0]>;

/** A change, and the job of its card, which was not posted unless the example says so. */
async function change(example: Parameters<typeof aChange>[1] = {}, over: Options = {}) {
  const world: World = await workflowWithCards(over);
  const { context, run } = world;
  const { id } = await aChange(context, { hasCard: false, ...example });
  return {
    ...{ ...world, id, card: () => world.slack.cards[0] },
    draw: (attempts?: number) => run('card', id, attempts),
    current: () => loaded(context, id),
    move: (...events: readonly Movement[]) => moved(context, id, ...events),
  };
}

/** A change whose card was posted by its job. */
async function withCard(...given: Parameters<typeof change>) {
  const all = await change(...given);
  await all.draw();
  return all;
}

const RESTORED = { state: 'stale', stopReason: 'restored' };
const LOST = { version: 9, hash: 'x'.repeat(43) };

test('a card is posted once, and where it stands is an event', async () => {
  const { slack, draw, card, current } = await withCard();
  expect((await current()).card).toEqual(card()?.at);
  await draw();
  expect(slack.state).toMatchObject({ posts: 1, redraws: 0 });
});

test('a draft has no card, nor a change that ended as a draft', async () => {
  const { slack, draw, move } = await withCard({ state: 'draft' });
  await move({ type: 'cancelled', by: ana });
  await draw();
  expect(slack.cards).toEqual([]);
});

test('after a lost answer the messenger looks for the card before it posts', async () => {
  const { slack, draw, current } = await change();
  await slack.messages.postCard?.(await current(), { again: false });
  await draw(2);
  expect(slack.cards).toHaveLength(1);
  expect((await current()).card).toEqual(slack.cards[0]?.at);
});

const STANDING = { channel: channel('CAPPROVALS'), ts: '1.0' };
const SECOND = { ...STANDING, ts: '2.0' };

test('a card says so that was posted while another process found the one that stands', async () => {
  const postCard = async () => {
    await all.move({ type: 'card-posted', ...STANDING });
    return SECOND;
  };
  const all: Awaited<ReturnType<typeof change>> = await change({}, { messages: { postCard } });
  await all.draw();
  const { card, version, hash } = await all.current();
  expect(card).toEqual(STANDING);
  expect(all.told('drawLost')).toEqual([[all.id, SECOND, { version, hash, revision: 'other' }]]);
});

test('a card says that its change was lost where the log loses the confirmation during its post', async () => {
  const postCard = async () => {
    const lost = `delete from event where stream = 'change/${all.id}' and version > 1`;
    await tamper(all.context.store, lost);
    return SECOND;
  };
  const messages = { postCard };
  const all: Awaited<ReturnType<typeof change>> = await change({ state: 'draft' }, { messages });
  const { context, id, told } = all;
  // Another process confirms it, so that this one has read the end that is lost, and does not miss it.
  const events = await openLog(context.store, context.events.keys);
  await moved({ ...context, events }, id, { type: 'confirmed', by: ana, press: 'p1' });
  await all.draw();
  expect(await all.current()).toMatchObject({ state: 'draft', card: null });
  expect(told('drawLost')).toEqual([[id, SECOND, null]]);
});

test('a card is drawn until a read shows the newest event', async () => {
  const { slack, draw, card, current, move } = await withCard();
  await move({ type: 'approved', by: ben });
  // Another process draws an older state after the first drawing.
  slack.state.ignoredRedraws = 1;
  expect(await draw()).toBe('done');
  const { version, hash } = await current();
  expect(card()?.mark).toEqual({ version, hash });
  expect(slack.state.redraws).toBe(2);
});

test('a card that does not show its newest event is due again in some seconds', async () => {
  const { slack, clock, draw, move } = await withCard();
  await move({ type: 'approved', by: ben });
  slack.state.ignoredRedraws = 9;
  expect(await draw()).toEqual(new Date(clock.now.getTime() + 5_000));
  expect(slack.state.redraws).toBe(3);
});

test('a card with a mark that the log does not have is not drawn over: its change ends', async () => {
  const { slack, draw, card, current } = await withCard();
  Object.assign(card() ?? {}, { mark: LOST });
  expect(await draw()).toBeInstanceOf(Date);
  expect(slack.state.redraws).toBe(0);
  expect(await current()).toMatchObject(RESTORED);
  // The mark is answered now, so that the card shows the end.
  await draw();
  expect(card()).toMatchObject({ state: 'stale' });
});

test('a note that appears while a card is drawn, and that the log does not have, ends the change', async () => {
  const redrawCard = async ({ version, hash }: Change) => {
    Object.assign(all.card() ?? {}, { mark: { version, hash } });
    all.card()?.notes.push({ ...LOST, nonce: 'lost' });
    return 'drawn' as const;
  };
  const all: Awaited<ReturnType<typeof change>> = await withCard({}, { messages: { redrawCard } });
  await all.move({ type: 'approved', by: ben });
  expect(await all.draw()).toBeInstanceOf(Date);
  expect(await all.current()).toMatchObject(RESTORED);
});

test('a card over whose newer state a late update came is drawn again', async () => {
  const redrawCard = async (shown: Change) => {
    // Another process has decided and drawn before this update arrives.
    if (shown.approvals.length === 1) await all.move({ type: 'rejected', by: cleo, reason: 'no' });
    Object.assign(all.card() ?? {}, { mark: { ...shown }, state: shown.state });
    return 'drawn' as const;
  };
  const all: Awaited<ReturnType<typeof change>> = await withCard({}, { messages: { redrawCard } });
  await afterDrawn(all.context, await all.move({ type: 'approved', by: ben }));
  expect(all.card()?.state).toBe('rejected');
});

test('a note with a mark that the log does not have ends the change as well', async () => {
  const { context, id, draw, card, current } = await withCard();
  card()?.notes.push({ ...LOST, nonce: 'lost' });
  await draw();
  expect(await current()).toMatchObject(RESTORED);
  const types = (await eventsOf(context, `change/${id}`)).map(({ type }) => type);
  expect(types).toContain('restored');
});

test('a card that was deleted while nobody has approved is posted again once', async () => {
  const { slack, draw, card, current } = await withCard();
  slack.cards.splice(0);
  await draw();
  expect((await current()).card).toBeNull();
  await draw();
  expect(slack.cards).toHaveLength(1);
  expect((await current()).card).toEqual(card()?.at);

  slack.cards.splice(0);
  await draw();
  expect(await current()).toMatchObject({ state: 'stale', stopReason: 'card-deleted' });
  await draw();
  expect(slack.cards).toEqual([]);
});

test.for([['one approval', [ben]] as const, ['all approvals', [ben, cleo]] as const])(
  'a card that was deleted after %s makes its change stale, and the requester reads it directly',
  async ([, approvers]) => {
    const { slack, id, run, draw, current, move, told } = await withCard();
    for (const by of approvers) await move({ type: 'approved', by });
    slack.cards.splice(0);
    await draw();
    const { state, stopReason, version } = await current();
    expect([state, stopReason]).toEqual(['stale', 'card-deleted']);
    await run('thread', `${id}/${version}`);
    await run('direct', `${id}/${version}`);
    expect(told('postThreadUpdate')).toEqual([]);
    expect(told('messageRequester')).toMatchObject([[{ id, card: null }, null, {}]]);
  },
);

test.for([
  ['while its request is being sent changes nothing', 'executing', []],
  ['of an unknown outcome is posted again: people need its buttons', 'unknown', ['unknown']],
  ['of an ended change is not posted again', 'succeeded', []],
] as const)('a deleted card %s', async ([, state, posted]) => {
  const { slack, draw, current } = await change({ state, hasCard: true });
  expect(await draw()).toBe('done');
  await draw();
  expect((await current()).state).toBe(state);
  expect(slack.cards.map((each) => each.state)).toEqual(posted);
});

test('a run stands on the card of its schedule; only an unknown outcome has a card of its own', async () => {
  const { slack, id, context, run } = await withCard({ state: 'succeeded' });
  const timing = { startAt: null, revert: null, schedule: id };
  const runIn = (state: State) => aChange(context, { state, hasCard: false, plan: { timing } });
  await run('card', (await runIn('executing')).id);
  expect(slack.cards).toHaveLength(1);
  const lost = await runIn('unknown');
  await run('card', lost.id);
  expect(slack.cards).toMatchObject([{ change: id }, { change: lost.id }]);
});

test('the card of a schedule is drawn with its last run and the next', async () => {
  const target = { ...PLAN.target, kind: 'schedule' } as const;
  const { id, context, draw, told } = await withCard({ state: 'succeeded', plan: { target } });
  const service = { id: STAGING.id, name: STAGING.name };
  const until = minutes(90 * 1_440);
  const times = { stop: 'weekdays 20:00', start: null, zone: 'UTC', until };
  const stream = `schedule/${id}` as const;
  const made = { type: 'created', change: id, by: ana, service, ...times } as const;
  const run = await aChange(context, { state: 'executing', hasCard: false });
  const occurrence = minutes(-60);
  const event = { type: 'run', change: run.id, verb: 'stop', occurrence, missed: 0 } as const;
  await recorded(context, { stream, event: made }, { stream, event });
  await draw();
  expect(told('redrawCard').at(-1)?.[2]).toMatchObject({
    ...{ hasEnded: false, isPaused: false },
    next: { action: 'stop', at: new Date('2026-11-20T20:00:00.000Z') },
    last: {
      occurrence: { action: 'stop', at: occurrence },
      run: { id: run.id, state: 'executing' },
    },
  });
});

test('the answer to a press comes after the card shows it', async () => {
  const { context, card, move } = await withCard();
  const approved = await move({ type: 'approved', by: ben });
  await afterDrawn(context, approved);
  expect(card()?.mark?.version).toBe(approved.version);
});

test('a card that is not posted yet is waited for, and posted by its job alone', async () => {
  const { context, slack, draw, current } = await change();
  const drawn = afterDrawn(context, await current());
  await draw();
  await drawn;
  expect(slack.cards).toHaveLength(1);
});

test('a person is not kept waiting for a card that Slack does not take', async () => {
  const { context, slack, clock, id, current } = await withCard();
  await endJobs(context);
  slack.state.isReachable = false;
  await afterDrawn(context, await current());
  // Its job draws it, or reports why not.
  expect(await jobsFor(context, id, clock.now)).toEqual(['card']);
  const waiting = await aChange(context, { hasCard: false });
  const waits: unknown[] = [];
  const pass = async (ms?: number) => void waits.push(ms);
  replaceExport(timers, 'setTimeout', pass as typeof timers.setTimeout);
  await afterDrawn(context, waiting);
  expect(waits[0]).toBe(3_000);
});

test('the cards of all open changes are looked at again, one after another', async () => {
  const world = await workflowWithCards();
  const open = await aChange(world.context);
  const other = await aChange(world.context, { state: 'unknown' });
  await aChange(world.context, { state: 'draft' });
  await aChange(world.context, { state: 'rejected' });
  await endJobs(world.context);
  await redrawOpen(world.context);
  const due = await dueJobs(world.context);
  expect(due).toHaveLength(2);
  expect(due).toEqual(expect.arrayContaining([`card ${open.id}`, `card ${other.id}`]));
});

test('a card that is late is reported to requester and operators once, and a day ends the tries', async () => {
  const world = await workflowWithCards();
  const { id } = await aChange(world.context, { hasCard: false });
  for (const kind of ['notice', 'card', 'thread', 'card'])
    await reportLate(world.context, { kind, key: id });
  await world.kinds.card?.giveUp?.(id);
  const told = await notices(world.context);
  expect(told.map(({ text }) => text)).toEqual(
    expect.arrayContaining([
      expect.stringContaining(`not taken a message for 2 minutes: card of change ${id}`),
      expect.stringContaining('Nobody sees “'),
      expect.stringContaining(`could not post a message of change ${id} (card) for 24 hours`),
    ]),
  );
  expect(told).toHaveLength(3);
});

const APPROVERS: Options = { directCards: { onRequest: true, of: async () => [ben, cleo] } };

/** A change whose approvers get copies of its card, and the jobs of these copies. */
async function withCopies(example: Parameters<typeof change>[0] = {}, over = APPROVERS) {
  const all = await withCard(example, over);
  const { id, context, run } = all;
  return {
    ...all,
    jobs: [`direct-card ${id}/${ben}`, `direct-card ${id}/${cleo}`],
    plan: () => run('direct-cards', id),
    planned: async () => (await dueJobs(context)).filter((job) => job.startsWith('direct-card ')),
    copy: async (...users: readonly UserId[]) => {
      for (const by of users) await run('direct-card', `${id}/${by}`);
    },
    places: () => all.slack.cards.map(({ to }) => to),
  };
}

test('each approver has one copy, however often it is planned', async () => {
  const { plan, planned, jobs, copy, places, current } = await withCopies();
  await plan();
  expect(await planned()).toEqual(jobs);
  await copy(ben, ben, cleo);
  expect((await current()).copies.map(({ to }) => to)).toEqual([ben, cleo]);
  expect(places()).toEqual(['CAPPROVALS', `D${ben}`, `D${cleo}`]);
});

test('nothing is planned or posted for a change that was decided meanwhile', async () => {
  const { plan, copy, places } = await withCopies({ state: 'rejected' });
  expect(await plan()).toBe('done');
  await copy(ben);
  expect(places()).toEqual(['CAPPROVALS']);
});

test('a new state is drawn on posted copies once, and a deleted copy stays away', async () => {
  const { slack, planned, jobs, copy, draw, move } = await withCopies();
  await copy(ben, cleo);
  await move({ type: 'rejected', by: ben, reason: 'not now' });
  await draw();
  expect(await planned()).toEqual(jobs);
  slack.cards.pop();
  const { redraws } = slack.state;
  await copy(ben, ben, cleo);
  expect(slack.cards.map(({ state }) => state)).toEqual(['rejected', 'rejected']);
  expect(slack.state.redraws).toBe(redraws + 1);
});

test('a copy with a mark that the log does not have ends the change', async () => {
  const { slack, copy, move, current } = await withCopies();
  await copy(ben);
  Object.assign(slack.cards.at(-1) ?? {}, { mark: LOST });
  await move({ type: 'approved', by: cleo });
  await copy(ben);
  expect(await current()).toMatchObject(RESTORED);
});

test('later roles are planned at their time', async () => {
  const escalation = { to: 'chief', afterMs: 3_600_000 };
  const { clock, plan } = await withCopies({ requires: { escalation } });
  expect(await plan()).toEqual(minutes(60));
  clock.now = minutes(60);
  expect(await plan()).toBe('done');
});

test('of a card that Slack refuses for good requester and operators read why, once, and approvers get it directly', async () => {
  const refusal = new PostRefused('the channel is archived (is_archived)', null, null);
  const { context, id, run, told, places, plan, draw, jobs, planned } = await withCopies(
    {},
    {
      directCards: { onRequest: false, of: async () => [ben, cleo] },
      messages: { postCard: () => Promise.reject(refusal) },
    },
  );
  expect(await plan()).toBe('done');
  expect(await draw()).toBe('done');
  expect(await planned()).toEqual(jobs);
  const due = (await dueJobs(context)).filter((job) => /^(direct-card|notice) /.test(job));
  for (const job of due) await run(...(job.split(' ') as [string, string]));
  expect(told('notifyOperators').map(([text]) => text)).toEqual([
    expect.stringContaining(`${id} could not be posted: the channel is archived (is_archived).`),
  ]);
  expect(told('messageUser')).toMatchObject([[ana, { title: `Change ${id}` }]]);
  expect(places()).toEqual([`D${ben}`, `D${cleo}`]);
});

test('at a rate limit a message waits for the time that Slack names, and is late meanwhile', async () => {
  const limited = new PostRefused('Slack limits the rate of messages', 40_000, null);
  const postCard = () => Promise.reject(limited);
  const { clock, draw } = await change({}, { messages: { postCard } });
  expect(await draw()).toEqual({ waitsUntil: new Date(clock.now.getTime() + 40_000) });
});
