import type { Change, ChangeId, UserId } from '../changes/change.ts';
import { loadChange as load } from '../storage/tables/changes/changes.ts';
import type { Verb } from './clicks.ts';
import { type Denial, denialOf } from './denial.ts';
import type { DecisionContext } from './ports.ts';
import { noteRefusal } from './record.ts';
import { denialFor, refusalOfVerb } from './review/review.ts';

export async function loadForUser(context: DecisionContext, id: ChangeId): Promise<Change | null> {
  return load(context.database.db, id);
}

export type MayAnswer =
  | { readonly ok: true; readonly change: Change }
  | { readonly ok: false; readonly denial: Denial };

/**
 * Whether it makes sense to ask this person for a reason. A courtesy: whoever answers is checked
 * again, afresh, when the answer comes.
 */
export async function mayAnswer(
  context: DecisionContext,
  id: ChangeId,
  { verb, by }: { verb: Verb; by: UserId },
): Promise<MayAnswer> {
  const change = await loadForUser(context, id);
  if (!change) return no(context, denialOf('not-found'), { tried: verb, by, identity: null });

  const identity = await context.people.identify(by, { fresh: false });
  const roles = identity.ok ? identity.actor.roles : [];
  const refusal = identity.ok
    ? refusalOfVerb(verb, change, { id: by, roles }, context.now())
    : identity.refusal;
  if (!refusal) return { ok: true, change };
  return no(context, await denialFor(context, refusal, change), { tried: verb, by, identity });
}

async function no(...refused: Parameters<typeof noteRefusal>): Promise<MayAnswer> {
  await noteRefusal(...refused);
  return { ok: false, denial: refused[1] };
}
