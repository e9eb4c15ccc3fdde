import { rolesIn } from '../../domain/approvals.ts';
import { type Change, type ChangeId, hasAuditMismatch, type UserId } from '../../domain/change.ts';
import { createDenial } from '../../domain/gate.ts';
import { loadVerifiable } from '../../log/old/changes.ts';
import { mayQuery, type Refused } from './authorize.ts';
import { confirmBeforeDrawing } from './confirm-before-drawing.ts';
import type { DecisionContext } from './ports.ts';

type DetailsAuthorization =
  /** `isFull`: with its private fields. */
  { readonly ok: true; readonly change: Change; readonly isFull: boolean } | Refused;

/**
 * Whether a user may see a request: its requester and the roles of its rule see the whole of it, users
 * who may list changes see it without its private fields. A draft is shown to its requester only.
 */
export async function authorizeDetails(
  context: DecisionContext,
  id: ChangeId,
  by: UserId,
): Promise<DetailsAuthorization> {
  const { database, people } = context;
  const stored = await loadVerifiable(database.db, id);
  const isOwn = stored?.change.requester === by;
  if (!stored || (stored.change.state === 'draft' && !isOwn)) {
    return { ok: false, denial: createDenial('not-found') };
  }
  const change = await confirmBeforeDrawing(context, stored);
  const identity = await people.identify(by, { fresh: false });
  const { to, from } = change.requires;
  const about = { change, role: from ?? to };
  if (!identity.ok) return { ok: false, denial: createDenial(identity.refusal, about) };
  const { roles } = identity.actor;
  const isFull = isOwn || roles.some((role) => rolesIn(change.requires).includes(role));
  const mayList = { command: 'change show', target: null, by };
  if (!isFull && !(await mayQuery(context, mayList))) {
    return { ok: false, denial: createDenial('not-an-approver', about) };
  }
  if (!hasAuditMismatch(change)) return { ok: true, change, isFull };
  return { ok: false, denial: createDenial('audit-mismatch', about) };
}
