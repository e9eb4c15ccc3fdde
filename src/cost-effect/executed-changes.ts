import type { Day } from '../base/time.ts';
import type { EffectKind } from '../domain/change.ts';
import {
  type Change,
  TARGET_KINDS,
  TARGET_TRAITS,
  type Target,
  targetKey,
} from '../domain/change.ts';
import { changesScaling } from '../maths/effect.ts';
import type { Db } from '../storage/engine/database.ts';
import { listChanges } from '../storage/tables/changes/change-lists.ts';
import { lastSentChanges, type SentChange } from '../storage/tables/changes/last-sent.ts';
/** The kind of cost effect of each change command, by its name. */
export type CommandEffects = ReadonlyMap<string, { readonly effect?: EffectKind }>;

/** The kinds of changes whose cost effect can be estimated. */
export type EstimatedKind = Exclude<EffectKind, 'create' | 'schedule'>;

const COSTED_KINDS = TARGET_KINDS.filter((kind) => TARGET_TRAITS[kind].hasCosts);

/**
 * Returns the last two changes of each target that affected its costs, or may have, since the given
 * day; the last one first.
 */
export async function lastCostChanges(
  db: Db,
  first: Day,
  commands: CommandEffects,
): Promise<readonly SentChange[]> {
  const filter = { commands: estimatedCommands(commands), since: startOfDay(first) };
  const found = await Promise.all(
    COSTED_KINDS.map((kind) => lastSentChanges(db, { kind, ...filter })),
  );
  return found.flat();
}

/** When the last cost change of each target ran, by the id of the target. */
export function lastTimes(changes: readonly SentChange[]): ReadonlyMap<string, Date> {
  const latest = changes.toReversed().map(({ targetKey: key, at }) => {
    return [key.slice(key.indexOf(':') + 1), at] as const;
  });
  return new Map(latest);
}

/** Returns when the size of a target was last changed, since the given day; null if it was not. */
export async function lastResize(
  db: Db,
  first: Day,
  target: Target,
  commands: CommandEffects,
): Promise<Date | null> {
  const scales = [...commands.keys()].filter((name) => estimatedKind(commands, name) === 'scale');
  const filter = {
    states: SENT,
    commands: scales,
    targets: [targetKey(target)],
    endedSince: startOfDay(first),
  };
  let last: Change | undefined;
  for (;;) {
    const page = await listChanges(db, { ...filter, limit: PAGE, ...(last && { before: last }) });
    const resize = page.find(({ plan }) => changesScaling(plan.body));
    if (resize) return sentAt(resize);
    if (page.length < PAGE) return null;
    last = page.at(-1);
  }
}

const SENT = ['succeeded', 'unknown'] as const;
const PAGE = 20;

/** Returns the kind of cost effect of a command; null where it has none that can be estimated. */
export function estimatedKind(commands: CommandEffects, command: string): EstimatedKind | null {
  const effect = commands.get(command)?.effect ?? 'create';
  return effect === 'create' || effect === 'schedule' ? null : effect;
}

function estimatedCommands(commands: CommandEffects): readonly string[] {
  return [...commands.keys()].filter((name) => estimatedKind(commands, name) !== null);
}

function sentAt({ outcome, createdAt }: Change): Date {
  return outcome?.at ?? createdAt;
}

function startOfDay(day: Day): Date {
  return new Date(`${day}T00:00:00Z`);
}
