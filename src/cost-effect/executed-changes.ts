import type { Change, State } from '../changes/change.ts';
import { TARGET_TRAITS } from '../changes/target-kinds.ts';
import type { Day } from '../costs/calendar/day.ts';
import { changesScaling, type EffectKind } from '../intent/effect.ts';
import type { Db } from '../storage/engine/database.ts';
import { listChanges } from '../storage/tables/changes/change-lists.ts';
import type { WorkflowContext } from '../workflow/ports.ts';

/** The last changes that may have affected costs. */
export interface LastCostChanges {
  /** By service id: when its last change ran, with any outcome. */
  readonly ranAt: ReadonlyMap<string, Date>;
  /** By service id: when the last change of its size ran. */
  readonly sizedAt: ReadonlyMap<string, Date>;
}

/** The kinds of changes whose cost effect can be estimated. */
export type EstimatedKind = Exclude<EffectKind, 'create'>;

/** Returns when the last cost change of each service ran, since the given day. */
export async function lastCostChanges(
  db: Db,
  first: Day,
  commands: WorkflowContext['commands'],
): Promise<LastCostChanges> {
  const ran = await executedChanges(db, first, commands);
  const sized = ran.filter(
    (change) => estimatedKind(commands, change) === 'scale' && changesScaling(change.plan.body),
  );
  return { ranAt: latestOf(ran), sizedAt: latestOf(sized) };
}

function latestOf(changes: readonly Change[]): ReadonlyMap<string, Date> {
  const latest = new Map<string, Date>();
  for (const change of changes) {
    const at = attemptedAt(change);
    const known = latest.get(change.plan.target.id);
    if (!known || at > known) latest.set(change.plan.target.id, at);
  }
  return latest;
}

/** Returns changes that affected the costs of a service, or may have: their outcome is unknown. */
export async function executedChanges(
  db: Db,
  first: Day,
  commands: WorkflowContext['commands'],
): Promise<readonly Change[]> {
  const ended = await endedSince(db, first, ['succeeded', 'unknown']);
  return ended.filter((change) => estimatedKind(commands, change) !== null);
}

/** Returns the kind of cost effect of a change; null where it has none that can be estimated. */
export function estimatedKind(
  commands: WorkflowContext['commands'],
  { command }: Change,
): EstimatedKind | null {
  const effect = commands.get(command)?.effect ?? 'create';
  return effect === 'create' ? null : effect;
}

/** When the request was sent. An unknown outcome may be resolved much later. */
export function attemptedAt({ outcome, createdAt }: Change): Date {
  return outcome?.at ?? createdAt;
}

const PAGE = 200;

async function endedSince(db: Db, first: Day, states: readonly State[]): Promise<Change[]> {
  const filter = { states, endedSince: new Date(`${first}T00:00:00Z`), limit: PAGE };
  const found: Change[] = [];
  for (;;) {
    const last = found.at(-1);
    const page = await listChanges(db, { ...filter, ...(last && { before: last }) });
    found.push(...page);
    if (page.length < PAGE) break;
  }
  return found.filter(({ plan }) => TARGET_TRAITS[plan.target.kind].hasCosts);
}
