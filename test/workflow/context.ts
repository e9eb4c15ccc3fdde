import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { Secret } from '../../src/base/errors.ts';
import type { ChangeCommand, CommandContext } from '../../src/commands/index.ts';
import {
  type Change,
  type ChangeId,
  type ChannelId,
  changeIdFrom,
  type Plan,
  type Refusal,
  type Requirement,
  type RoleName,
  type State,
  targetKey,
  type UserId,
} from '../../src/domain/change.ts';
import type { ChangeEvent } from '../../src/domain/change-events.ts';
import { draftChange } from '../../src/domain/draft.ts';
import type { Denial, Identity } from '../../src/domain/gate.ts';
import type { EventOf, NewEvent, Recorded, StreamName } from '../../src/domain/log-events.ts';
import type { Service } from '../../src/domain/targets.ts';
import { append, loadChange, openLog, readKeys } from '../../src/log/index.ts';
import type { SendResult } from '../../src/servers/sent.ts';
import { openStore, reading, sql } from '../../src/storage/index.ts';
import type { Messenger, WorkflowContext } from '../../src/workflow/context.ts';
import { begin, type Moves, move } from '../../src/workflow/moves.ts';
import { minutes, NOON, REQUIRES as STRICTER } from '../domain/changes-fixtures.ts';
import { policyOf } from '../domain/policy-fixtures.ts';
import { ignoredMeasures } from './ignored-measures.ts';

export { minutes, NOON };

// Slack assigns ids; tests use readable ones.
export const user = (name: string) => name as UserId;
export const channel = (name: string) => name as ChannelId;
/** Ana is an operator, Ben and Cleo are approvers, Dora is a viewer, and Emil has no role. */
export const ana = user('UANA');
export const ben = user('UBEN');
export const cleo = user('UCLEO');
export const dora = user('UDORA');
export const emil = user('UEMIL');

export const ORGANIZATION = 'acme';

/** The rule of the policy: two approvers. */
const TWO = { from: 'approver', count: 2 };
export const RULE = { allow: ['service *'], to: 'operator', approvals: TWO, expires: '4h' };

/** What this rule requires. */
export const REQUIRES: Requirement = { ...STRICTER, rule: 1, reason: false };

/** The service of the configuration. */
export const STAGING: Service = {
  ...{ id: '11111111-1111-4111-8111-111111111111', organizationId: 'o1', name: 'staging' },
  ...{ aliases: [], tags: ['dev'], warehouse: 'main', team: null, pipes: [] },
  ...{ source: 'configuration', lastSeen: null },
};

const { id, name, tags, warehouse } = STAGING;

/** Stops staging. */
export const PLAN: Plan = {
  target: { kind: 'service', id, name, tags, warehouse },
  args: { service: 'staging' },
  sends: 'PATCH state',
  body: { command: 'stop' },
  before: { fields: { state: 'running' }, seenAt: NOON, source: 'reply to a start' },
  rows: [{ field: 'state', label: 'State', before: 'running', after: 'stopped' }],
  unchangedFields: [],
  warnings: ['Queries of this service stop.'],
};

/** What was shown, in order: the name of the port's function, and what it was given. */
export interface Shown {
  readonly name: string;
  readonly given: readonly unknown[];
}

interface Options extends Partial<WorkflowContext> {
  /** What the server answers. */
  readonly send?: () => Promise<SendResult>;
  /** Replaces functions of the messenger; what it shows is recorded all the same. */
  readonly messages?: Partial<Messenger>;
}

/** The workflow on a log of its own in memory, with one clock, and with people, messages and a server that are functions. */
export async function createTestContext({ send, messages = {}, ...over }: Options = {}) {
  const clock = { now: NOON };
  const now = () => clock.now;
  const store = await openStore('file::memory:', { now: () => clock.now.getTime() });
  onTestFinished(() => store.close());
  const key = new Secret(Buffer.alloc(32, 1).toString('base64'));
  const keys = readKeys({ databaseUrl: 'file::memory:', key, previous: [] });
  const sent: { readonly command: string; readonly body: unknown }[] = [];
  const shown: Shown[] = [];
  const woken = { count: 0 };
  const roles = new Map<UserId, readonly RoleName[] | Refusal>([
    [ana, ['operator']],
    [ben, ['approver']],
    [cleo, ['approver']],
    [dora, ['viewer']],
  ]);
  const commands = ['service start', 'service stop', 'service scale'].map((name) =>
    aCommand(name, {
      send: async (_target: unknown, body: unknown) => {
        sent.push({ command: name, body });
        return send ? send() : { requestId: 'r-1', reported: ['stopping'], learned: null };
      },
    }),
  );
  const context: WorkflowContext = {
    store,
    events: await openLog(store, keys),
    organization: ORGANIZATION,
    organizations: [ORGANIZATION],
    policy: policyOf([RULE]),
    configuration: 'c1',
    prices: null,
    services: () => [STAGING],
    discoversServices: false,
    commands: new Map(commands.map((each) => [each.name, each])),
    people: {
      identify: async (id) => identityOf(id, roles.get(id) ?? []),
      someMembers: async (role) => {
        const users = [...roles].filter(([, held]) => held.includes(role)).map(([id]) => id);
        return { users, more: false };
      },
      zoneOf: async () => 'Europe/Berlin',
    },
    messenger: recordingMessenger(shown, messages),
    directCards: { onRequest: false, of: async () => [] },
    reminders: [0.5, 0.9],
    log: pino({ level: 'silent' }),
    now,
    newId,
    instance: 'tests',
    wake: () => {
      woken.count += 1;
    },
    measures: ignoredMeasures,
    // The clients are not reached: the `send` of a command stands in for them.
    commandContext: () =>
      ({
        ...{ services: [STAGING], now, prefix: '', organizations: [{}] },
        reads: { cloud: { services: async () => ({ known: false, gap: 'off', why: 'off' }) } },
        schedules: { all: async () => [] },
      }) as unknown as CommandContext,
    refreshDirectory: () => undefined,
    verifyServices: async () => [STAGING],
    incidents: {
      press: async () => ({ ok: true, answer: { title: '', parts: [] } }),
      details: async () => ({ ok: true, answer: { title: '', parts: [] } }),
    },
    estimateCost: async () => undefined,
    homeCosts: async () => null,
    ...over,
  };
  return {
    context,
    clock,
    /** Moves the clock. */
    pass: (ms: number) => {
      clock.now = new Date(clock.now.getTime() + ms);
    },
    /** The requests that the server got. */
    sent,
    shown,
    /** How often the loop of jobs was woken. */
    woken,
    /** The roles of each user, or why Slack or Signalbox does not accept them. To be changed by tests. */
    roles,
  };
}

export type TestContext = Awaited<ReturnType<typeof createTestContext>>;

export function newId(): ChangeId {
  return changeIdFrom(randomBytes(6));
}

/** A command that changes the state of a service, without a schema of its own. */
export function aCommand(name: string, over: Partial<ChangeCommand> = {}): ChangeCommand {
  const [, verb = ''] = name.split(' ');
  return {
    kind: 'change',
    name,
    summary: `${verb} a service`,
    examples: [],
    args: z.object({ service: z.string().meta({ label: 'Service', names: 'service' }) }),
    call: 'PATCH state',
    timed: 'start and revert',
    target: () => PLAN.target,
    observe: () => ({ before: PLAN.before }),
    desired: () => ({ command: verb }),
    warnings: () => [],
    send: async () => ({ requestId: 'r-1', reported: [], learned: null }),
    outcome: { done: `${verb}ed` },
    endingNote: 'Signalbox does not check it.',
    ...over,
  } as ChangeCommand;
}

function identityOf(id: UserId, held: readonly RoleName[] | Refusal): Identity {
  if (typeof held === 'string') return { ok: false, refusal: held };
  const groups = held.map((role) => ({ id: `S-${role}`, size: 3, readAt: NOON.toISOString() }));
  return { ok: true, actor: { id, roles: held }, evidence: { groups } };
}

/** What the functions of the messenger return, where it is not nothing. */
const RETURNED: Readonly<Record<string, unknown>> = {
  redrawCard: 'drawn',
  readThread: { card: null, notes: [] },
  readCard: { card: null, notes: [] },
  readMarks: [],
  absentAmong: [],
  findChannels: new Map(),
};

/** Takes everything, and posts each message at a time of its own. */
function recordingMessenger(shown: Shown[], own: Partial<Messenger>): Messenger {
  const synchronous = ['expectAnswer', 'lookupProblem'];
  return new Proxy({} as Messenger, {
    get: (_, name: string) => {
      if (name === 'then') return undefined;
      return (...given: unknown[]) => {
        shown.push({ name, given });
        const replaced = own[name as keyof Messenger] as
          | ((...all: unknown[]) => unknown)
          | undefined;
        if (replaced) return replaced(...given);
        if (name === 'refusalLine') return [(given[0] as Denial).refusal];
        if (synchronous.includes(name)) return name === 'lookupProblem' ? null : undefined;
        const at = { channel: channel('CAPPROVALS'), ts: `${1_000 + shown.length}.0` };
        if (name === 'postCard' || name === 'postDirectCard') return Promise.resolve(at);
        if (name === 'postToChannel' || name === 'updateMessage') {
          return Promise.resolve({ ok: true, at });
        }
        return Promise.resolve(RETURNED[name]);
      };
    },
  });
}

/** What an example change has in place of the usual values. */
export interface Example {
  readonly id?: ChangeId;
  /** The state up to which it is moved: `pending`, unless given. */
  readonly state?: State;
  readonly command?: string;
  readonly requester?: UserId;
  readonly reason?: string | null;
  readonly plan?: Partial<Plan>;
  readonly requires?: Partial<Requirement>;
  /** Who approves it, if its state is one after the approvals. */
  readonly approvers?: readonly UserId[];
  /** False: no card was posted. */
  readonly hasCard?: boolean;
  /** The refusal because of which it became stale or denied. */
  readonly why?: Refusal;
  /** When its request was answered. */
  readonly answeredAt?: Date;
}

/** Names the attempt of a claim and of its outcome. */
export const NONCE = 'attempt-1';

/** Records a change by Ana that stops staging and needs two approvals, with the events up to its state. */
export async function aChange(context: WorkflowContext, example: Example = {}): Promise<Change> {
  const { id = newId(), state = 'pending', hasCard = true } = example;
  const requires = { ...REQUIRES, ...example.requires };
  const fields = {
    organization: context.organization,
    command: example.command ?? 'service stop',
    requester: example.requester ?? ana,
    reason: example.reason ?? null,
    plan: { ...PLAN, ...example.plan },
    requires,
  };
  await begun(context, id, draftChange(fields, context.now()));
  for (const event of eventsUpTo(state, { ...example, requires, hasCard }, fields.requester)) {
    await moved(context, id, event);
  }
  return loaded(context, id);
}

/** Records the first event of a change, which may inherit from another one. */
export async function begun(
  context: WorkflowContext,
  id: ChangeId,
  drafted: Extract<ChangeEvent, { type: 'drafted' }>,
): Promise<Change> {
  await append(context.events, async ({ at }) => {
    const { events, jobs } = begin(context, at, id, drafted);
    return { events, jobs, result: null };
  });
  return loaded(context, id);
}

function eventsUpTo(
  state: State,
  example: Example & { readonly requires: Requirement; readonly hasCard: boolean },
  requester: UserId,
): readonly Movement[] {
  if (state === 'draft') return [];
  const { requires, hasCard, why = 'target-changed' } = example;
  const card = { type: 'card-posted', channel: channel('CAPPROVALS'), ts: '1000.0' } as const;
  const pending: readonly Movement[] = [
    { type: 'confirmed', by: requester },
    ...(hasCard ? [card] : []),
  ];
  const { approvers = [ben, cleo].slice(0, requires.count) } = example;
  const approved: readonly Movement[] = [
    ...pending,
    ...approvers.map((by) => ({ type: 'approved', by }) as const),
  ];
  const until = minutes(2);
  const claimed: readonly Movement[] = [
    ...approved,
    { type: 'claimed', by: 'tests', nonce: NONCE, attempt: 1, until },
  ];
  const answered = { nonce: NONCE, answeredAt: example.answeredAt ?? NOON, tookMs: 800 };
  const failure = { ...answered, requestId: 'r-1', status: 409, text: 'CONFLICT' };
  switch (state) {
    case 'pending':
      return pending;
    case 'approved':
      return approved;
    case 'executing':
      return claimed;
    case 'succeeded':
      return [...claimed, { type: state, ...answered, requestId: 'r-1', reported: ['stopping'] }];
    case 'failed':
      return [...claimed, { type: state, ...failure }];
    case 'unknown':
      return [...claimed, { type: state, ...failure, status: null, text: 'no answer' }];
    case 'rejected':
      return [...pending, { type: state, by: ben, reason: 'not during the launch' }];
    case 'cancelled':
      return [...pending, { type: state, by: requester }];
    case 'expired':
      return [...pending, { type: state }];
    case 'stale':
    case 'denied':
      return [...approved, { type: state, why }];
  }
}

/** An event of a change; an approval is of its current digest. */
export type Movement =
  | Exclude<ChangeEvent, { type: 'drafted' | 'approved' }>
  | { readonly type: 'approved'; readonly by: UserId };

/** Records events of a change as the workflow does it, without asking the gate. */
export async function moved(
  context: WorkflowContext,
  id: ChangeId,
  ...movements: readonly Movement[]
): Promise<Change> {
  for (const movement of movements) {
    await append(context.events, async (locked) => {
      const change = await loadChange(locked, id);
      if (!change) throw new Error(`There is no change ${id}`);
      const event: ChangeEvent =
        movement.type === 'approved' ? { ...movement, digest: change.digest } : movement;
      const { events, jobs }: Moves = move(context, locked.at, change, event);
      return { events: [...events, ...taking(change, event)], jobs, result: null };
    });
  }
  return loaded(context, id);
}

/** A claim locks the target. */
function taking(change: Change, { type }: ChangeEvent): readonly NewEvent[] {
  if (type !== 'claimed') return [];
  const stream = `target/${targetKey(change)}` as const;
  return [{ stream, event: { type: 'taken', change: change.id, over: null } }];
}

/** The change as the log has it. */
export async function loaded(context: WorkflowContext, id: ChangeId): Promise<Change> {
  const change = await loadChange(context.events, id);
  if (!change) throw new Error(`There is no change ${id}`);
  return change;
}

/** Records events, for example of a freeze or a schedule. */
export async function recorded(
  context: WorkflowContext,
  ...events: readonly NewEvent[]
): Promise<void> {
  await append(context.events, async () => ({ events, result: null }));
}

/** The events of one stream, in their order. */
export async function eventsOf<Name extends StreamName>(
  context: WorkflowContext,
  stream: Name,
): Promise<readonly Recorded<EventOf<Name>>[]> {
  const add = (all: readonly Recorded<EventOf<Name>>[] | null, event: Recorded<EventOf<Name>>) => [
    ...(all ?? []),
    event,
  ];
  return (await context.events.load(stream, add)).state ?? [];
}

/** The refusals that belong to no change, in their order. */
export async function refusals(
  context: WorkflowContext,
): Promise<readonly Recorded<EventOf<`refusal/${string}`>>[]> {
  type Refused = Recorded<EventOf<`refusal/${string}`>>;
  const found = await context.events.loadAll<'refusal', Refused>('refusal', (_, event) => event);
  return [...found.values()]
    .flatMap(({ state }) => state ?? [])
    .toSorted((one, other) => one.seq - other.seq);
}

/** The notices that were recorded, in their order. */
export async function notices({ events }: WorkflowContext) {
  type Notice = Extract<EventOf<`notice/${string}`>, { type: 'noticed' }>;
  const first = (found: Notice | null, event: EventOf<`notice/${string}`>) =>
    event.type === 'noticed' ? event : found;
  const all = await events.loadAll<'notice', Notice | null>('notice', first);
  return [...all.values()].flatMap(({ state }) => state ?? []);
}

/** What is due, in order: `card 7KQ2MX`. */
export async function dueJobs(context: WorkflowContext): Promise<readonly string[]> {
  const rows = await reading(context.store, async (reader) => {
    const all = sql<{ kind: string; key: string }>`select kind, key from job
      order by due_at, kind, key`;
    return (await all.execute(reader)).rows;
  });
  return rows.map(({ kind, key }) => `${kind} ${key}`);
}
