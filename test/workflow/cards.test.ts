import timers from 'node:timers/promises';
import { expect, test } from 'vitest';
import { PostRefused } from '../../src/domain/answer.ts';
import type { ChangeId } from '../../src/domain/change.ts';
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
  minutes,
  moved,
  PLAN,
  recorded,
  STAGING,
} from './context.ts';
import { endJobs, jobsFor } from './due.ts';
import { workflowWithCards } from './slack-of-cards.ts';

type World = Awaited<ReturnType<typeof workflowWithCards>>;

async function typesOf({ context }: World, id: ChangeId): Promise<readonly string[]> {
  return (await eventsOf(context, `change/${id}`)).map(({ type }) => type);
}

/** A change whose card was posted by its job. */
async function withCard(world: World, example: Parameters<typeof aChange>[1] = {}) {
  const { id } = await aChange(world.context, { ...example, hasCard: false });
  await world.run('card', id);
  return loaded(world.context, id);
}

test('a card is posted once, and where it stands is an event', async () => {
  const world = await workflowWithCards();
  const change = await withCard(world);
  expect(change.card).toEqual(world.slack.cards[0]?.at);
  await world.run('card', change.id);
  expect(world.slack.state).toMatchObject({ posts: 1, redraws: 0 });
});

test('a draft has no card, nor a change that ended as a draft', async () => {
  const world = await workflowWithCards();
  const { id } = await aChange(world.context, { state: 'draft' });
  await world.run('card', id);
  await moved(world.context, id, { type: 'cancelled', by: ana });
  await world.run('card', id);
  expect(world.slack.cards).toEqual([]);
});

test('after a lost answer the messenger looks for the card before it posts', async () => {
  const world = await workflowWithCards();
  const { id } = await aChange(world.context, { hasCard: false });
  const change = await loaded(world.context, id);
  await world.slack.messages.postCard?.(change, { again: false });
  await world.run('card', id, 2);
  expect(world.slack.cards).toHaveLength(1);
  expect((await loaded(world.context, id)).card).toEqual(world.slack.cards[0]?.at);
});

test('a card says so that was posted while another process found the one that stands', async () => {
  const standing = { channel: channel('CAPPROVALS'), ts: '1.0' };
  const at = { ...standing, ts: '2.0' };
  const world = await workflowWithCards({
    messages: {
      postCard: async ({ id }) => {
        await moved(world.context, id, { type: 'card-posted', ...standing });
        return at;
      },
    },
  });
  const { id } = await aChange(world.context, { hasCard: false });
  await world.run('card', id);
  const { card, version, hash } = await loaded(world.context, id);
  expect(card).toEqual(standing);
  expect(world.told('drawLost')).toEqual([[id, at, { version, hash, revision: 'other' }]]);
});

test('a card says that its change was lost where the log loses the confirmation during its post', async () => {
  const at = { channel: channel('CAPPROVALS'), ts: '2.0' };
  const world = await workflowWithCards({
    messages: {
      postCard: async ({ id }) => {
        await tamper(
          world.context.store,
          `delete from event where stream = 'change/${id}' and version > 1`,
        );
        return at;
      },
    },
  });
  const { context } = world;
  const { id } = await aChange(context, { state: 'draft' });
  // Another process confirms it, so that this one has read the end that is lost, and does not miss it.
  const events = await openLog(context.store, context.events.keys);
  await moved({ ...context, events }, id, { type: 'confirmed', by: ana, press: 'p1' });
  await world.run('card', id);
  expect(await loaded(context, id)).toMatchObject({ state: 'draft', card: null });
  expect(world.told('drawLost')).toEqual([[id, at, null]]);
});

test('a card is drawn until a read shows the newest event', async () => {
  const world = await workflowWithCards();
  const { id } = await withCard(world);
  await moved(world.context, id, { type: 'approved', by: ben });
  // Another process draws an older state after the first drawing.
  world.slack.state.ignoredRedraws = 1;
  expect(await world.run('card', id)).toBe('done');
  const { version, hash } = await loaded(world.context, id);
  expect(world.slack.cards[0]?.mark).toEqual({ version, hash });
  expect(world.slack.state.redraws).toBe(2);
});

test('a card that does not show its newest event is due again in some seconds', async () => {
  const world = await workflowWithCards();
  const { id } = await withCard(world);
  await moved(world.context, id, { type: 'approved', by: ben });
  world.slack.state.ignoredRedraws = 9;
  expect(await world.run('card', id)).toEqual(new Date(world.clock.now.getTime() + 5_000));
  expect(world.slack.state.redraws).toBe(3);
});

test('a card with a mark that the log does not have is not drawn over: its change ends', async () => {
  const world = await workflowWithCards();
  const { id } = await withCard(world);
  const [card] = world.slack.cards;
  if (card) card.mark = { version: 9, hash: 'x'.repeat(43) };
  expect(await world.run('card', id)).toBeInstanceOf(Date);
  expect(world.slack.state.redraws).toBe(0);
  expect(await loaded(world.context, id)).toMatchObject({ state: 'stale', stopReason: 'restored' });
  // The mark is answered now, so that the card shows the end.
  await world.run('card', id);
  expect(card).toMatchObject({ state: 'stale' });
});

test('a note that appears while a card is drawn, and that the log does not have, ends the change', async () => {
  const world: World = await workflowWithCards({
    messages: {
      redrawCard: async ({ version, hash }) => {
        const [card] = world.slack.cards;
        if (card) card.mark = { version, hash };
        card?.notes.push({ version: 9, hash: 'x'.repeat(43), nonce: 'lost' });
        return 'drawn';
      },
    },
  });
  const { id } = await withCard(world);
  await moved(world.context, id, { type: 'approved', by: ben });
  expect(await world.run('card', id)).toBeInstanceOf(Date);
  expect(await loaded(world.context, id)).toMatchObject({ state: 'stale', stopReason: 'restored' });
});

test('a card over whose newer state a late update came is drawn again', async () => {
  const world: World = await workflowWithCards({
    messages: {
      redrawCard: async (change) => {
        // Another process has decided and drawn before this update arrives.
        if (change.approvals.length === 1) {
          await moved(world.context, change.id, { type: 'rejected', by: cleo, reason: 'no' });
        }
        const [card] = world.slack.cards;
        if (card) Object.assign(card, { mark: { ...change }, state: change.state });
        return 'drawn';
      },
    },
  });
  const { id } = await withCard(world);
  await moved(world.context, id, { type: 'approved', by: ben });
  await afterDrawn(world.context, await loaded(world.context, id));
  expect(world.slack.cards[0]?.state).toBe('rejected');
});

test('a note with a mark that the log does not have ends the change as well', async () => {
  const world = await workflowWithCards();
  const { id } = await withCard(world);
  world.slack.cards[0]?.notes.push({ version: 5, hash: 'y'.repeat(43), nonce: 'lost' });
  await world.run('card', id);
  expect(await typesOf(world, id)).toEqual(expect.arrayContaining(['restored', 'stale']));
});

test('a card that was deleted while nobody has approved is posted again once', async () => {
  const world = await workflowWithCards();
  const { id } = await withCard(world);
  world.slack.cards.splice(0);
  await world.run('card', id);
  expect((await loaded(world.context, id)).card).toBeNull();
  await world.run('card', id);
  expect(world.slack.cards).toHaveLength(1);
  expect((await loaded(world.context, id)).card).toEqual(world.slack.cards[0]?.at);

  world.slack.cards.splice(0);
  await world.run('card', id);
  const stale = await loaded(world.context, id);
  expect(stale).toMatchObject({ state: 'stale', stopReason: 'card-deleted' });
  await world.run('card', id);
  expect(world.slack.cards).toEqual([]);
});

test.for([['one approval', [ben]] as const, ['all approvals', [ben, cleo]] as const])(
  'a card that was deleted after %s makes its change stale, and the requester reads it directly',
  async ([, approvers]) => {
    const world = await workflowWithCards();
    const { id } = await withCard(world);
    for (const by of approvers) await moved(world.context, id, { type: 'approved', by });
    world.slack.cards.splice(0);
    await world.run('card', id);
    const { state, stopReason, version } = await loaded(world.context, id);
    expect([state, stopReason]).toEqual(['stale', 'card-deleted']);
    await world.run('thread', `${id}/${version}`);
    await world.run('direct', `${id}/${version}`);
    expect(world.told('postThreadUpdate')).toEqual([]);
    expect(world.told('messageRequester')).toMatchObject([[{ id, card: null }, null, {}]]);
  },
);

test('a card that was deleted while its request is being sent changes nothing', async () => {
  const world = await workflowWithCards();
  const { id } = await aChange(world.context, { state: 'executing' });
  expect(await world.run('card', id)).toBe('done');
  expect((await loaded(world.context, id)).state).toBe('executing');
});

test('the deleted card of an unknown outcome is posted again, because people need its buttons', async () => {
  const world = await workflowWithCards();
  const { id } = await aChange(world.context, { state: 'unknown' });
  await world.run('card', id);
  await world.run('card', id);
  expect(world.slack.cards).toMatchObject([{ change: id, state: 'unknown' }]);
});

test('the deleted card of an ended change is not posted again', async () => {
  const world = await workflowWithCards();
  const { id } = await aChange(world.context, { state: 'succeeded' });
  await world.run('card', id);
  expect(world.slack.cards).toEqual([]);
});

test('a run stands on the card of its schedule; only an unknown outcome has a card of its own', async () => {
  const world = await workflowWithCards();
  const schedule = await withCard(world, { state: 'succeeded' });
  const timing = { startAt: null, revert: null, schedule: schedule.id };
  const run = await aChange(world.context, {
    state: 'executing',
    hasCard: false,
    plan: { timing },
  });
  await world.run('card', run.id);
  expect(world.slack.cards).toHaveLength(1);
  const lost = await aChange(world.context, { state: 'unknown', hasCard: false, plan: { timing } });
  await world.run('card', lost.id);
  expect(world.slack.cards).toMatchObject([{ change: schedule.id }, { change: lost.id }]);
});

test('the card of a schedule is drawn with its last run and the next', async () => {
  const world = await workflowWithCards();
  const target = { ...PLAN.target, kind: 'schedule' } as const;
  const { id } = await withCard(world, { state: 'succeeded', plan: { target } });
  const service = { id: STAGING.id, name: STAGING.name };
  const until = minutes(90 * 1_440);
  const times = { stop: 'weekdays 20:00', start: null, zone: 'UTC', until };
  const stream = `schedule/${id}` as const;
  const made = { type: 'created', change: id, by: ana, service, ...times } as const;
  await recorded(world.context, { stream, event: made });
  const run = await aChange(world.context, { state: 'executing', hasCard: false });
  const occurrence = minutes(-60);
  const event = { type: 'run', change: run.id, verb: 'stop', occurrence, missed: 0 } as const;
  await recorded(world.context, { stream, event });
  await world.run('card', id);
  expect(world.told('redrawCard').at(-1)?.[2]).toMatchObject({
    hasEnded: false,
    isPaused: false,
    next: { action: 'stop', at: new Date('2026-11-20T20:00:00.000Z') },
    last: {
      occurrence: { action: 'stop', at: occurrence },
      run: { id: run.id, state: 'executing' },
    },
  });
});

test('the answer to a press comes after the card shows it', async () => {
  const world = await workflowWithCards();
  const change = await withCard(world);
  const approved = await moved(world.context, change.id, { type: 'approved', by: ben });
  await afterDrawn(world.context, approved);
  expect(world.slack.cards[0]?.mark?.version).toBe(approved.version);
});

test('a card that is not posted yet is waited for, and posted by its job alone', async () => {
  const world = await workflowWithCards();
  const change = await aChange(world.context, { hasCard: false });
  const drawn = afterDrawn(world.context, change);
  await world.run('card', change.id);
  await drawn;
  expect(world.slack.cards).toHaveLength(1);
});

test('a person is not kept waiting for a card that Slack does not take', async () => {
  const world = await workflowWithCards();
  const change = await withCard(world);
  await endJobs(world.context);
  world.slack.state.isReachable = false;
  await afterDrawn(world.context, change);
  // Its job draws it, or reports why not.
  expect(await jobsFor(world.context, change.id, world.clock.now)).toEqual(['card']);
  world.slack.state.isReachable = true;
  const waiting = await aChange(world.context, { hasCard: false });
  const waits: unknown[] = [];
  const pass = async (ms?: number) => void waits.push(ms);
  replaceExport(timers, 'setTimeout', pass as typeof timers.setTimeout);
  await afterDrawn(world.context, waiting);
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
  const notices = await world.context.events.loadAll('notice', (_: string | null, event) =>
    event.type === 'noticed' ? event.text : '',
  );
  expect([...notices.values()].map(({ state }) => state)).toEqual(
    expect.arrayContaining([
      expect.stringContaining(`not taken a message for 2 minutes: card of change ${id}`),
      expect.stringContaining('Nobody sees “'),
      expect.stringContaining(`could not post a message of change ${id} (card) for 24 hours`),
    ]),
  );
  expect(notices.size).toBe(3);
});

const APPROVERS = { directCards: { onRequest: true, of: async () => [ben, cleo] } };

test('each approver has one copy, however often it is planned', async () => {
  const world = await workflowWithCards(APPROVERS);
  const { id } = await withCard(world);
  await world.run('direct-cards', id);
  const planned = (await dueJobs(world.context)).filter((job) => job.startsWith('direct-card '));
  expect(planned).toEqual([`direct-card ${id}/${ben}`, `direct-card ${id}/${cleo}`]);
  for (const by of [ben, ben, cleo]) await world.run('direct-card', `${id}/${by}`);
  const { copies } = await loaded(world.context, id);
  expect(copies.map(({ to }) => to)).toEqual([ben, cleo]);
  expect(world.slack.cards.map(({ to }) => to)).toEqual(['CAPPROVALS', `D${ben}`, `D${cleo}`]);
});

test('nothing is planned or posted for a change that was decided meanwhile', async () => {
  const world = await workflowWithCards(APPROVERS);
  const { id } = await withCard(world, { state: 'rejected' });
  expect(await world.run('direct-cards', id)).toBe('done');
  await world.run('direct-card', `${id}/${ben}`);
  expect(world.slack.cards).toHaveLength(1);
});

test('a new state is drawn on posted copies once, and a deleted copy stays away', async () => {
  const world = await workflowWithCards(APPROVERS);
  const { id } = await withCard(world);
  for (const by of [ben, cleo]) await world.run('direct-card', `${id}/${by}`);
  await moved(world.context, id, { type: 'rejected', by: ben, reason: 'not now' });
  await world.run('card', id);
  expect(await dueJobs(world.context)).toEqual(
    expect.arrayContaining([`direct-card ${id}/${ben}`, `direct-card ${id}/${cleo}`]),
  );
  world.slack.cards.pop();
  const { redraws } = world.slack.state;
  for (const by of [ben, ben, cleo]) await world.run('direct-card', `${id}/${by}`);
  expect(world.slack.cards.map(({ state }) => state)).toEqual(['rejected', 'rejected']);
  expect(world.slack.state.redraws).toBe(redraws + 1);
});

test('a copy with a mark that the log does not have ends the change', async () => {
  const world = await workflowWithCards(APPROVERS);
  const { id } = await withCard(world);
  await world.run('direct-card', `${id}/${ben}`);
  const copy = world.slack.cards.at(-1);
  if (copy) copy.mark = { version: 7, hash: 'z'.repeat(43) };
  await moved(world.context, id, { type: 'approved', by: cleo });
  await world.run('direct-card', `${id}/${ben}`);
  expect(await loaded(world.context, id)).toMatchObject({ state: 'stale', stopReason: 'restored' });
});

test('later roles are planned at their time', async () => {
  const world = await workflowWithCards(APPROVERS);
  const escalation = { to: 'chief', afterMs: 3_600_000 };
  const { id, confirmedAt } = await withCard(world, { requires: { escalation } });
  const at = new Date((confirmedAt?.getTime() ?? 0) + 3_600_000);
  expect(await world.run('direct-cards', id)).toEqual(at);
  world.clock.now = at;
  expect(await world.run('direct-cards', id)).toBe('done');
});

test('of a card that Slack refuses for good requester and operators read why, once, and approvers get it directly', async () => {
  const of = async () => [ben, cleo];
  const refusal = new PostRefused('the channel is archived (is_archived)', null, null);
  const world = await workflowWithCards({
    directCards: { onRequest: false, of },
    messages: { postCard: () => Promise.reject(refusal) },
  });
  const { id } = await aChange(world.context, { hasCard: false });
  await endJobs(world.context);
  expect(await world.run('direct-cards', id)).toBe('done');
  for (let tries = 0; tries < 2; tries += 1) expect(await world.run('card', id)).toBe('done');
  const due = await dueJobs(world.context);
  expect(due.filter((job) => job.startsWith('direct-card'))).toEqual([
    `direct-card ${id}/${ben}`,
    `direct-card ${id}/${cleo}`,
  ]);
  for (const job of due) await world.run(...(job.split(' ') as [string, string]));
  expect(world.told('notifyOperators').map(([text]) => text)).toEqual([
    expect.stringContaining(`${id} could not be posted: the channel is archived (is_archived).`),
  ]);
  expect(world.told('messageUser')).toMatchObject([[ana, { title: `Change ${id}` }]]);
  expect(world.slack.cards.map(({ to }) => to)).toEqual([`D${ben}`, `D${cleo}`]);
});

test('at a rate limit a message waits for the time that Slack names, and is late meanwhile', async () => {
  const limited = new PostRefused('Slack limits the rate of messages', 40_000, null);
  const world = await workflowWithCards({ messages: { postCard: () => Promise.reject(limited) } });
  const { id } = await aChange(world.context, { hasCard: false });
  const now = world.clock.now.getTime();
  expect(await world.run('card', id)).toEqual({ waitsUntil: new Date(now + 40_000) });
});
