import type { Change, JsonObject, Plan, Requirement } from '../../changes/change.ts';
import { cancel, DRAFT_LIFETIME_MS } from '../../changes/lifecycle.ts';
import type { Actor } from '../../changes/outcome.ts';
import { planDigest } from '../../changes/plan-digest.ts';
import type { FieldProblem } from '../../errors.ts';
import { type Decision, decide } from '../../policy/decide.ts';
import { upcomingFreezes } from '../../policy/freezes.ts';
import type { Freeze, Policy } from '../../policy/policy-types.ts';
import { appendEvent } from '../../storage/audit/append.ts';
import type { Tx } from '../../storage/engine/database.ts';
import { insertChange, lockChange } from '../../storage/tables/changes/changes.ts';
import { markHandled, storeClick } from '../../storage/tables/queues/inbox.ts';
import { type Denial, denialOf } from '../denial.ts';
import { rateLimitStatusOf } from '../limits/rate-limit.ts';
import type { Identity, WorkflowContext } from '../ports.ts';
import { evidenceOf, noteRefusal, recordMove, recordRefusal } from '../record.ts';
import type { ChangeRequest } from './change-request.ts';
import { policyNow } from './current-policy.ts';
import { planOf } from './plan.ts';
import { relatedChangesOf } from './related-changes.ts';
import { startsAt, timePlan, wayBack } from './timed-plan.ts';

export type RequestOutcome =
  | {
      readonly ok: true;
      readonly draft: Change;
      /** Open changes of the same target, but for those in `before`. */
      readonly others: readonly Change[];
      /** The very same, asked for within the hour: a second one may be what nobody wants. */
      readonly before: readonly Change[];
      /** What keeps changes away from it now, or will within a week. */
      readonly freezes: readonly Freeze[];
    }
  | { readonly ok: false; readonly denial: Denial }
  /** The arguments do not fit what was seen of the target: mended by whoever typed them. */
  | { readonly ok: false; readonly problems: readonly FieldProblem[] };

/** From an intent to a draft that only its requester sees. Nothing is sent by it. */
export async function requestChange(
  context: WorkflowContext,
  request: ChangeRequest,
): Promise<RequestOutcome> {
  const given = request.given as JsonObject;
  const { requester } = request;
  const commandContext = context.commandContext();
  const exact = await request.command.resolveArguments?.(request.args, commandContext, requester);
  if (exact && !exact.ok) return exact;
  const planned = await planOf(request.command, exact?.args ?? request.args, given, commandContext);
  if (!planned.ok) return planned;
  const timed = await timePlan(context, request, planned.plan);
  if (!timed.ok) return timed;
  const { plan } = timed;
  const command = request.command.name;
  const identity = await context.people.identify(requester, { fresh: false });
  if (!identity.ok) return denied(context, request, plan, { command, identity, decision: null });

  const policy = await policyNow(context.database.db, context);
  const decideOn = (name: string, at: Date) =>
    decideFor(policy, { ...request, plan }, identity, { command: name, at });
  const decision = withReason(request, decideOn(command, startsAt(plan, context.now())));
  if (!decision.allow) return denied(context, request, plan, { command, identity, decision });
  const back = wayBack(context, plan, decision.requires, decideOn);
  if (!back.ok && 'problems' in back) return back;
  if (!back.ok) return denied(context, request, plan, { ...back, identity });
  // Asked for last: the report is rationed, and whoever may not ask for this has no use of it.
  const cost = await context.estimateCost(request.command, plan);
  const requires = ownGlass(back.requires, identity.actor);
  const draft = draftOf(context, request, { ...plan, ...(cost && { cost }) }, requires);
  return record(context, request, { draft, policy, identity });
}

/** What everybody is held up by says why, even where its rule does not ask for that. */
function withReason({ command, reason }: ChangeRequest, decision: Decision): Decision {
  if (!decision.allow || !command.needsReason || reason !== null) return decision;
  const { rule } = decision;
  return { allow: false, refusal: 'reason-required', rule, freeze: null, never: null };
}

function decideFor(
  policy: Policy,
  { plan, reason }: Pick<Change, 'plan' | 'reason'>,
  { actor }: Identity & { ok: true },
  { command, at }: { readonly command: string; readonly at: Date },
): Decision {
  const question = { kind: 'change', command, target: plan.target, actor, reason } as const;
  return decide(policy, { ...question, now: at });
}

interface Refused {
  readonly command: string;
  readonly identity: Identity;
  readonly decision: Decision | null;
}

async function denied(
  context: WorkflowContext,
  request: ChangeRequest,
  plan: Plan,
  found: Refused,
): Promise<RequestOutcome> {
  const denial = await denialFor(context, plan, found);
  const { requester: by } = request;
  const { identity } = found;
  await noteRefusal(context, denial, { tried: request.command.name, by, identity });
  return { ok: false, denial };
}

async function denialFor(context: WorkflowContext, plan: Plan, found: Refused): Promise<Denial> {
  const about = { command: found.command, target: plan.target.name };
  if (!found.identity.ok) return denialOf(found.identity.refusal, about);
  if (!found.decision || found.decision.allow) return denialOf('no-rule', about);

  const { refusal, rule, freeze, never } = found.decision;
  const role = rule?.to ?? null;
  const who = role ? await context.people.membersOf(role) : null;
  return denialOf(refusal, { ...about, rule: rule?.place ?? null, role, who, freeze, never });
}

/** Whoever may not break the glass is not shown how to, and gets no way by a role of later. */
function ownGlass(requires: Requirement, { roles }: Actor): Requirement {
  const { breakGlass } = requires;
  const theirs = breakGlass === null || roles.includes(breakGlass);
  return theirs ? requires : { ...requires, breakGlass: null };
}

function draftOf(
  context: WorkflowContext,
  request: ChangeRequest,
  plan: Plan,
  requires: Requirement,
): Change {
  const now = context.now();
  return {
    id: context.newId(),
    command: request.command.name,
    requester: request.requester,
    reason: request.reason,
    plan,
    digest: planDigest(request.command.name, plan),
    requires,
    state: 'draft',
    version: 1,
    approvals: [],
    rejection: null,
    cancelledBy: null,
    stopReason: null,
    outcome: null,
    resolution: null,
    breakGlass: null,
    review: null,
    createdAt: now,
    confirmedAt: null,
    expiresAt: new Date(now.getTime() + DRAFT_LIFETIME_MS),
    notBefore: null,
    revertAt: null,
    parent: null,
    lease: null,
    origin: request.origin,
    card: null,
  };
}

interface Drafted {
  readonly draft: Change;
  readonly policy: Policy;
  readonly identity: Identity;
}

async function record(
  context: WorkflowContext,
  request: ChangeRequest,
  { draft, policy, identity }: Drafted,
): Promise<RequestOutcome> {
  return context.database.transaction(async (tx) => {
    const at = context.now();
    const first = await storeClick(tx, { key: request.key, kind: 'request', body: {}, at });
    if (!first) return cameTwice(tx, context, draft);

    await markHandled(tx, request.key, at);
    const [pace] = await rateLimitStatusOf(tx, context, 'draft', [draft.requester]);
    if (pace !== 'fine') return { ok: false, denial: denialOf('rate-limited', aboutOf(draft)) };
    await withdraw(tx, context, request);
    await insertChange(tx, draft);
    await appendEvent(tx, context.auditKey, {
      kind: 'drafted',
      changeId: draft.id,
      version: draft.version,
      to: draft.state,
      at,
      body: {
        by: draft.requester,
        command: draft.command,
        target: draft.plan.target.name,
        digest: draft.digest,
        rule: draft.requires.rule,
        ...evidenceOf(identity),
      },
    });
    const freezes = upcomingFreezes(policy.freezes, draft.plan.target, at);
    return { ok: true, draft, freezes, ...(await relatedChangesOf(tx, draft)) };
  });
}

async function cameTwice(tx: Tx, context: WorkflowContext, draft: Change): Promise<RequestOutcome> {
  const { command, requester: by } = draft;
  const denial = denialOf('already-received', aboutOf(draft));
  await recordRefusal(tx, context, { kind: command, by }, denial);
  return { ok: false, denial };
}

function aboutOf({ command, plan }: Change): Partial<Denial> {
  return { command, target: plan.target.name };
}

async function withdraw(
  tx: Tx,
  context: WorkflowContext,
  { edits, requester }: ChangeRequest,
): Promise<void> {
  const edited = edits ? await lockChange(tx, edits) : null;
  if (edited?.state !== 'draft') return;
  const outcome = cancel(edited, { id: requester, roles: [] });
  if (!outcome.ok) return;
  await recordMove(tx, context, edited, outcome.change, { kind: 'edited', by: requester });
}
