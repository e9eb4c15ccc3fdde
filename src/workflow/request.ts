// From a request to a draft: plan it against the current target, ask the policy, estimate, record. Reverts and the runs
// of schedules are planned by the same functions.

import { hash } from 'node:crypto';
import type { FieldProblem } from '../base/errors.ts';
import type { JsonObject } from '../base/text.ts';
import {
  type ChangeCommand,
  type CommandContext,
  fieldsOf,
  type Intent,
  parseLine,
  type TypedValues,
} from '../commands/index.ts';
import { combineRequirements } from '../domain/approvals.ts';
import {
  type Change,
  type ChangeId,
  changeIdFrom,
  isPerson,
  type Plan,
  type PlanRow,
  type Requirement,
  type RoleName,
  type Snapshot,
  TARGET_TRAITS,
  type Target,
  type Timing,
  type UserId,
  type Via,
} from '../domain/change.ts';
import { agentWords, draftChange } from '../domain/draft.ts';
import { createDenial, type Denial, gate, type Identity } from '../domain/gate.ts';
import type { EventOf } from '../domain/log-events.ts';
import type { NoEffect, Service } from '../domain/targets.ts';
import {
  NO_TIMING,
  type RequestedTiming,
  revertTimeOf,
  startsAt,
  startTimeOf,
} from '../domain/timing.ts';
import { append, type LockedLog, loadChange, type Subjects } from '../log/index.ts';
import { knownServices } from '../servers/facts.ts';
import { reading } from '../storage/index.ts';
import { authorizeCommand, authorizeForm, type Refused, recordRefusal } from './authorize.ts';
import type { WorkflowContext } from './context.ts';
import { begin, type Effects, identityFacts, move, NOTHING, noteMoved, together } from './moves.ts';
import { withNews } from './news.ts';
import { limitedUntil } from './rates.ts';
import { currentPolicy, currentTarget, hasChangedSinceEnd } from './target.ts';
import { withRestore } from './witness.ts';

export interface ChangeRequest {
  readonly command: ChangeCommand;
  readonly args: Readonly<Record<string, unknown>>;
  /** The values as the user entered them. */
  readonly given: TypedValues;
  /** Missing: the change runs once approved, and is not reverted. */
  readonly timing?: RequestedTiming;
  readonly reason: string | null;
  readonly requester: UserId;
  /** The agent that asks, for the requester or as the requester; missing: the requester asks. */
  readonly via?: Via;
  /** What the agent says: its reason, where none is given. */
  readonly words?: string | null;
  /** The draft that this request replaces, so that one preview cannot become two cards. */
  readonly edits: ChangeId | null;
  /** Slack's id of the interaction: a repeated delivery creates no second draft. */
  readonly key: string;
}

export type RequestOutcome =
  /** The draft has what surrounds it. */
  | { readonly ok: true; readonly draft: Change }
  | { readonly ok: false; readonly denial: Denial }
  /** The target is already as requested. */
  | { readonly ok: false; readonly noEffect: NoEffect }
  /** The arguments do not fit the state of the target, so that the user has to correct them. */
  | Problems;

interface Problems {
  readonly ok: false;
  readonly problems: readonly FieldProblem[];
}

/** Plans a request and stores it as a draft, which only its requester sees. Sends nothing. */
export async function requestChange(
  context: WorkflowContext,
  request: ChangeRequest,
): Promise<RequestOutcome> {
  return withRestore(context, async () => {
    const planned = await decideRequest(context, request);
    return 'plan' in planned ? record(context, request, planned) : planned;
  });
}

/** Plans a request and asks the policy. Records nothing but refusals, and sends nothing. */
export async function decideRequest(
  context: WorkflowContext,
  request: ChangeRequest,
): Promise<PlannedRequest | Exclude<RequestOutcome, { ok: true }>> {
  const { command, args, reason, requester: by, via } = request;
  const target = command.resolveArguments ? null : command.target(args, context.commandContext());
  // Planning reads the target, and its problems show values of it.
  const form = { commands: [command.name], target, by, via, record: true };
  const admitted = await authorizeForm(context, form);
  if (!admitted.ok) return admitted;
  const timed = await planRequest(context, request);
  if (!timed.ok) return timed;
  const { plan } = timed;
  const identity = await context.people.identify(by, { fresh: false });
  const policy = await currentPolicy(context, context.events);
  const asked = { entered: command.name, needsReason: command.needsReason === true };
  const why = reason ?? (request.words ? agentWords(request.words) : null);
  const about = { ...asked, target: plan.target, reason: why, by, via, identity, policy };
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
  // A program has no emergencies: it may not go past people.
  const requires = withoutForeignBreakGlass(both.requires, isPerson(by) ? roles : []);
  return { plan: { ...plan, ...(cost && { cost }) }, requires, identity };
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

/** What was decided about a request, to be recorded as a draft. */
export interface PlannedRequest {
  readonly plan: Plan;
  readonly requires: Requirement;
  readonly identity: Identity;
}

async function record(
  context: WorkflowContext,
  request: ChangeRequest,
  planned: PlannedRequest,
): Promise<RequestOutcome> {
  const { requester: by, key } = request;
  const refuse = (
    refusal: 'rate-limited' | 'already-received',
    until: Date | null = null,
  ): RequestOutcome => {
    const about = { command: request.command.name, target: planned.plan.target.name, until };
    return { ok: false, denial: createDenial(refusal, about) };
  };
  const refuseRepeated = async () => {
    const refusal = refuse('already-received');
    const attempt = { tried: request.command.name, by, identity: null };
    if ('denial' in refusal) await recordRefusal(context, refusal.denial, attempt);
    return refusal;
  };
  // A repeated delivery is not counted.
  if ((await draftIdFor(context.events, key)) === null) return refuseRepeated();
  const until = await limitedUntil(context, 'draft', by);
  if (until) return refuse('rate-limited', until);
  const { result: id } = await append(context.events, (locked) =>
    drafted(context, locked, request, planned),
  );
  const draft = id && (await loadChange(context.events, id));
  if (!draft) return refuseRepeated();
  noteMoved(context, null, draft);
  return { ok: true, draft: await withNews(context, draft) };
}

/** The events of a draft, and of the withdrawal of the one that it replaces. */
async function drafted(
  context: WorkflowContext,
  locked: LockedLog,
  request: ChangeRequest,
  { plan, requires, identity }: PlannedRequest,
) {
  const { command, requester, reason, key } = request;
  const id = await draftIdFor(locked, key);
  if (id === null) return { events: [], result: null };
  const { organization } = context;
  const fields = { organization, command: command.name, requester, reason, plan, requires };
  const drafted = draftChange(fields, new Date(locked.at));
  const event = { ...drafted, evidence: { ...identityFacts(identity), request: key } };
  const edited = await withdrawn(context, locked, request, identity);
  const draft = begin(context, locked.at, id, event);
  return { ...together(edited, draft), result: id };
}

/**
 * The id of the draft of a request: it follows from Slack's id of the interaction, so that a repeated delivery finds
 * the draft. Null: there is one. Two interactions with the same id of a change get another one.
 */
async function draftIdFor(subjects: Subjects, key: string): Promise<ChangeId | null> {
  const { id, isOwn } = await placeOf(subjects, key);
  return isOwn ? null : id;
}

/** The first free id of a key, or that of its draft; `after` skips ids. */
export async function placeOf(
  subjects: Subjects,
  key: string,
  after = -1,
): Promise<{ readonly id: ChangeId; readonly isOwn: boolean; readonly place: number }> {
  for (let place = after + 1; ; place += 1) {
    const id = changeIdFrom(hash('sha256', `${key}\n${place}`, 'buffer'));
    const first = (known: EventOf<`change/${string}`> | null, event: EventOf<`change/${string}`>) =>
      known ?? event;
    const { state, version } = await subjects.load(`change/${id}`, first);
    if (version === 0) return { id, isOwn: false, place };
    if (state?.evidence?.request === key) return { id, isOwn: true, place };
  }
}

async function withdrawn(
  context: WorkflowContext,
  locked: LockedLog,
  { edits, requester: by }: ChangeRequest,
  identity: Identity,
): Promise<Effects> {
  const edited = edits ? await loadChange(locked, edits) : null;
  if (edited?.state !== 'draft') return NOTHING;
  const { policy } = context;
  const target = currentTarget(context, edited.plan);
  const facts = { by, identity, text: '', now: new Date(locked.at), policy, target };
  const answer = gate(edited, 'cancel', facts);
  if ('refusal' in answer) return NOTHING;
  return move(context, locked.at, edited, { ...answer, evidence: { edited: true } });
}

/** What was entered for a change. */
interface PlannedArguments {
  readonly args: unknown;
  readonly given: JsonObject;
  /** Values that the target has by then, although a server may still return older ones. */
  readonly settled?: JsonObject;
}

type PlanResult = { readonly ok: true; readonly plan: Plan } | Problems;

/** Plans a change from its arguments and the current state of the target. Sends nothing. */
export async function planChange(
  command: ChangeCommand,
  { args, given, settled = {} }: PlannedArguments,
  context: CommandContext,
): Promise<PlanResult> {
  const { before: seen = null, gaps = [] } = (await command.observe?.(args, context)) ?? {};
  const before = seen && { ...seen, fields: { ...seen.fields, ...settled } };
  const problems = command.problems?.(args, before, context) ?? [];
  if (problems.length > 0) return { ok: false, problems };

  const body = command.desired(args, before);
  const plan: Plan = {
    target: command.target(args, context),
    args: given,
    sends: command.call,
    body,
    before,
    rows: command.rows?.(args, before, context) ?? rowsOf(command, body, before),
    unchangedFields: command.unchanged?.(args, before) ?? [],
    warnings: command.warnings(args, before, context),
    ...(gaps.length > 0 && { gaps }),
  };
  return { ok: true, plan };
}

/** One row for each field of the body that users can set and that changes. */
function rowsOf(command: ChangeCommand, body: JsonObject, before: Snapshot | null): PlanRow[] {
  return fieldsOf(command.args).flatMap(({ name, label }) => {
    const after = body[name];
    const previous = before?.fields[name] ?? null;
    if (after === undefined || JSON.stringify(after) === JSON.stringify(previous)) return [];
    return [{ field: name, label, before: previous, after }];
  });
}

/** Adds the timing to a plan: when the change starts, and which command reverts it when. */
async function timePlan(
  context: WorkflowContext,
  { timing = NO_TIMING, command, requester }: ChangeRequest,
  plan: Plan,
): Promise<PlanResult> {
  const needsZone = [timing.at, timing.until].some((time) => time?.offset === null);
  const zone = needsZone ? await context.people.zoneOf(requester) : null;
  const clock = { zone, now: context.now() };
  const start = startTimeOf(timing, clock);
  if (!start.ok) return start;
  const end = revertTimeOf(timing, start.at, clock);
  if (!end.ok) return end;

  const { afterMs, until } = end;
  const found = afterMs === null ? null : revertOf(context, command, plan, { afterMs, until });
  if (found && !found.ok) return found;
  if (start.at === null && found === null) return { ok: true, plan };
  const { revert = null } = found ?? {};
  const warnings = [...start.warnings, ...plan.warnings];
  const startAt = start.at?.toISOString() ?? null;
  return { ok: true, plan: { ...plan, warnings, timing: { startAt, revert } } };
}

const NOT_KNOWN = 'the previous values are not known';

// Signalbox runs the revert later by its command line, so that the line must be readable now.
function revertOf(
  context: WorkflowContext,
  command: ChangeCommand,
  plan: Plan,
  { afterMs, until }: { readonly afterMs: number; readonly until: string | null },
): { readonly ok: true; readonly revert: NonNullable<Timing['revert']> } | Problems {
  const undo = command.undo(plan.target, plan.before, plan.body);
  const inverse = undo && readInverse(context, undo.line, plan.target);
  if (!inverse) {
    const why = command.noUndo?.(plan.before, plan.body) ?? NOT_KNOWN;
    const problem = `does not work here: ${why}, so that Signalbox cannot revert it`;
    return { ok: false, problems: [{ field: until === null ? 'for' : 'until', problem }] };
  }
  return { ok: true, revert: { ...undo, afterMs, ...(until !== null && { until }) } };
}

/** The command that reverts a change, with its arguments. */
export interface Inverse extends Intent {
  readonly command: ChangeCommand;
}

/** Parses the command line of an undo; null where it is not a complete change command. */
export function readInverse(
  context: Pick<WorkflowContext, 'commandContext' | 'commands'>,
  line: string,
  target: Target,
  services: readonly Service[] = context.commandContext().services,
): Inverse | null {
  const [noun = '', ...words] = line.split(' ');
  const { organization } = context.commandContext();
  // The alert's name is known from the target, so that the list of alerts need not be read.
  const isAlert = TARGET_TRAITS[target.kind].listedIn === 'alerts';
  const alerts = isAlert ? [{ ...target, aliases: [] }] : [];
  const commands = [...context.commands.values()];
  const understood = parseLine(noun, words.join(' '), {
    commands,
    services,
    alerts,
    organization,
  });
  if (understood.kind !== 'intent' || understood.command.kind !== 'change') return null;
  return { ...understood, command: understood.command };
}

type Authorize = (command: string, at: Date) => ReturnType<typeof authorizeCommand>;

interface AuthorizedPlan {
  readonly command: ChangeCommand;
  readonly plan: Plan;
  readonly requires: Requirement;
}

/**
 * Returns one requirement for a change and what it runs later, for example its revert: all of it is
 * approved together. The requester must be allowed to run each of these commands as well.
 */
async function requirementWithLater(
  context: WorkflowContext,
  { command, plan, requires }: AuthorizedPlan,
  authorize: Authorize,
): Promise<{ readonly ok: true; readonly requires: Requirement } | Refused | Problems> {
  // What runs for months is no emergency.
  let all = command.runs ? { ...requires, breakGlass: null } : requires;
  for (const { name, at, field } of laterCommands(context, command, plan)) {
    const authorized = await authorize(name, at);
    if (!authorized.ok) return authorized;
    const both = combineRequirements(all, authorized.requires);
    if (!both) {
      const problem = `does not work here: “${name}” has other approvers. Request that command separately`;
      return { ok: false, problems: [{ field, problem }] };
    }
    all = both;
  }
  return { ok: true, requires: all };
}

/** A command that a change runs later, and that is approved with it. */
interface LaterCommand {
  readonly name: string;
  readonly at: Date;
  /** The field that a problem names. */
  readonly field: string;
}

function laterCommands(
  context: WorkflowContext,
  { runs }: ChangeCommand,
  plan: Plan,
): readonly LaterCommand[] {
  const now = startsAt(plan, context.now());
  const planned = (runs?.(plan.body) ?? []).map((name) => ({ name, at: now, field: '' }));
  const revert = plan.timing?.revert;
  if (!revert) return planned;
  const name = readInverse(context, revert.line, plan.target)?.command.name ?? '';
  return [...planned, { name, at: new Date(now.getTime() + revert.afterMs), field: 'for' }];
}

/** Returns the services, with the state of the target from the last reply. */
export async function servicesWithLatestReply(
  { store, commandContext }: Pick<WorkflowContext, 'store' | 'commandContext'>,
  { id }: Target,
): Promise<readonly Service[]> {
  const { services } = commandContext();
  const known = await reading(store, (reader) => knownServices(reader));
  const learned = known.find((each) => each.id === id);
  if (!learned || Object.keys(learned.fields).length === 0) return services;
  const { fields, seenAt, source } = learned;
  return services.map((service) =>
    service.id === id ? { ...service, lastSeen: { fields, seenAt, source } } : service,
  );
}

/**
 * Whether a target is unchanged since a change: no other change ran on it, and where the API has a
 * read, it has the values that were sent. Throws where that read fails.
 */
export async function isUnchangedSince(
  { events, commands, commandContext }: WorkflowContext,
  change: Change,
): Promise<boolean> {
  const { target, body } = change.plan;
  if (await hasChangedSinceEnd(events, change)) return false;
  const verify = commands.get(change.command)?.verifyOutcome;
  return verify ? (await verify(target, body, commandContext())) !== null : true;
}
