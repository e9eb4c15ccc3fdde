import { expect, test } from 'vitest';
import type { Change, ChangeId, Position } from '../../src/domain/change.ts';
import { loadChange, settingCard } from '../../src/log/old/changes.ts';
import { enqueue } from '../../src/storage/old/outbox.ts';
import type { OutboxMessage } from '../../src/storage/old/outbox-message.ts';
import { runTogether } from '../../src/storage/old/together.ts';
import { deliver } from '../../src/workflow/old/deliver.ts';
import { workflowJobs } from '../../src/workflow/old/maintenance.ts';
import type { Messenger, PostAttempt } from '../../src/workflow/old/messenger-port.ts';
import type { WorkflowContext } from '../../src/workflow/old/ports.ts';
import { aChange, channel, elsewhere, storedWithTrail } from '../storage/example-change.ts';
import { createTestContext } from './context.ts';
import { ignoredMeasures } from './ignored-measures.ts';

const MINUTE_MS = 60_000;

/** A Slack with cards and threads, which can be unreachable, and whose messages can be deleted. */
function fakeSlack() {
  const state = { reachable: true, calls: 0, cardCalls: 0 };
  const cards: { change: ChangeId; at: Position }[] = [];
  const posts: string[] = [];
  const call = () => {
    state.calls += 1;
    if (!state.reachable) throw new Error('ECONNREFUSED');
  };
  const cardOf = ({ ts }: Position) => cards.find(({ at }) => at.ts === ts);
  const messenger: Partial<Messenger> = {
    postCard: async (change: Change, { again }: PostAttempt) => {
      state.cardCalls += 1;
      call();
      const earlier = again ? cards.find((card) => card.change === change.id) : undefined;
      if (earlier) return earlier.at;
      const at = { channel: channel('CCARDS'), ts: `${state.calls}.0` };
      cards.push({ change: change.id, at });
      return at;
    },
    redrawCard: async (_change, at) => {
      call();
      return cardOf(at) ? 'drawn' : 'deleted';
    },
    postThreadUpdate: async (_change, at) => {
      call();
      if (!cardOf(at)) throw new Error('thread_not_found');
      posts.push(`thread of ${at.ts}`);
    },
    notifyOperators: async (sentence) => {
      call();
      posts.push(sentence);
    },
  };
  // These tests use no other call.
  return { state, cards, posts, messenger: messenger as Messenger };
}

async function started(...changes: readonly Change[]) {
  const { context, clock } = await createTestContext();
  const slack = fakeSlack();
  const lost: string[] = [];
  const own: WorkflowContext = {
    ...context,
    messenger: slack.messenger,
    measures: { ...ignoredMeasures, messageLost: (kind) => void lost.push(kind) },
  };
  await storedWithTrail(context.database, ...changes);
  const send = (message: OutboxMessage) =>
    context.database.transaction((tx) => enqueue(tx, { ...message, at: clock.now }));
  /** Runs the delivery loop every 10 s for this long, or every minute for hours. */
  const pass = async (minutes: number) => {
    const end = clock.now.getTime() + minutes * MINUTE_MS;
    const stepMs = minutes > 120 ? MINUTE_MS : 10_000;
    do {
      clock.now = new Date(Math.min(clock.now.getTime() + stepMs, end));
      await deliver(own);
    } while (clock.now.getTime() < end);
  };
  const runJob = (name: string) =>
    workflowJobs(own)
      .find((job) => job.name === name)
      ?.work();
  return { context: own, clock, slack, lost, send, pass, runJob };
}

test('when Slack is unreachable for 90 minutes no message is lost', async () => {
  const change = aChange();
  const { slack, send, pass, lost } = await started(change);
  slack.state.reachable = false;
  await send({ changeId: change.id, kind: 'card' });
  await send({ changeId: change.id, kind: 'thread', state: 'pending' });
  await pass(90);
  slack.state.reachable = true;
  await pass(6);
  expect(slack.cards).toHaveLength(1);
  expect(slack.posts).toEqual([
    expect.stringContaining(`card of change ${change.id} could not be posted or updated for an`),
    `thread of ${slack.cards[0]?.at.ts}`,
  ]);
  expect(lost).toEqual([]);
});

test('a message is given up after 24 hours, counted, and reported to the operators', async () => {
  const change = aChange();
  const { context, slack, send, pass, lost } = await started(change);
  slack.state.reachable = false;
  await send({ changeId: change.id, kind: 'card' });
  await pass(23.9 * 60);
  const waiting = context.database.db
    .selectFrom('outbox')
    .select('kind')
    .where('done_at', 'is', null);
  expect([lost, await waiting.execute()]).toEqual([[], [{ kind: 'card' }, { kind: 'notice' }]]);
  expect(slack.state.cardCalls).toBeLessThan(320);
  await pass(12);
  expect([lost, await waiting.execute()]).toEqual([
    ['card'],
    [{ kind: 'notice' }, { kind: 'notice' }],
  ]);

  slack.state.reachable = true;
  await pass(6);
  expect(slack.cards).toEqual([]);
  expect(slack.posts.toSorted()).toEqual([
    expect.stringContaining(`a message of change ${change.id} (card) for 24 hours`),
    expect.stringContaining('for an hour'),
  ]);
});

test('a notice to the operators that is given up is counted and not reported again', async () => {
  const { context, slack, send, pass, lost } = await started();
  slack.state.reachable = false;
  await send({ kind: 'notice', body: { to: null, title: 'Notice', text: 'The trail is broken.' } });
  await pass(24 * 60 + 6);
  expect(lost).toEqual(['notice']);
  slack.state.reachable = true;
  await pass(60);
  expect(slack.posts).toEqual([]);
  const rows = await context.database.db.selectFrom('outbox').select('kind').execute();
  expect(rows).toHaveLength(1);
});

test('an open change without a card and without a waiting message gets its card', async () => {
  const lost = aChange();
  const [draft, ended, waits] = [
    elsewhere({ state: 'draft' }),
    elsewhere({ state: 'rejected' }),
    elsewhere(),
  ];
  const { context, slack, send, pass, runJob } = await started(lost, draft, ended, waits);
  slack.state.reachable = false;
  await send({ changeId: waits.id, kind: 'card' });
  await pass(1);
  slack.state.reachable = true;
  await runJob('check cards');
  const rows = await context.database.db.selectFrom('outbox').selectAll().execute();
  expect(rows.filter(({ change_id }) => change_id === waits.id)).toHaveLength(1);
  await pass(6);
  expect(new Set(slack.cards.map(({ change }) => change))).toEqual(new Set([lost.id, waits.id]));
  await runJob('check cards');
  await pass(6);
  expect(slack.cards).toHaveLength(2);
});

test('the repeated post of a card looks for an earlier card first', async () => {
  const change = aChange();
  const { slack, pass, runJob } = await started(change);
  const at = { channel: channel('CCARDS'), ts: '7.0' };
  slack.cards.push({ change: change.id, at });
  await runJob('check cards');
  await pass(1);
  expect(slack.cards).toHaveLength(1);
});

test('a deleted card of an open change is posted again once, and its thread continues', async () => {
  const change = aChange();
  const { context, slack, send, pass, runJob } = await started(change);
  await send({ changeId: change.id, kind: 'card' });
  await pass(1);
  slack.cards.splice(0);
  await send({ changeId: change.id, kind: 'thread', state: 'pending' });
  await runJob('check cards');
  await pass(6);
  expect(slack.cards).toHaveLength(1);
  const { card } = (await loadChange(context.database.db, change.id)) ?? {};
  expect(card).toEqual(slack.cards[0]?.at);
  expect(slack.posts).toEqual([`thread of ${card?.ts}`]);
  await runJob('check cards');
  await pass(6);
  expect(slack.cards).toHaveLength(1);
});

test('a deleted card is posted again when its change ends', async () => {
  const change = aChange();
  const { context, slack, send, pass } = await started(change);
  await send({ changeId: change.id, kind: 'card' });
  await pass(1);
  slack.cards.splice(0);
  const end = { state: 'rejected', version: 2 } as const;
  await context.database.transaction((tx) => tx.updateTable('change').set(end).execute());
  await send({ changeId: change.id, kind: 'card' });
  await send({ changeId: change.id, kind: 'thread', state: 'rejected' });
  await pass(1);
  expect(slack.cards).toHaveLength(1);
  expect(slack.posts).toEqual([`thread of ${slack.cards[0]?.at.ts}`]);
});

test('a deleted card of an ended change is not posted again by a redraw', async () => {
  const change = aChange({ state: 'rejected' });
  const { slack, send, pass } = await started(change);
  await send({ changeId: change.id, kind: 'card' });
  await pass(1);
  slack.cards.splice(0);
  await send({ changeId: change.id, kind: 'card-repost' });
  await pass(1);
  expect(slack.cards).toEqual([]);
});

test('no message of a long thread is posted twice while it takes longer than the lease', async () => {
  const change = aChange();
  const { context, clock, send } = await started(change);
  await context.database.transaction((tx) =>
    runTogether(tx, [settingCard(tx, change.id, { channel: channel('CCARDS'), ts: '1.0' }, 1)]),
  );
  const posts: string[] = [];
  const other: WorkflowContext = { ...context, instance: 'other replica' };
  // Each post takes 25 s of the lease of 60 s; another replica looks for work meanwhile.
  const postThreadNote: Messenger['postThreadNote'] = async (text) => {
    posts.push(text);
    clock.now = new Date(clock.now.getTime() + 25_000);
    await deliver({ ...other, messenger: { ...context.messenger, postThreadNote: duplicate } });
  };
  const duplicate: Messenger['postThreadNote'] = async (text) => void posts.push(`again: ${text}`);
  for (let days = 1; days <= 8; days += 1) {
    await send({
      changeId: change.id,
      kind: 'schedule-note',
      key: `${days}`,
      text: `after ${days} days`,
    });
  }
  await deliver({ ...context, messenger: { ...context.messenger, postThreadNote } });
  expect(posts).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((days) => `after ${days} days`));
});

test('a message that another replica took over after a pause is left to that replica', async () => {
  const change = aChange();
  const { context, clock, send } = await started(change);
  await context.database.transaction((tx) =>
    runTogether(tx, [settingCard(tx, change.id, { channel: channel('CCARDS'), ts: '1.0' }, 1)]),
  );
  const posts: string[] = [];
  const by = (who: string) => async (text: string) => void posts.push(`${who}: ${text}`);
  const other: WorkflowContext = {
    ...context,
    instance: 'other replica',
    messenger: { ...context.messenger, postThreadNote: by('other') },
  };
  const paused: Messenger['postThreadNote'] = async (text) => {
    await by('first')(text);
    clock.now = new Date(clock.now.getTime() + 61_000);
    await deliver(other);
  };
  for (const days of [1, 2]) {
    await send({
      changeId: change.id,
      kind: 'schedule-note',
      key: `${days}`,
      text: `after ${days} days`,
    });
  }
  await deliver({ ...context, messenger: { ...context.messenger, postThreadNote: paused } });
  expect(posts.filter((post) => post.endsWith('after 2 days'))).toEqual(['other: after 2 days']);
});
