/** The changes of Signalbox that can explain costs. */
import type { JsonObject } from '../base/text.ts';
import { addDays, type Day, dayOf } from '../base/time.ts';
import type { Change } from '../domain/change.ts';
import { type Log, listChanges } from '../log/index.ts';
import type { AppliedChange } from '../maths/anomalies.ts';
import { type Scaling, scalingOf } from '../maths/effect.ts';

/** A shift is a new level after seven days; some more for days without data. */
const EXPLAINING_DAYS = 14;
const MOST = 200;

/** The changes that were sent in the last two weeks and affect the costs of a service. */
export async function appliedChanges(events: Log, today: Day): Promise<readonly AppliedChange[]> {
  const endedSince = new Date(`${addDays(today, -EXPLAINING_DAYS)}T00:00:00Z`);
  const filter = { states: ['succeeded', 'unknown'], endedSince, limit: MOST } as const;
  return (await listChanges(events, filter)).flatMap(appliedChange);
}

interface Effect {
  readonly what: string;
  readonly direction: (before: Scaling | null, after: Scaling | null) => AppliedChange['direction'];
}

const EFFECTS: ReadonlyMap<string, Effect> = new Map([
  ['service stop', { what: 'stopped', direction: () => 'down' }],
  ['service start', { what: 'started', direction: () => 'up' }],
  ['service create', { what: 'created', direction: () => 'up' }],
  ['service scale', { what: 'scaled', direction: scaledTo }],
]);

function appliedChange({ id, command, plan, outcome }: Change): readonly AppliedChange[] {
  const effect = EFFECTS.get(command);
  if (!effect || !outcome || outcome.how === 'failed') return [];
  const created = outcome.how === 'succeeded' ? outcome.createdId : undefined;
  const sizes = sizesOf(plan);
  return [
    {
      id,
      serviceId: created ?? plan.target.id,
      service: plan.target.name,
      what: effect.what,
      day: dayOf(outcome.at),
      direction: effect.direction(sizes.before, sizes.after),
      ...sizes,
      isUnknown: outcome.how === 'unknown',
    },
  ];
}

function sizesOf({ before, body }: Change['plan']) {
  const seen: JsonObject | undefined = before?.fields;
  return { before: scalingOf(seen), after: scalingOf({ ...seen, ...body }) };
}

/** Either way where the sizes are not known, or where one limit rises and another falls. */
function scaledTo(before: Scaling | null, after: Scaling | null): AppliedChange['direction'] {
  if (!before || !after) return 'either';
  const changes = [
    after.minReplicaMemoryGb * after.numReplicas - before.minReplicaMemoryGb * before.numReplicas,
    after.maxReplicaMemoryGb * after.numReplicas - before.maxReplicaMemoryGb * before.numReplicas,
    Number(before.idleScaling) - Number(after.idleScaling),
  ];
  if (changes.every((one) => one >= 0)) return 'up';
  return changes.every((one) => one <= 0) ? 'down' : 'either';
}
