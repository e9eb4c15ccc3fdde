import { z } from 'zod';
import type { Change, ChangeId, Position } from '../../changes/change.ts';
import { note, traced, type Work } from '../../observability/trace.ts';
import { cardVersion, loadChange, setCard } from '../../storage/tables/changes/changes.ts';
import { enqueue, markDone, putBack, takeDue } from '../../storage/tables/queues/outbox.ts';
import { GLASS_NEWS, type Posted, type World } from '../ports.ts';
import { CARD_ANEW } from '../record.ts';
import { KEPT } from '../revert/reverts.ts';
import { askAnew, THAWED } from '../revert/unfrozen.ts';
import { deliverRedraw, deliverReport, REDRAW, REPORT } from './announcement.ts';
import { reminderAfter, reminderOf } from './reminders.ts';

const Kept = z.enum(KEPT);
const LEASE_MS = 60_000;
const AT_ONCE = 50;
const GIVE_UP_AFTER = 20;

type Row = Awaited<ReturnType<typeof takeDue>>[number];

/** A message is drawn from the change as it is stored then; what was measured is in its row. */
export async function deliver(world: World): Promise<number> {
  const lease = { owner: world.instance, now: world.now(), leaseMs: LEASE_MS, limit: AT_ONCE };
  const rows = await world.database.transaction((tx) => takeDue(tx, lease));
  const byChange = Map.groupBy(rows, ({ changeId }) => changeId ?? '');
  // The messages of one change stay in order: its card first, then the lines of its thread.
  await Promise.all([...byChange.values()].map((own) => deliverInOrder(world, own)));
  return rows.length;
}

async function deliverInOrder(world: World, rows: readonly Row[]): Promise<void> {
  const ordered = rows.toSorted((a, b) => rank(a) - rank(b) || a.id - b.id);
  for (const row of ordered) await traced(workOf(row), () => deliverOne(world, row));
}

function workOf({ kind, changeId, attempts }: Row): Work {
  const [head] = kind.split(':');
  const about = changeId ? { 'signalbox.change': changeId } : {};
  const facts = { ...about, 'signalbox.message': kind, 'signalbox.attempt': attempts };
  return { name: `deliver ${head}`, kind: 'consumer', facts };
}

function rank(row: Row): number {
  return row.kind === 'card' ? 0 : 1;
}

async function deliverOne(world: World, row: Row): Promise<void> {
  try {
    if (row.kind === REPORT) return await deliverReport(world, row);
    if (row.kind === REDRAW) return await deliverRedraw(world, row);
    const change = row.changeId ? await loadChange(world.database.db, row.changeId) : null;
    if (change) await show(world, change, row);
    const next = change && reminderAfter(row.kind, change, world.now());
    await world.database.transaction(async (tx) => {
      await markDone(tx, row.id, world.now());
      if (change && next) await enqueue(tx, { changeId: change.id, ...next });
    });
  } catch (error) {
    note({ 'error.type': 'failed' });
    world.log.warn({ err: error, change: row.changeId, kind: row.kind }, 'a message failed');
    await again(world, row);
  }
}

async function show(world: World, change: Change, row: Row): Promise<void> {
  const { kind, body } = row;
  const how = { again: row.attempts > 1 };
  if (kind === 'audit') return world.messenger.tellAudit(change, how);
  const news = GLASS_NEWS.find((each) => kind === each || kind === `audit:${each}`);
  if (news && kind !== news) return world.messenger.tellAudit(change, how, news);
  if (kind === 'card') return drawCard(world, change, how);
  if (!change.card) throw new Error('The card is not posted yet.');
  if (kind === CARD_ANEW) return world.messenger.redrawCard(change, change.card);
  if (kind === THAWED) return askAnew(world, change, change.card, how);
  if (kind === 'kept') {
    return world.messenger.tellKept(change, change.card, Kept.parse(body?.why), how);
  }
  if (news) return world.messenger.tellGlass(change, change.card, news, how);
  if (kind.startsWith('effect:')) {
    return world.messenger.tellEffect(String(body?.text), change.card, how);
  }
  // The line names the state that was entered; a later one has a line of its own.
  if (kind === `thread:${change.state}`) {
    await world.messenger.tellThread(change, change.card, how);
  }
  if (kind === `direct:${change.state}`) {
    await world.messenger.tellRequester(change, change.card, how);
  }
  const reminder = reminderOf(kind, change);
  if (reminder && reminder !== 'over') {
    await world.messenger.remind(change, change.card, reminder, how);
  }
}

async function drawCard(world: World, change: Change, how: Posted): Promise<void> {
  if (!change.card) {
    const position = await world.messenger.postCard(change, how);
    // What an earlier try had posted shows the change as it was then.
    if (how.again) await world.messenger.redrawCard(change, position);
    return drawn(world, change.id, position, change.version);
  }
  const version = await cardVersion(world.database.db, change.id);
  if (version !== null && version >= change.version) return;
  await world.messenger.redrawCard(change, change.card);
  await drawn(world, change.id, change.card, change.version);
}

async function drawn(world: World, id: ChangeId, at: Position, version: number): Promise<void> {
  await world.database.transaction((tx) => setCard(tx, id, at, version));
}

async function again(world: World, row: Row): Promise<void> {
  const now = world.now();
  const waitMs = Math.min(1_000 * 2 ** row.attempts, 300_000);
  const givesUp = row.attempts >= GIVE_UP_AFTER;
  await world.database.transaction((tx) =>
    givesUp ? markDone(tx, row.id, now) : putBack(tx, row.id, new Date(now.getTime() + waitMs)),
  );
  if (givesUp) await tellOfLoss(world, row);
}

async function tellOfLoss({ messenger, log }: World, { changeId, kind }: Row): Promise<void> {
  log.error({ change: changeId, kind }, 'a message was given up');
  const about = changeId ? ` of change ${changeId}` : '';
  const sentence = `Slack has not taken a message${about} for hours, and it is not tried again.`;
  await messenger.tellKeepers(sentence).catch((error: unknown) => {
    log.error({ err: error }, 'the keepers were not told of it either');
  });
}
