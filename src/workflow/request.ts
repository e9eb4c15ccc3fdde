// From a request to a draft: plan it against the current target, ask the policy, estimate, record. Reverts and the runs
// of schedules are planned by the same functions.

import { hash } from 'node:crypto';
import type { FieldProblem } from '../base/errors.ts';
import { canonical, type JsonObject } from '../base/text.ts';
import {
  type ChangeCommand,
  type CommandContext,
  fieldContext,
  fieldsOf,
  type Intent,
  parseLine,
  parseProblemOf,
  parseValues,
  type TypedValues,
  type Vocabulary,
} from '../commands/index.ts';
import { combineRequirements } from '../domain/approvals.ts';
import {
  type Change,
  type ChangeId,
  changeIdFrom,
  isPerson,
  organizationOf,
  type Plan,
  type PlanRow,
  type Requirement,
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
import { boundsOf, delayed, dimensionsOf, notNarrower } from '../domain/narrow.ts';
import type { NoEffect, Service } from '../domain/targets.ts';
import {
  isTimingKey,
  LEAST_REVERT_MS,
  NO_TIMING,
  type RequestedTiming,
  revertTimeOf,
  type StartClock,
  startsAt,
  startTimeOf,
} from '../domain/timing.ts';
import { append, type LockedLog, loadChange, type Subjects } from '../log/index.ts';
import { knownServices } from '../servers/facts.ts';
import { reading } from '../storage/index.ts';
import { authorizeForm, proposalDenial, refused, through } from './authorize.ts';
import type { WorkflowContext } from './context.ts';
import {
  begin,
  type Effects,
  identityFacts,
  type Moves,
  move,
  NOTHING,
  noteMoved,
  together,
} from './moves.ts';
import { withNews } from './news.ts';
import { limitedUntil } from './rates.ts';
import { type FoundStanding, standingFor } from './standing.ts';
import { currentPolicy, hasChangedSinceEnd, pressFacts } from './target.ts';
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
  /** The key that the agent gave its request. */
  readonly requestKey?: string | null;
  /** The draft that this request replaces, so that one preview cannot become two cards. */
  readonly edits: ChangeId | null;
  /** Slack's id of the interaction: a repeated delivery creates no second draft. An agent may have none, which is empty. */
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

function problemAt(field: string, problem: string): Problems {
  return { ok: false, problems: [{ field, problem }] };
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
  const why = reason ?? (request.words ? agentWords(request.words) : null);
  const asker = through(identity, via);
  const ask = await asking(context, command, asker, { reason: why, target: plan.target });
  const refuse = (denial: Denial) =>
    refused(context, denial, { tried: command.name, by, via, identity: asker });
  const own = ask(command.name, startsAt(plan, context.now()));
  if ('denial' in own) return refuse(own.denial);
  // After the decision: it shows the state of the target.
  if (timed.noEffect) return { ok: false, noEffect: timed.noEffect };
  const both = requirementWithLater(context, command, { ...own, plan }, ask);
  if ('denial' in both) return refuse(both.denial);
  if ('problems' in both) return both;
  // Estimated after the decision, because the API limits how often the usage report can be read.
  const estimated = await withEstimate(context, command, plan);
  // A program has no emergencies: it may not go past people.
  const { breakGlass } = both.requires;
  const isOwn = breakGlass !== null && isPerson(by) && own.roles.includes(breakGlass);
  // Not without its role, also if the requester gets it later.
  const requires = isOwn ? both.requires : { ...both.requires, breakGlass: null };
  const use = { command: command.name, plan, requires, requester: by, via: via ?? null };
  const standing = await standingFor(context, use, identity);
  return { plan: estimated, requires, identity, ...(standing && { standing }) };
}

async function withEstimate(
  { estimateCost }: Pick<WorkflowContext, 'estimateCost'>,
  command: ChangeCommand,
  { cost: _, ...plan }: Plan,
): Promise<Plan> {
  const cost = await estimateCost(command, plan);
  return { ...plan, ...(cost && { cost }) };
}

async function planRequest(context: WorkflowContext, request: ChangeRequest) {
  const { command, args, requester } = request;
  const commandContext = context.commandContext();
  const exact = await command.resolveArguments?.(args, commandContext, requester);
  if (exact && !exact.ok) return exact;
  const entered = { args: exact?.args ?? args, given: request.given as JsonObject };
  const planned = await planChange(command, entered, commandContext);
  if (!planned.ok) return planned;
  const { timing = NO_TIMING } = request;
  const clock = await clockOf(context, requester, timing);
  const to = { command, plan: planned.plan, was: undefined };
  const timed = timedAs(context, to, timing, clock);
  if (!timed.ok) return timed;
  // By its scheduled time, a change may have an effect that it has not now.
  const isNow = !timed.plan.timing?.startAt;
  const noEffect = isNow ? command.noEffect?.(entered.args, planned.plan.before) : null;
  return { ...timed, noEffect: noEffect ?? null };
}

/** What was decided about a request, to be recorded as a draft. */
export interface PlannedRequest {
  readonly plan: Plan;
  readonly requires: Requirement;
  readonly identity: Identity;
  /** It may run by this standing approval, and asks nobody else. */
  readonly standing?: FoundStanding;
}

async function record(
  context: WorkflowContext,
  request: ChangeRequest,
  planned: PlannedRequest,
): Promise<RequestOutcome> {
  const { requester, key } = request;
  const { name: command } = request.command;
  const about = { command, target: planned.plan.target.name };
  const refuseRepeated = () => {
    const attempt = { tried: command, by: requester, identity: null };
    return refused(context, createDenial('already-received', about), attempt);
  };
  // A repeated delivery is not counted.
  if ((await placeOf(context.events, key)).isOwn) return refuseRepeated();
  const until = await limitedUntil(context, 'draft', requester);
  if (until) return { ok: false, denial: createDenial('rate-limited', { ...about, until }) };
  const { result: id } = await append(context.events, async (locked) => {
    const { id: free, isOwn } = await placeOf(locked, key);
    if (isOwn) return { events: [], result: null };
    const edited = await withdrawn(context, locked, request, planned.identity);
    const draft = draftOf(context, locked, free, request, planned);
    return { ...together(edited, draft), result: free };
  });
  const draft = id && (await loadChange(context.events, id));
  if (!draft) return refuseRepeated();
  noteMoved(context, null, draft);
  return { ok: true, draft: await withNews(context, draft) };
}

/** The draft of a planned request, with the id that it gets. */
export function draftOf(
  context: WorkflowContext,
  { at }: Pick<LockedLog, 'at'>,
  id: ChangeId,
  { command, requester, reason, via, words, requestKey, key }: ChangeRequest,
  { plan, requires, identity, standing }: PlannedRequest,
): Moves {
  const organization = organizationOf(plan.target, context.organization);
  const asked = { organization, command: command.name, requester, reason, plan, requires };
  const agent = via && { via, words: words ?? null, requestKey: requestKey ?? null };
  const drafted = draftChange({ ...asked, standing: standing?.id, ...agent }, new Date(at));
  const evidence = { ...identityFacts(identity), ...(key && { request: key }) };
  return begin(context, at, id, { ...drafted, evidence });
}

/**
 * The first free id of a key, or that of its draft; `after` skips ids. The id follows from Slack's id of the interaction,
 * so that a repeated delivery finds the draft. Two interactions with the same id of a change get another one.
 */
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
  const answer = gate(edited, 'cancel', pressFacts(context, edited, { by, identity, text: '' }));
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
async function planChange(
  command: ChangeCommand,
  { args, given, settled = {} }: PlannedArguments,
  context: CommandContext,
): Promise<PlanResult> {
  const { before: seen = null, gaps = [] } = (await command.observe?.(args, context)) ?? {};
  const before = seen && { ...seen, fields: { ...seen.fields, ...settled } };
  return planFrom(command, { args, given }, { before, gaps }, context);
}

/** The same from a state that was seen before. */
function planFrom(
  command: ChangeCommand,
  { args, given }: PlannedArguments,
  { before, gaps = [] }: Pick<Plan, 'before' | 'gaps'>,
  context: CommandContext,
): PlanResult {
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

/** The clock of a user. Their zone is looked up only where a time needs it. */
export async function clockOf(
  { people, now }: Pick<WorkflowContext, 'people' | 'now'>,
  by: UserId,
  { at, until }: Partial<RequestedTiming>,
): Promise<StartClock> {
  const needsZone = [at, until].some((time) => time?.offset === null);
  return { zone: needsZone ? await people.zoneOf(by) : null, now: now() };
}

/**
 * Plans a change with what an approver filled in to approve less, from the state that its preview showed: what changed
 * since makes it stale, as it would have been. An empty or unchanged value keeps what was requested; times are those of
 * the approver. The problems are sentences.
 */
export async function planNarrower(
  context: WorkflowContext,
  change: Change,
  filled: TypedValues,
  { by, isEstimated = true }: { readonly by: UserId; readonly isEstimated?: boolean },
): Promise<PlanResult> {
  const { plan: wider } = change;
  const command = context.commands.get(change.command);
  if (!command) return misread({});
  const given = Object.fromEntries(
    dimensionsOf(wider, command.timed).flatMap((name) => {
      const text = filled[name]?.trim() ?? '';
      return text === '' || text === String(wider.body[name] ?? '') ? [] : [[name, text]];
    }),
  );
  const zone = given.at || given.until ? await context.people.zoneOf(by) : null;
  const clock = { zone, now: context.now() };
  const commandContext = context.commandContext();
  const among = fieldContext(commandContext, { ...given, service: wider.target.id });
  const named = (problems: readonly FieldProblem[]): Problems => {
    const asked = { command, given, reason: '' };
    return misread(parseProblemOf(asked, problems, among).problems);
  };
  const read = readNarrower(context, command, { wider, given }, clock);
  if (read.kind !== 'intent') return misread(read.kind === 'misread' ? read.problems : {});
  const { args, timing } = read;
  const isResized = Object.keys(given).some((name) => name in wider.body);
  const sized = isResized ? resized(command, wider, args, commandContext) : { plan: wider };
  if ('problems' in sized) return named(sized.problems);
  const to = { command, plan: sized.plan, was: wider.timing };
  const timed = timedAs(context, to, timing, clock);
  if (!timed.ok) return named(timed.problems);
  const plan = { ...timed.plan, args: argsAfter(wider, read.given, Object.keys(given)) };
  const wide = problemOf(change, plan, clock.now);
  if (wide) return named(wide.problems);
  const isNew = plan.timing?.revert && !wider.timing?.revert;
  const isApproved = !isNew || (await coversLater(context, command, { ...change, plan }));
  if (!isApproved) return named(OTHER_APPROVERS.problems);
  return { ok: true, plan: isEstimated ? await withEstimate(context, command, plan) : plan };
}

function misread(problems: Readonly<Record<string, string>>): Problems {
  const all = Object.entries(problems).map(([field, problem]) => ({ field, problem }));
  return all.length > 0 ? { ok: false, problems: all } : NOTHING_LESS;
}

const NOTHING_LESS = problemAt(
  '',
  'Nothing is less than requested. Lower a value, or press Approve on the card.',
);
const OTHER_APPROVERS = problemAt(
  'for',
  'does not work here: the policy does not permit the revert with these approvals',
);

/** The whole command with the lower values. What was requested for a time is not read again: it would mean another one. */
function readNarrower(
  context: WorkflowContext,
  command: ChangeCommand,
  { wider, given }: { readonly wider: Plan; readonly given: TypedValues },
  { zone, now }: StartClock,
) {
  const { kind, id } = wider.target;
  const kept = Object.entries(wider.args).filter(([name]) => !isTimingKey(name));
  // By its id: the target may have another name by now.
  const texts = kept.map(([name, value]) => [name, name === kind ? id : String(value)] as const);
  const values = { ...Object.fromEntries(texts), ...given };
  const vocabulary = vocabularyOf(context, wider.target);
  return parseValues(command, values, '', { ...vocabulary, clock: zone ? { zone, now } : null });
}

function resized(
  command: ChangeCommand,
  wider: Plan,
  args: unknown,
  context: CommandContext,
): { readonly plan: Plan } | Problems {
  // By its scheduled time, it may have an effect that it has not now.
  const noEffect = wider.timing?.startAt ? null : command.noEffect?.(args, wider.before);
  const field = 'maxReplicaMemoryGb' in wider.body ? 'maxReplicaMemoryGb' : 'numReplicas';
  if (noEffect) return problemAt(field, SAME_AS_NOW);
  const planned = planFrom(command, { args, given: wider.args }, wider, context);
  if (!planned.ok) return planned;
  const { target, timing, warnings: seen } = wider;
  const warnings = [...new Set([...seen, ...planned.plan.warnings])];
  return { plan: { ...planned.plan, target, warnings, ...(timing && { timing }) } };
}

const SAME_AS_NOW = 'would change nothing: this is the current value. Reject the change instead';

interface Timed extends Pick<ChangeRequest, 'command'> {
  readonly plan: Plan;
  /** What was requested before: missing values keep it, and its end does not move. */
  readonly was: Timing | undefined;
}

/** The plan with its start and its end, as they were given. */
function timedAs(
  context: WorkflowContext,
  { command, plan, was }: Timed,
  timing: RequestedTiming,
  clock: StartClock,
): PlanResult {
  const start = startTimeOf(timing, clock);
  if (!start.ok) return start;
  const kept = start.at ? delayed(was, start.at, clock.now) : was;
  const { startAt = null, revert: own = null } = kept ?? {};
  const end = revertTimeOf(timing, startAt === null ? null : new Date(startAt), clock);
  if (!end.ok) return end;
  const { afterMs, until } = end;
  const isShort = start.at && own && own.afterMs < LEAST_REVERT_MS;
  if (afterMs === null && isShort) return problemAt('at', 'leaves no half hour before its end');
  const found = afterMs === null ? null : revertOf(context, command, plan, { afterMs, until });
  if (found && !found.ok) return found;
  const revert = found?.revert ?? own;
  if (startAt === null && revert === null) return { ok: true, plan };
  const warned = (one: Plan) => command.timeWarnings?.(one, clock.now) ?? [];
  const earlier = warned(plan);
  const seen = plan.warnings.filter((one) => !earlier.includes(one));
  const timed = { ...plan, timing: { ...kept, startAt, revert } };
  const warnings = [...new Set([...start.warnings, ...seen, ...warned(timed)])];
  return { ok: true, plan: { ...timed, warnings } };
}

/** What was entered, with the given values in the place of the earlier ones: `in=` is no more, where `at=` is given. */
function argsAfter({ args }: Plan, read: TypedValues, given: readonly string[]): JsonObject {
  const replaced = [...given, ...(given.includes('at') ? ['in'] : [])];
  const kept = Object.entries(args).filter(([name]) => !replaced.includes(name));
  return Object.fromEntries([...kept, ...given.map((name) => [name, read[name] ?? ''] as const)]);
}

function problemOf(change: Change, plan: Plan, now: Date): Problems | null {
  const refused = notNarrower(change.plan, plan, now);
  if (refused === null) return null;
  const { refusal, field } = refused;
  if (refusal === 'not-narrower' || field === null) return NOTHING_LESS;
  const isLess = change.narrowings?.length ? 'than another approver left' : 'than requested';
  if (field === 'at') return problemAt(field, `must be later ${isLess}, and before the end`);
  if (field === 'for') return problemAt(field, `must be shorter ${isLess}`);
  if (field === 'until') return problemAt(field, `must be earlier ${isLess}`);
  const { least, most } = boundsOf(change.plan, field);
  const from = least > 1 ? `from ${least}, the current value, to ${most}` : `at most ${most}`;
  return problemAt(field, `must be ${from}: less ${isLess}`);
}

/** Whether the approvals of a change also permit what its plan runs later: a revert that nobody requested. */
async function coversLater(
  context: WorkflowContext,
  command: ChangeCommand,
  { plan, requires, requester, via, reason, words }: Change,
): Promise<boolean> {
  const identity = through(await context.people.identify(requester, { fresh: false }), via);
  const why = reason ?? words ?? null;
  const ask = await asking(context, command, identity, { reason: why, target: plan.target });
  const all = requirementWithLater(context, command, { plan, requires }, ask);
  return 'requires' in all && canonical(all.requires) === canonical(requires);
}

const NOT_KNOWN = 'the previous values are not known';

// Signalbox runs the revert later by its command line, so that the line must be readable now.
function revertOf(
  context: WorkflowContext,
  command: ChangeCommand,
  plan: Plan,
  { afterMs, until }: { readonly afterMs: number; readonly until: string | null },
): { readonly ok: true; readonly revert: NonNullable<Timing['revert']> } | Problems {
  const undo = command.undo?.(plan.target, plan.before, plan.body);
  const inverse = undo && readInverse(context, undo.line, plan.target);
  if (!inverse) {
    const why = command.noUndo?.(plan.before, plan.body) ?? NOT_KNOWN;
    const problem = `does not work here: ${why}, so that Signalbox cannot revert it`;
    return problemAt(until === null ? 'for' : 'until', problem);
  }
  return { ok: true, revert: { ...undo, afterMs, ...(until !== null && { until }) } };
}

/** Parses the command line of an undo; null where it is not a complete change command. */
function readInverse(
  context: WorkflowContext,
  line: string,
  target: Target,
  services?: readonly Service[],
): (Intent & { readonly command: ChangeCommand }) | null {
  const [noun = '', ...words] = line.split(' ');
  const vocabulary = vocabularyOf(context, target, services);
  const understood = parseLine(noun, words.join(' '), vocabulary);
  if (understood.kind !== 'intent' || understood.command.kind !== 'change') return null;
  return { ...understood, command: understood.command };
}

/** What Signalbox itself runs: the command of a line, its arguments, and its plan from the state now. */
export interface PlannedLine {
  readonly command: ChangeCommand;
  readonly args: unknown;
  readonly plan: Plan;
}

/**
 * Plans a command line about a target: a revert of `after`, or the run of a schedule. Null where the line is no complete
 * command, or does not fit the target any more.
 */
export async function planLine(
  context: WorkflowContext,
  line: string,
  target: Target,
  after: Change | null = null,
): Promise<PlannedLine | null> {
  const services = await servicesWithLatestReply(context, target);
  const read = readInverse(context, line, target, services);
  if (!read) return null;
  const { command, args, given } = read;
  // A server can return the previous sizes for a while after it accepted the new ones.
  const settled = command.name === after?.command ? after.plan.body : {};
  const entered = { args, given: given as JsonObject, settled };
  const planned = await planChange(command, entered, { ...context.commandContext(), services });
  return planned.ok ? { command, args, plan: planned.plan } : null;
}

/** What a command about this target can name. */
function vocabularyOf(
  context: WorkflowContext,
  target: Target,
  services: readonly Service[] = context.commandContext().services,
): Vocabulary {
  const { organizations } = context.commandContext();
  // The alert's name is known from the target, so that the list of alerts need not be read.
  const isAlert = TARGET_TRAITS[target.kind].listedIn === 'alerts';
  const alerts = isAlert ? [{ ...target, aliases: [] }] : [];
  return { commands: [...context.commands.values()], services, alerts, organizations };
}

type Ask = Awaited<ReturnType<typeof asking>>;

/** Asks the policy of now whether a person may request a command for a time, on this target or another. */
async function asking(
  context: WorkflowContext,
  { needsReason }: ChangeCommand,
  identity: Identity,
  { reason, target: own }: { readonly reason: string | null; readonly target: Target },
) {
  const policy = await currentPolicy(context, context.events);
  const facts = { identity, policy };
  return (command: string, now: Date, target = own) => {
    const asked = { command, target, reason, needsReason };
    const answer = gate(asked, 'request', { ...facts, now });
    if (!('refusal' in answer)) return answer;
    return { denial: proposalDenial(answer, { command, target: target.name }) };
  };
}

/**
 * Returns one requirement for a change and what it runs later, for example its revert: all of it is
 * approved together. The requester must be allowed to run each of these commands as well.
 */
function requirementWithLater(
  context: WorkflowContext,
  command: ChangeCommand,
  { plan, requires }: Pick<Change, 'plan' | 'requires'>,
  ask: Ask,
): { readonly requires: Requirement } | { readonly denial: Denial } | Problems {
  // What runs for weeks is no emergency.
  let all = command.runs || command.covers ? { ...requires, breakGlass: null } : requires;
  for (const { name, at, field, target } of laterCommands(context, command, plan)) {
    const authorized = ask(name, at, target);
    if ('denial' in authorized) return authorized;
    if (command.covers && authorized.requires.from === null) {
      const problem = `has ${target.name}, where “${name}” needs no approval. Request it directly`;
      return problemAt(field, problem);
    }
    const both = combineRequirements(all, authorized.requires);
    if (!both) {
      const problem = `does not work here: “${name}” has other approvers. Request that command separately`;
      return problemAt(field, problem);
    }
    all = both;
  }
  // Each use counts the approvals of the first role, whenever it is.
  return { requires: command.covers ? { ...all, escalation: null } : all };
}

/** The commands that a change runs later, and that are approved with it. `field`: what a problem names. */
function laterCommands(context: WorkflowContext, { runs, covers }: ChangeCommand, plan: Plan) {
  const { target, timing, body } = plan;
  const at = startsAt(plan, context.now());
  const covered = covers?.(body, { services: context.services() }) ?? [];
  const planned = [
    ...(runs?.(body) ?? []).map((name) => ({ name, at, field: '', target })),
    ...covered.map((each) => ({ ...each, name: each.command, at, field: 'scope' })),
  ];
  const revert = timing?.revert;
  if (!revert) return planned;
  const name = readInverse(context, revert.line, target)?.command.name ?? '';
  const revertedAt = new Date(at.getTime() + revert.afterMs);
  return [...planned, { name, at: revertedAt, field: 'for', target }];
}

/** Returns the services, with the state of the target from the last reply. */
async function servicesWithLatestReply(
  { store, commandContext }: WorkflowContext,
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
