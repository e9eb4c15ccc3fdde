import type {
  Change,
  ChangeId,
  ChannelId,
  JsonObject,
  Plan,
  Requirement,
  UserId,
} from '../../changes/change.ts';
import { cancel, DRAFT_LIVES_MS } from '../../changes/lifecycle.ts';
import type { Actor } from '../../changes/outcome.ts';
import { planDigest } from '../../changes/plan-digest.ts';
import { costOf } from '../../cost-effect/change-cost.ts';
import type { Problem } from '../../errors.ts';
import type { Given } from '../../intent/arguments/arguments.ts';
import type { AskedTiming } from '../../intent/arguments/timing.ts';
import type { ChangeCommand } from '../../intent/define.ts';
import { type Decision, decide } from '../../policy/decide.ts';
import { freezesNear } from '../../policy/freezes.ts';
import type { Freeze, Policy } from '../../policy/policy-types.ts';
import { appendEvent } from '../../storage/audit/append.ts';
import type { Tx } from '../../storage/engine/database.ts';
import { insertChange, lockChange } from '../../storage/tables/changes/changes.ts';
import { markHandled, receive } from '../../storage/tables/queues/inbox.ts';
import { type Denial, denialOf } from '../denial.ts';
import { pacesOf } from '../limits/rate-limit.ts';
import type { Identity, World } from '../ports.ts';
import { evidenceOf, noteRefusal, recordMove, recordRefusal } from '../record.ts';
import { policyNow } from './current-policy.ts';
import { planOf } from './plan.ts';
import { companyOf } from './related-changes.ts';
import { startsAt, timePlan, wayBack } from './timed-plan.ts';

export interface Request {
  readonly command: ChangeCommand;
  readonly args: Readonly<Record<string, unknown>>;
  readonly given: Given;
  /** Missing: as soon as it may, and for good. */
  readonly timing?: AskedTiming;
  readonly reason: string | null;
  readonly requester: UserId;
  readonly origin: ChannelId | null;
  /** The draft that this one takes the place of: two live previews would be two cards. */
  readonly edits: ChangeId | null;
  /** Slack's own mark of this one interaction: a request that comes twice is drafted once. */
  readonly key: string;
}

export type Requested =
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
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** From an intent to a draft that only its requester sees. Nothing is sent by it. */
export async function requestChange(world: World, request: Request): Promise<Requested> {
  const given = request.given as JsonObject;
  const { requester } = request;
  const reach = world.reach();
  const exact = await request.command.exact?.(request.args, reach, requester);
  if (exact && !exact.ok) return exact;
  const planned = await planOf(request.command, exact?.args ?? request.args, given, reach);
  if (!planned.ok) return planned;
  const timed = await timePlan(world, request, planned.plan);
  if (!timed.ok) return timed;
  const { plan } = timed;
  const command = request.command.name;
  const identity = await world.people.identify(requester, { fresh: false });
  if (!identity.ok) return denied(world, request, plan, { command, identity, decision: null });

  const policy = await policyNow(world.database.db, world);
  const decideOn = (name: string, at: Date) =>
    decideFor(policy, { ...request, plan }, identity, { command: name, at });
  const decision = withReason(request, decideOn(command, startsAt(plan, world.now())));
  if (!decision.allow) return denied(world, request, plan, { command, identity, decision });
  const back = wayBack(world, plan, decision.requires, decideOn);
  if (!back.ok && 'problems' in back) return back;
  if (!back.ok) return denied(world, request, plan, { ...back, identity });
  // Asked for last: the report is rationed, and whoever may not ask for this has no use of it.
  const cost = await costOf(world, request.command, plan);
  const requires = ownGlass(back.requires, identity.actor);
  const draft = draftOf(world, request, { ...plan, ...(cost && { cost }) }, requires);
  return record(world, request, { draft, policy, identity });
}

/** What everybody is held up by says why, even where its rule does not ask for that. */
function withReason({ command, reason }: Request, decision: Decision): Decision {
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
  world: World,
  request: Request,
  plan: Plan,
  found: Refused,
): Promise<Requested> {
  const denial = await denialFor(world, plan, found);
  const { requester: by } = request;
  const { identity } = found;
  await noteRefusal(world, denial, { tried: request.command.name, by, identity });
  return { ok: false, denial };
}

async function denialFor(world: World, plan: Plan, found: Refused): Promise<Denial> {
  const about = { command: found.command, target: plan.target.name };
  if (!found.identity.ok) return denialOf(found.identity.refusal, about);
  if (!found.decision || found.decision.allow) return denialOf('no-rule', about);

  const { refusal, rule, freeze, never } = found.decision;
  const role = rule?.to ?? null;
  const who = role ? await world.people.membersOf(role) : null;
  return denialOf(refusal, { ...about, rule: rule?.place ?? null, role, who, freeze, never });
}

/** Whoever may not break the glass is not shown how to, and gets no way by a role of later. */
function ownGlass(requires: Requirement, { roles }: Actor): Requirement {
  const { breakGlass } = requires;
  const theirs = breakGlass === null || roles.includes(breakGlass);
  return theirs ? requires : { ...requires, breakGlass: null };
}

function draftOf(world: World, request: Request, plan: Plan, requires: Requirement): Change {
  const now = world.now();
  return {
    id: world.newId(),
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
    stopped: null,
    ending: null,
    resolution: null,
    brokenGlass: null,
    review: null,
    createdAt: now,
    confirmedAt: null,
    expiresAt: new Date(now.getTime() + DRAFT_LIVES_MS),
    notBefore: null,
    backAt: null,
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
  world: World,
  request: Request,
  { draft, policy, identity }: Drafted,
): Promise<Requested> {
  return world.database.transaction(async (tx) => {
    const at = world.now();
    const first = await receive(tx, { key: request.key, kind: 'request', body: {}, at });
    if (!first) return cameTwice(tx, world, draft);

    await markHandled(tx, request.key, at);
    const [pace] = await pacesOf(tx, world, 'draft', [draft.requester]);
    if (pace !== 'fine') return { ok: false, denial: denialOf('too-many', aboutOf(draft)) };
    await withdraw(tx, world, request);
    await insertChange(tx, draft);
    await appendEvent(tx, world.auditKey, {
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
    const freezes = freezesNear(policy.freezes, draft.plan.target, at);
    return { ok: true, draft, freezes, ...(await companyOf(tx, draft)) };
  });
}

async function cameTwice(tx: Tx, world: World, draft: Change): Promise<Requested> {
  const { command, requester: by } = draft;
  const denial = denialOf('lost-race', aboutOf(draft));
  await recordRefusal(tx, world, { kind: command, by }, denial);
  return { ok: false, denial };
}

function aboutOf({ command, plan }: Change): Partial<Denial> {
  return { command, target: plan.target.name };
}

async function withdraw(tx: Tx, world: World, { edits, requester }: Request): Promise<void> {
  const edited = edits ? await lockChange(tx, edits) : null;
  if (edited?.state !== 'draft') return;
  const outcome = cancel(edited, { id: requester, roles: [] });
  if (!outcome.ok) return;
  await recordMove(tx, world, edited, outcome.change, { kind: 'edited', by: requester });
}
