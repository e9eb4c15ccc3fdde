import type { Change, State } from '../changes/change.ts';
import type { Day } from '../costs/calendar/day.ts';
import { movesBounds } from '../intent/effect.ts';
import type { Db } from '../storage/engine/database.ts';
import { listChanges } from '../storage/tables/changes/change-lists.ts';
import type { WorkflowContext } from '../workflow/ports.ts';
import type { EstimatedKind, LastMoved } from './estimated.ts';

/** When the costs of each service were last moved, or may have been, from the first day on. */
export async function lastMoved(
  db: Db,
  first: Day,
  commands: WorkflowContext['commands'],
): Promise<LastMoved> {
  const ran = await ranChanges(db, first, commands);
  const sized = ran.filter(
    (change) => costKindOf(commands, change) === 'scale' && movesBounds(change.plan.body),
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

/** Changes that moved the costs of a service, or may have: nobody knows of those in doubt. */
export async function ranChanges(
  db: Db,
  first: Day,
  commands: WorkflowContext['commands'],
): Promise<readonly Change[]> {
  const ended = await endedSince(db, first, ['succeeded', 'unknown']);
  return ended.filter((change) => costKindOf(commands, change) !== null);
}

/** Null for a command that leaves the costs of a service as they are. */
export function costKindOf(
  commands: WorkflowContext['commands'],
  { command }: Change,
): EstimatedKind | null {
  const effect = commands.get(command)?.effect ?? 'create';
  return effect === 'create' ? null : effect;
}

/** When the server answered, or should have; a person may have looked it up much later. */
export function attemptedAt({ outcome: ending, createdAt }: Change): Date {
  return ending?.at ?? createdAt;
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
  return found.filter(({ plan }) => plan.target.kind === 'service');
}
