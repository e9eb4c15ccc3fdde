import { traced } from '../../base/log.ts';
import type { Change, ChangeId } from '../../domain/change.ts';
import { endedAt } from '../../log/old/change-row.ts';
import { loadChange } from '../../log/old/changes.ts';
import { changesToFollow, claimDueFollowUps, insertFollowUp } from '../../log/old/follow-ups.ts';
import { lastPermitAt } from '../../log/old/permits.ts';
import { enqueue } from '../../storage/old/outbox.ts';
import { FIRST_FOLLOW_UP } from './next-follow-up.ts';
import { FOLLOW_MS, waitMs } from './pace.ts';
import type { WorkflowContext } from './ports.ts';
import { readFollowed } from './read-followed.ts';
import { closeFollowUp, recordReading } from './record-reading.ts';
import type { BackgroundLoop } from './scheduler.ts';

const AT_ONCE = 20;
/** Longer than a read and the commit of its result. */
const LEASE_MS = 30_000;

/**
 * Returns a background loop that reads the targets of sent changes until they are settled, and shows
 * what it reads. It needs the optional reads, and is not started without them. A lease in the
 * database lets one replica read each target; a change that a process left is read by another one.
 */
export function createFollowLoop(context: WorkflowContext): BackgroundLoop {
  const commands = [...context.commands].flatMap(([name, { settled }]) => (settled ? [name] : []));
  return async () => {
    const begun = await begin(context, commands);
    const lease = { owner: context.instance, now: context.now(), leaseMs: LEASE_MS };
    const ids = await context.database.transaction((tx) =>
      claimDueFollowUps(tx, { ...lease, limit: AT_ONCE }),
    );
    const shown = await Promise.all(ids.map((id) => followOne(context, id)));
    return begun + shown.filter(Boolean).length;
  };
}

/** Follows what was sent since the last pass, by any replica, or before a restart. */
async function begin(context: WorkflowContext, commands: readonly string[]): Promise<number> {
  const { database, now } = context;
  const endedSince = new Date(now().getTime() - FOLLOW_MS);
  const page = { commands, endedSince, limit: AT_ONCE };
  const ids = await changesToFollow(database.db, page);
  if (ids.length === 0) return 0;
  const at = now();
  const nextAt = new Date(at.getTime() + waitMs('succeeded', 0));
  await database.transaction(async (tx) => {
    for (const changeId of ids) {
      if (!(await insertFollowUp(tx, changeId, FIRST_FOLLOW_UP, nextAt))) continue;
      // The card no longer says that the API does not report the end.
      await enqueue(tx, { changeId, kind: 'card-repost', at });
    }
  });
  return ids.length;
}

/** Returns whether something new is shown. After an error, the lease ends and it is read again. */
async function followOne(context: WorkflowContext, id: ChangeId): Promise<boolean> {
  const work = { name: 'follow', facts: { 'signalbox.change': id } };
  try {
    return await traced(work, async () => {
      const change = await loadChange(context.database.db, id);
      return change ? readOnce(context, change) : false;
    });
  } catch (error) {
    context.log.warn({ err: error, change: id }, 'target could not be followed; retrying');
    return false;
  }
}

async function readOnce(context: WorkflowContext, change: Change): Promise<boolean> {
  const rule = context.commands.get(change.command)?.settled;
  const since = endedAt(change);
  const isCreation = rule && !rule.wasOpen;
  const isLost = isCreation && change.state === 'succeeded' && change.outcome?.how !== 'succeeded';
  const isFollowed = ['succeeded', 'unknown'].includes(change.state) && !isLost;
  // A person resolved it: nothing is left to follow, or it is unknown which object was created.
  if (!rule || !since || !isFollowed) return closeFollowUp(context, change);
  const sentAt = (await lastPermitAt(context.database.db, change.id)) ?? since;
  const askedAt = context.now();
  const { cloud } = context.commandContext().reads;
  const reading = await readFollowed(cloud, change, rule, sentAt);
  return recordReading(context, change, { rule, reading, askedAt });
}
