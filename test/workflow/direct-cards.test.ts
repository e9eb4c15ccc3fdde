import { expect, test } from 'vitest';
import type { Change, Position, UserId } from '../../src/domain/change.ts';
import { metaUnder } from '../../src/storage/old/meta.ts';
import { claimDueMessages, markDone } from '../../src/storage/old/outbox.ts';
import {
  deliverDirectCard,
  planDirectCards,
  pruneDirectCards,
  refreshDirectCards,
} from '../../src/workflow/old/direct-cards.ts';
import type { WorkflowContext } from '../../src/workflow/old/ports.ts';
import { ben, channel, cleo, minutes, NOON } from '../storage/example-change.ts';
import { PENDING } from './clickable.ts';
import { storedChange } from './stored-change.ts';

const COPY: Position = { channel: channel('D1'), ts: '1.1' };
const FIRST = { again: false };

/** A pending change that Ben and Cleo may approve, and what is posted of it. */
async function pendingChange(redraws: 'drawn' | 'deleted' = 'drawn') {
  const shown: string[] = [];
  const messenger = {
    postDirectCard: async (change: Change, to: UserId) => {
      shown.push(`post ${to} ${change.state}`);
      return COPY;
    },
    redrawCard: async (change: Change) => {
      shown.push(`redraw ${change.state}`);
      return redraws;
    },
    // Nothing else is called by what is tested here.
  } as unknown as WorkflowContext['messenger'];
  const directCards = { onRequest: true, of: async () => [ben, cleo] };
  const all = await storedChange({ change: PENDING, context: { messenger, directCards } });
  const { database } = all.context;
  const queued = async () => {
    const batch = { owner: 'tests', now: minutes(9_999), leaseMs: 1, limit: 50 };
    const due = await database.transaction(async (tx) => {
      const claimed = await claimDueMessages(tx, batch);
      for (const { id } of claimed) await markDone(tx, [id], NOON);
      return claimed;
    });
    return due.map(({ kind }) => kind).filter((kind) => kind.startsWith('direct'));
  };
  const copies = async () => (await metaUnder(database.db, 'direct-card:')).length;
  return { ...all, shown, queued, copies };
}

test('each approver has one copy, however often it is planned', async () => {
  const { context, change, queued, copies } = await pendingChange();
  await planDirectCards(context, change);
  expect(await queued()).toEqual([`direct-card:${ben}`, `direct-card:${cleo}`]);
  await planDirectCards(context, change);
  expect(await queued()).toEqual([]);
  expect(await copies()).toBe(2);
});

test('nothing is planned or posted for a change that was decided meanwhile', async () => {
  const { context, change, shown, copies } = await pendingChange();
  await planDirectCards(context, change);
  const decided = { ...change, state: 'approved', version: 2 } as const;
  await deliverDirectCard(context, decided, ben, FIRST);
  expect(shown).toEqual([]);
  expect(await copies()).toBe(1);
  await planDirectCards(context, { ...decided, id: change.id });
  expect(await copies()).toBe(1);
});

test('a copy is redrawn once for each state of the change', async () => {
  const { context, change, shown, queued } = await pendingChange();
  await planDirectCards(context, change);
  await deliverDirectCard(context, change, ben, FIRST);
  await deliverDirectCard(context, change, ben, FIRST);
  expect(shown).toEqual([`post ${ben} pending`]);
  await queued();
  await refreshDirectCards(context, change);
  expect(await queued()).toEqual([]);
  // Cleo's copy is not posted yet, and will show the state of that time.
  await refreshDirectCards(context, { ...change, version: change.version + 1 });
  expect(await queued()).toEqual([`direct-card:${ben}`]);
});

test('a new state is drawn on posted copies, and a deleted copy is forgotten', async () => {
  const { context, change, shown, copies } = await pendingChange('deleted');
  await planDirectCards(context, change);
  await deliverDirectCard(context, change, ben, FIRST);
  await deliverDirectCard(context, { ...change, state: 'rejected', version: 2 }, ben, FIRST);
  expect(shown).toEqual([`post ${ben} pending`, 'redraw rejected']);
  expect(await copies()).toBe(1);
});

test('a change that moved while its copy was posted is drawn again', async () => {
  const { context, change, queued } = await pendingChange();
  await planDirectCards(context, change);
  await queued();
  // What was loaded before the post is older than the stored change.
  await deliverDirectCard(context, { ...change, version: change.version - 1 }, ben, FIRST);
  expect(await queued()).toContain(`direct-card:${ben}`);
});

test('later roles are planned at their time', async () => {
  const { context, change } = await pendingChange();
  const escalation = { to: 'chief', afterMs: 3_600_000 };
  const escalating = { ...change, confirmedAt: NOON, requires: { ...change.requires, escalation } };
  const next = { changeId: change.id, kind: 'direct-cards', at: minutes(60) };
  expect(await planDirectCards(context, escalating)).toEqual(next);
  const later = { ...context, now: () => minutes(60) };
  expect(await planDirectCards(later, escalating)).toBeNull();
});

test('old copies are forgotten after 180 days', async () => {
  const { context, change, copies } = await pendingChange();
  await planDirectCards(context, change);
  const prune = (days: number) =>
    context.database.transaction((tx) => pruneDirectCards(tx, minutes(days * 1_440)));
  await prune(180);
  expect(await copies()).toBe(2);
  await prune(181);
  expect(await copies()).toBe(0);
});
