import { nearest } from '../../base/text.ts';
import { changeIdText } from '../../commands/index.ts';
import type { Answer, Caller, CommandOffer } from '../../domain/answer.ts';
import { type Change, type ChangeId, isChangeId } from '../../domain/change.ts';
import { listChanges } from '../../log/old/change-lists.ts';
import { loadChange, loadVerifiable } from '../../log/old/changes.ts';
import type { VerifiableChange } from '../../log/old/stored-record.ts';
import type { DecisionContext } from './ports.ts';

type FindContext = Pick<DecisionContext, 'database'>;

const SEARCHED = 300;
const OFFERED = 3;

/** Returns the stored change, or null. Use `authorize.ts` before showing it to a user. */
export async function loadForUser({ database }: FindContext, id: ChangeId): Promise<Change | null> {
  return loadChange(database.db, id);
}

type ChangeLookup =
  | ({ readonly ok: true } & VerifiableChange)
  | { readonly ok: false; readonly answer: Answer };

/** Returns the change with this id, or an answer that offers similar ids. */
export async function findChange(
  context: FindContext,
  typed: string,
  asker: Caller,
): Promise<ChangeLookup> {
  const id = changeIdText(typed);
  const stored = isChangeId(id) ? await loadVerifiable(context.database.db, id) : null;
  // Only its requester may see a draft.
  if (stored && !isPrivateTo(stored.change, asker)) return { ok: true, ...stored };
  return { ok: false, answer: await notFound(context, id, asker) };
}

function isPrivateTo({ state, card, requester }: Change, { by }: Caller): boolean {
  const hasEnded = ['cancelled', 'expired', 'stale'].includes(state);
  const isUnsent = state === 'draft' || (card === null && hasEnded);
  return isUnsent && requester !== by;
}

async function notFound({ database }: FindContext, id: string, asker: Caller): Promise<Answer> {
  const { db } = database;
  const recent = await listChanges(db, { limit: SEARCHED, privateTo: asker.by });
  const near = nearest(
    id,
    recent.map((each) => each.id),
    OFFERED,
  );
  const own = await listChanges(db, { requester: asker.by, limit: OFFERED });
  const offered = near.length > 0 ? recent.filter((each) => near.includes(each.id)) : own;
  const hint = near.length > 0 ? 'Did you mean one of these?' : 'Your newest requests are below.';
  const text = `There's no change “${id}”. ${offered.length > 0 ? hint : 'You have no requests.'}`;
  return {
    title: 'Change not found',
    parts: [
      { kind: 'text', text },
      { kind: 'offers', offers: offered.map(offerOf) },
    ],
  };
}

/** A button that shows the change. */
export function offerOf({ id, command, plan }: Change): CommandOffer {
  return { label: `${id}: ${command} ${plan.target.name}`, line: `change show ${id}` };
}
