import { instantAt, localDay } from '../../base/time.ts';
import type { Occurrence, WeeklyPlan } from '../../base/weekly-times.ts';
import { changesElsewhere } from '../../commands/index.ts';
import { oneLineOf } from '../../domain/answer.ts';
import { type Target, targetKey } from '../../domain/change.ts';
import { gate, type Skipped } from '../../domain/gate.ts';
import { loadChange } from '../../log/old/changes.ts';
import { lockHolder } from '../../log/old/permits.ts';
import { manualChangeSince } from '../../log/old/schedules.ts';
import { currentPolicy } from './current-policy.ts';
import type { WorkflowContext } from './ports.ts';

const REASON_MAX = 100;

/**
 * Returns why an occurrence does not run, or null: it is late, a freeze holds, the service has an
 * unknown outcome, or a person changed the service on that day.
 */
export async function skipReason(
  context: WorkflowContext,
  target: Target,
  { timezone }: WeeklyPlan,
  { at }: Occurrence,
): Promise<string | null> {
  const key = targetKey(target);
  const { db } = context.database;
  const holder = await lockHolder(db, key);
  const open = holder && (await loadChange(db, holder));
  const midnight = instantAt(localDay(at, timezone), '00:00', timezone);
  const facts = {
    now: context.now(),
    at,
    policy: await currentPolicy(db, context),
    target,
    unknown: open?.state === 'unknown' ? open.id : null,
    changedBy: await manualChangeSince(db, key, midnight),
    changedElsewhere: null,
  };
  const first = gate(null, 'run', facts);
  if (first !== 'allowed') return wordsOf(first);
  const changedElsewhere = await wasChangedElsewhere(context, target.id, midnight);
  const answer = gate(null, 'run', { ...facts, changedElsewhere });
  return answer === 'allowed' ? null : wordsOf(answer);
}

function wordsOf(skipped: Skipped): string {
  switch (skipped.skips) {
    case 'late':
      return 'Signalbox could not run it within an hour';
    case 'frozen':
      return `a freeze holds (${oneLineOf(skipped.freeze.reason, REASON_MAX)})`;
    case 'outcome-unknown':
      return `the outcome of change ${skipped.change} is unknown`;
    case 'changed':
      return `a person changed the service on that day (${skipped.change})`;
    case 'changed-elsewhere':
      return 'the service was changed outside Signalbox on that day';
  }
}

/** By the activity log, where it can be read. The schedule does not depend on it. */
async function wasChangedElsewhere(
  { commandContext, now }: WorkflowContext,
  serviceId: string,
  since: Date,
): Promise<boolean> {
  const dayOf = (at: Date) => at.toISOString().slice(0, 10);
  const period = { from_date: dayOf(since), to_date: dayOf(now()) };
  const read = await commandContext().reads.cloud.activities(period, { fresh: true });
  if (!read.known) return false;
  // What the server did by itself is no decision of a person.
  return changesElsewhere(read.value, serviceId).some(
    ({ createdAt, actorType }) =>
      actorType !== 'system' && Date.parse(createdAt ?? '') >= since.getTime(),
  );
}
