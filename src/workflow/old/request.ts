import type { FieldProblem } from '../../base/errors.ts';
import type { JsonObject } from '../../base/text.ts';
import type { ChangeCommand, TypedValues } from '../../commands/index.ts';
import type {
  Change,
  ChangeId,
  ChannelId,
  Plan,
  Requirement,
  RoleName,
  UserId,
} from '../../domain/change.ts';
import { draftChange } from '../../domain/draft.ts';
import { createDenial, type Denial, gate, type Identity } from '../../domain/gate.ts';
import { type Freeze, type Policy, upcomingFreezes } from '../../domain/policy.ts';
import type { NoEffect } from '../../domain/targets.ts';
import { type RequestedTiming, startsAt } from '../../domain/timing.ts';
import { appendAfter, takingHead } from '../../log/old/append.ts';
import { insertChange, lockChange } from '../../log/old/changes.ts';
import { storingHandled } from '../../log/old/inbox.ts';
import { hashOfRecord } from '../../log/old/record-hash.ts';
import type { Tx } from '../../storage/old/database.ts';
import { runTogether } from '../../storage/old/together.ts';
import { authorizeCommand, authorizeForm } from './authorize.ts';
import { currentPolicy } from './current-policy.ts';
import { currentTarget } from './current-target.ts';
import { planChange } from './plan.ts';
import type { WorkflowContext } from './ports.ts';
import { countingAttempts } from './rate-limit.ts';
import { appendRefusal, identityFacts, recordMove } from './record.ts';
import { readingRelatedChanges } from './related-changes.ts';
import { requirementWithLater, timePlan } from './timed-plan.ts';

interface ChangeRequest {
  readonly command: ChangeCommand;
  readonly args: Readonly<Record<string, unknown>>;
  /** The values as the user entered them. */
  readonly given: TypedValues;
  /** Missing: the change runs once approved, and is not reverted. */
  readonly timing?: RequestedTiming;
  readonly reason: string | null;
  readonly requester: UserId;
  readonly origin: ChannelId | null;
  /** The draft that this request replaces, so that one preview cannot become two cards. */
  readonly edits: ChangeId | null;
  /** Slack's id of the interaction: a repeated delivery creates no second draft. */
  readonly key: string;
}

export type RequestOutcome =
  | {
      readonly ok: true;
      readonly draft: Change;
      /** Open changes of the same target that are not in `before`. */
      readonly others: readonly Change[];
      /** Identical changes of the last hour. */
      readonly before: readonly Change[];
      /** The freezes that apply to the target now or within a week. */
      readonly freezes: readonly Freeze[];
    }
  | { readonly ok: false; readonly denial: Denial }
  /** The target is already as requested. */
  | { readonly ok: false; readonly noEffect: NoEffect }
  /** The arguments do not fit the state of the target, so that the user has to correct them. */
  | { readonly ok: false; readonly problems: readonly FieldProblem[] };

/** Plans a request and stores it as a draft, which only its requester sees. Sends nothing. */
export async function requestChange(
  context: WorkflowContext,
  request: ChangeRequest,
): Promise<RequestOutcome> {
  const { command, args, reason, requester: by } = request;
  const target = command.resolveArguments ? null : command.target(args, context.commandContext());
  // Planning reads the target, and its problems show values of it.
  const form = { commands: [command.name], target, by, record: true };
  const admitted = await authorizeForm(context, form);
  if (!admitted.ok) return admitted;
  const timed = await planRequest(context, request);
  if (!timed.ok) return timed;
  const { plan } = timed;
  const identity = await context.people.identify(by, { fresh: false });
  const policy = await currentPolicy(context.database.db, context);
  const asked = { entered: command.name, needsReason: command.needsReason === true };
  const about = { ...asked, target: plan.target, reason, by, identity, policy };
  const authorize = (name: string, at: Date) => authorizeCommand(context, about, name, at);
  const authorized = await authorize(command.name, startsAt(plan, context.now()));
  if (!authorized.ok) return authorized;
  // After the decision: it shows the state of the target.
  if (timed.noEffect) return { ok: false, noEffect: timed.noEffect };
  const { requires: own, roles } = authorized;
  const both = await requirementWithLater(context, { command, plan, requires: own }, authorize);
  if (!both.ok) return both;
  // Estimated after the decision, because the API limits how often the usage report can be read.
  const cost = await context.estimateCost(command, plan);
  const requires = withoutForeignBreakGlass(both.requires, roles);
  const draft = draftOf(context, request, { ...plan, ...(cost && { cost }) }, requires);
  return record(context, request, { draft, policy, identity });
}

async function planRequest(context: WorkflowContext, request: ChangeRequest) {
  const { command, args, requester } = request;
  const commandContext = context.commandContext();
  const exact = await command.resolveArguments?.(args, commandContext, requester);
  if (exact && !exact.ok) return exact;
  const entered = { args: exact?.args ?? args, given: request.given as JsonObject };
  const planned = await planChange(command, entered, commandContext);
  if (!planned.ok) return planned;
  const timed = await timePlan(context, request, planned.plan);
  if (!timed.ok) return timed;
  // By its scheduled time, a change may have an effect that it has not now.
  const isNow = !timed.plan.timing?.startAt;
  const noEffect = isNow ? command.noEffect?.(entered.args, planned.plan.before) : null;
  return { ...timed, noEffect: noEffect ?? null };
}

/** Removes break-glass for a requester without its role, also if the requester gets it later. */
function withoutForeignBreakGlass(requires: Requirement, roles: readonly RoleName[]): Requirement {
  const { breakGlass } = requires;
  const isOwn = breakGlass === null || roles.includes(breakGlass);
  return isOwn ? requires : { ...requires, breakGlass: null };
}

function draftOf(
  context: WorkflowContext,
  request: ChangeRequest,
  plan: Plan,
  requires: Requirement,
): Change {
  const { command, requester, reason, origin } = request;
  const id = context.newId();
  const fields = { id, command: command.name, requester, reason, plan, requires, origin };
  return draftChange(fields, context.now());
}

interface Drafted {
  readonly draft: Change;
  readonly policy: Policy;
  readonly identity: Identity;
}

async function record(
  context: WorkflowContext,
  request: ChangeRequest,
  drafted: Drafted,
): Promise<RequestOutcome> {
  const { database } = context;
  try {
    return await database.transaction((tx) => recordFirst(tx, context, request, drafted));
  } catch (error) {
    if (!(error instanceof RepeatedRequest)) throw error;
    return database.transaction((tx) => refuseRepeated(tx, context, drafted.draft));
  }
}

/** Rolls back what was counted for a request that was received before. */
class RepeatedRequest extends Error {}

async function recordFirst(
  tx: Tx,
  context: WorkflowContext,
  request: ChangeRequest,
  { draft, policy, identity }: Drafted,
): Promise<RequestOutcome> {
  const at = context.now();
  const related = readingRelatedChanges(tx, draft);
  const handled = storingHandled(tx, { key: request.key, kind: 'request', at });
  const counting = countingAttempts(tx, context, 'draft', [draft.requester]);
  // The reads before the count, which locks the total of all users.
  await runTogether(tx, [...related.statements, handled, counting]);
  if (!handled.isFirst()) throw new RepeatedRequest();
  const [status] = await counting.statuses();
  if (status !== 'ok') return { ok: false, denial: createDenial('rate-limited', aboutOf(draft)) };
  await withdrawEdited(tx, context, request, identity);
  const end = takingHead(tx);
  const stored = await insertChange(tx, draft, { also: [end] });
  await appendAfter(tx, context.auditKey, end.head(), {
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
      record: hashOfRecord(stored),
      rule: draft.requires.rule,
      configuration: context.configuration,
      ...identityFacts(identity),
    },
  });
  const freezes = upcomingFreezes(policy.freezes, draft.plan.target, at);
  return { ok: true, draft, freezes, ...related.changes() };
}

async function refuseRepeated(
  tx: Tx,
  context: WorkflowContext,
  draft: Change,
): Promise<RequestOutcome> {
  const { command, requester: by } = draft;
  const denial = createDenial('already-received', aboutOf(draft));
  await appendRefusal(tx, context, { kind: command, by }, denial);
  return { ok: false, denial };
}

function aboutOf({ command, plan }: Change): Partial<Denial> {
  return { command, target: plan.target.name };
}

async function withdrawEdited(
  tx: Tx,
  context: WorkflowContext,
  { edits, requester }: ChangeRequest,
  identity: Identity,
): Promise<void> {
  const edited = edits ? await lockChange(tx, edits) : null;
  if (edited?.state !== 'draft') return;
  const { policy } = context;
  const target = currentTarget(context, edited.plan);
  const facts = { by: requester, identity, text: '', now: context.now(), policy, target };
  const answer = gate(edited, 'cancel', facts);
  if ('refusal' in answer) return;
  await recordMove(tx, context, edited, answer, { kind: 'edited', by: requester });
}
