import type { Change, ChangeId } from '../changes/change.ts';
import { isChangeId } from '../changes/id.ts';
import type { Answer, CommandOffer } from '../intent/answers/answer.ts';
import { nearest } from '../intent/parse/nearest.ts';
import { changeIdText } from '../intent/ports/changes-queries.ts';
import type { Caller } from '../intent/ports/command-context.ts';
import { listChanges } from '../storage/tables/changes/change-lists.ts';
import { loadChange } from '../storage/tables/changes/changes.ts';
import type { DecisionContext } from './ports.ts';

type FindWorld = Pick<DecisionContext, 'database'>;

const LOOKED_AT = 300;
const OFFERED = 3;

export type FoundChange =
  | { readonly ok: true; readonly change: Change }
  | { readonly ok: false; readonly answer: Answer };

/** Exactly the one that was named; for any other word those are offered that may be meant. */
export async function findChange(
  context: FindWorld,
  typed: string,
  asker: Caller,
): Promise<FoundChange> {
  const id = changeIdText(typed);
  const change = isChangeId(id) ? await loadChange(context.database.db, id) : null;
  // A draft is its requester's alone: to everybody else it is not there yet.
  if (change && !isPrivateTo(change, asker)) return { ok: true, change };
  return { ok: false, answer: await unknown(context, id, asker) };
}

function isPrivateTo({ state, card, requester }: Change, { by }: Caller): boolean {
  const isOver = ['cancelled', 'expired', 'stale'].includes(state);
  const unsent = state === 'draft' || (card === null && isOver);
  return unsent && requester !== by;
}

async function unknown({ database }: FindWorld, id: string, asker: Caller): Promise<Answer> {
  const { db } = database;
  const recent = await listChanges(db, { limit: LOOKED_AT, privateTo: asker.by });
  const near = nearest(
    id,
    recent.map((each) => each.id),
    OFFERED,
  );
  const own = await listChanges(db, { requester: asker.by, limit: OFFERED });
  const meant = near.length > 0 ? recent.filter((each) => near.includes(each.id)) : own;
  const ask = near.length > 0 ? 'Did you mean one of these?' : 'Your newest ones are below.';
  const text = `There is no change “${id}”. ${meant.length > 0 ? ask : 'You have asked for none.'}`;
  return {
    title: 'No such change',
    parts: [
      { kind: 'text', text },
      { kind: 'offers', offers: meant.map(offerOf) },
    ],
  };
}

export function offerOf({ id, command, plan }: Change): CommandOffer {
  return { label: `${id}: ${command} ${plan.target.name}`, line: lineToShow(id) };
}

export function lineToShow(id: ChangeId): string {
  return `change show ${id}`;
}
