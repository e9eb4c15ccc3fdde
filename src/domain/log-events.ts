import { z } from 'zod';
import type { JsonObject } from '../base/text.ts';
import type { State } from './change.ts';
import { Scope } from './freezes.ts';

// The events of the log, by the first word of their stream. What Signalbox decides from is here and nowhere else.

const Id = z.string().min(1);
const Instant = z.int().nonnegative();
const Fields = z.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);
const Place = { channel: Id, ts: Id };
/** A mark of a lost history that people may still see, and that the event answers. */
const Mark = z.object({ stream: Id, version: z.int().positive(), hash: Id });
/** The press that was decided; null for what Signalbox decides by itself. */
const By = { by: Id, press: Id.nullable() };
const Sent = { nonce: Id, answer: Fields };

const event = <T extends string, S extends z.ZodRawShape>(type: T, shape: S) =>
  z.object({ type: z.literal(type), ...shape });

const ChangeEvent = z.discriminatedUnion('type', [
  event('drafted', {
    requester: Id,
    command: Id,
    target: z.object({ organization: z.string(), kind: Id, id: Id, name: z.string() }),
    reason: z.string().nullable(),
    plan: Fields,
    digest: Id,
    requirement: z.looseObject({ count: z.int().nonnegative() }),
    expiresAt: Instant,
  }),
  event('confirmed', { ...By, expiresAt: Instant }),
  event('card-posted', Place),
  event('approved', { ...By, digest: Id, evidence: Fields }),
  event('rejected', { ...By, reason: z.string() }),
  event('cancelled', { ...By, reason: z.string().nullable() }),
  event('break-glass', { ...By, reason: z.string(), evidence: Fields }),
  event('reviewed', { ...By, note: z.string() }),
  event('refused', { ...By, verb: Id, why: Id }),
  event('claimed', {
    by: Id,
    nonce: Id,
    attempt: z.int().positive(),
    until: Instant,
    policy: Id,
  }),
  event('not-sent', { nonce: Id, why: z.string() }),
  event('succeeded', Sent),
  event('failed', Sent),
  event('unknown', Sent),
  event('resolved', { ...By, as: z.enum(['succeeded', 'failed']), note: z.string() }),
  event('expired', {}),
  event('denied', { why: Id }),
  event('stale', { why: z.string(), foreign: z.array(Mark).readonly() }),
  event('restored', { why: z.string(), foreign: z.array(Mark).readonly() }),
  event('revert-claimed', { by: Id, nonce: Id, attempt: z.int().positive(), until: Instant }),
  event('revert-not-sent', { nonce: Id, why: z.string() }),
  event('reverted', Sent),
  event('revert-failed', Sent),
  event('revert-unknown', Sent),
]);

const PressEvent = z.discriminatedUnion('type', [
  event('pressed', {
    verb: Id,
    by: Id,
    pressedAt: Instant,
    /** The message, or the preview or Home with the MAC of its button. */
    place: Fields,
    digest: Id.nullable(),
    /** The mark that the person saw; null where the payload had none. */
    seen: Id.nullable(),
  }),
  event('answered', { what: Id }),
]);

const TargetEvent = z.discriminatedUnion('type', [
  /** `over`: the unknown run of the same schedule whose lock is passed. */
  event('taken', { change: Id, over: Id.nullable() }),
  event('released', { change: Id }),
]);

const FreezeEvent = z.discriminatedUnion('type', [
  event('created', { change: Id, by: Id, reason: z.string(), scope: Scope, until: Instant }),
  event('card-posted', Place),
  event('lifted', { change: Id.nullable(), by: Id }),
]);

const ScheduleEvent = z.discriminatedUnion('type', [
  event('created', {
    change: Id,
    by: Id,
    service: z.object({ id: Id, name: z.string() }),
    stop: z.string().nullable(),
    start: z.string().nullable(),
    zone: Id,
    until: Instant,
  }),
  event('paused', { by: Id, why: z.string() }),
  event('resumed', { by: Id }),
  event('removed', { by: Id, why: z.string() }),
  event('run-claimed', { change: Id, verb: Id, dueAt: Instant, nonce: Id, until: Instant }),
  event('run-ended', { change: Id, outcome: Id }),
]);

const PostEvent = z.discriminatedUnion('type', [
  event('posting', { nonce: Id, until: Instant }),
  event('posted', Place),
  /** Slack refused it for now and posted nothing. */
  event('not-posted', { why: z.string() }),
  event('missed', { why: z.string() }),
]);

const InstallationEvent = z.discriminatedUnion('type', [
  event('configured', { configuration: Id, release: Id }),
  event('named', { ids: z.record(Id, Id) }),
  event('key-changed', { key: Id, oldPublicKey: Id, newPublicKey: Id, proof: Id }),
  event('restored', {
    from: z.object({ seq: z.int(), hash: Id }),
    lost: z.array(Mark).readonly(),
    timeline: z.int().nullable(),
  }),
  event('pruned', {
    streams: z.array(z.object({ stream: Id, upTo: z.int().positive() })).readonly(),
    export: Id,
  }),
  event('chapter', {
    from: z.object({ seq: z.int().positive(), hash: Id }),
    damage: z.string(),
    export: Id,
    ended: z.array(Mark).readonly(),
  }),
]);

const EVENTS = {
  change: ChangeEvent,
  press: PressEvent,
  target: TargetEvent,
  freeze: FreezeEvent,
  schedule: ScheduleEvent,
  digest: PostEvent,
  post: PostEvent,
  installation: InstallationEvent,
};

/** The first word of the name of a stream. */
export type Kind = keyof typeof EVENTS;
/** `change/7KQ2MX`: one subject. `installation` is one by itself, and has parts. */
export type StreamName = `${Kind}/${string}` | 'installation';
type KindOf<Name extends StreamName> = Name extends `${infer K extends Kind}/${string}` ? K : Name;

/** An event that may be appended to a stream of this name. */
export type EventOf<Name extends StreamName> = z.infer<(typeof EVENTS)[KindOf<Name> & Kind]>;

/** An event and the stream that it belongs to. */
export type NewEvent = {
  [K in Kind]: {
    readonly stream: K extends 'installation' ? K | `${K}/${string}` : `${K}/${string}`;
    readonly event: z.infer<(typeof EVENTS)[K]>;
  };
}[Kind];

/** An event as the log has it. `at` is the clock of the database, in milliseconds since 1970. */
export type Recorded<Event> = Event & {
  readonly seq: number;
  readonly version: number;
  readonly at: number;
  readonly hash: string;
};

/** Returns the event with the fields of its type alone, or null for a type that this release does not know. */
export function parseEvent<Name extends StreamName>(
  stream: Name,
  fields: JsonObject,
): EventOf<Name> | null {
  const [kind = ''] = stream.split('/');
  if (!(kind in EVENTS)) return null;
  const read = EVENTS[kind as Kind].safeParse(fields);
  return read.success ? (read.data as EventOf<Name>) : null;
}

/** Types after which nothing of the subject is open. A target and the installation never end. */
const ENDS: Readonly<Partial<Record<Kind, readonly string[]>>> = {
  change: [
    ...['succeeded', 'failed', 'resolved', 'rejected', 'cancelled', 'expired', 'denied', 'stale'],
    ...['reviewed', 'reverted', 'revert-failed'],
  ],
  press: ['answered'],
  freeze: ['lifted'],
  schedule: ['removed'],
  digest: ['posted', 'missed'],
  post: ['posted', 'missed'],
};

/** Whether a stream with this last event is over. */
export function endsStream(stream: string, lastType: string): boolean {
  const [kind = ''] = stream.split('/');
  return ENDS[kind as Kind]?.includes(lastType) ?? false;
}

/** What lists of changes show. The whole change is a fold of its own. */
export interface ChangeStatus {
  readonly state: State;
  readonly command: string;
  readonly target: string;
  readonly requester: string;
  readonly createdAt: number;
  readonly needsReview: boolean;
  readonly approvals: readonly string[];
  readonly count: number;
}

export function evolveStatus(
  status: ChangeStatus | null,
  event: Recorded<z.infer<typeof ChangeEvent>>,
): ChangeStatus {
  if (event.type === 'drafted') {
    const { command, requester, target, requirement, at } = event;
    const key = `${target.organization}/${target.kind}/${target.id}`;
    const own = { command, requester, target: key, createdAt: at, count: requirement.count };
    return { ...own, state: 'draft', needsReview: false, approvals: [] };
  }
  if (!status) throw new Error(`The first event of a change is ${event.type}, not drafted`);
  switch (event.type) {
    case 'confirmed':
      return { ...status, state: status.count === 0 ? 'approved' : 'pending' };
    case 'approved': {
      const approvals = [...status.approvals, event.by];
      return {
        ...status,
        approvals,
        state: approvals.length < status.count ? 'pending' : 'approved',
      };
    }
    case 'break-glass':
      return { ...status, state: 'approved', needsReview: true };
    case 'reviewed':
      return { ...status, needsReview: false };
    case 'claimed':
      return { ...status, state: 'executing' };
    case 'not-sent':
      return { ...status, state: 'approved' };
    case 'resolved':
      return { ...status, state: event.as };
    case 'rejected':
    case 'cancelled':
    case 'succeeded':
    case 'failed':
    case 'unknown':
    case 'expired':
    case 'denied':
    case 'stale':
      return { ...status, state: event.type };
    case 'card-posted':
    case 'refused':
    case 'restored':
    case 'revert-claimed':
    case 'revert-not-sent':
    case 'reverted':
    case 'revert-failed':
    case 'revert-unknown':
      return status;
  }
}

/** The changes that hold a target, the first one first. Empty: it is free. */
export function evolveHolders(
  holders: readonly string[] | null,
  event: Recorded<z.infer<typeof TargetEvent>>,
): readonly string[] {
  const others = (holders ?? []).filter((each) => each !== event.change);
  return event.type === 'taken' ? [...others, event.change] : others;
}

/** A freeze made in Slack. */
export interface LoggedFreeze {
  readonly change: string;
  readonly by: string;
  readonly reason: string;
  readonly scope: Scope;
  readonly createdAt: number;
  readonly until: number;
  readonly isLifted: boolean;
  readonly card: { readonly channel: string; readonly ts: string } | null;
}

export function evolveFreeze(
  freeze: LoggedFreeze | null,
  event: Recorded<z.infer<typeof FreezeEvent>>,
): LoggedFreeze {
  if (event.type === 'created') {
    const { change, by, reason, scope, until, at } = event;
    return { change, by, reason, scope, until, createdAt: at, isLifted: false, card: null };
  }
  if (!freeze) throw new Error(`The first event of a freeze is ${event.type}, not created`);
  if (event.type === 'lifted') return { ...freeze, isLifted: true };
  return { ...freeze, card: { channel: event.channel, ts: event.ts } };
}

/** A schedule, also while it is paused. */
export interface LoggedSchedule {
  readonly change: string;
  readonly by: string;
  readonly service: { readonly id: string; readonly name: string };
  readonly stop: string | null;
  readonly start: string | null;
  readonly zone: string;
  readonly until: number;
  readonly isPaused: boolean;
  readonly isRemoved: boolean;
  /** The run that is claimed and has not ended. */
  readonly run: { readonly change: string; readonly verb: string; readonly dueAt: number } | null;
}

export function evolveSchedule(
  schedule: LoggedSchedule | null,
  event: Recorded<z.infer<typeof ScheduleEvent>>,
): LoggedSchedule {
  if (event.type === 'created') {
    const { change, by, service, stop, start, zone, until } = event;
    const own = { change, by, service, stop, start, zone, until };
    return { ...own, isPaused: false, isRemoved: false, run: null };
  }
  if (!schedule) throw new Error(`The first event of a schedule is ${event.type}, not created`);
  switch (event.type) {
    case 'paused':
      return { ...schedule, isPaused: true };
    case 'resumed':
      return { ...schedule, isPaused: false };
    case 'removed':
      return { ...schedule, isRemoved: true };
    case 'run-claimed':
      return { ...schedule, run: { change: event.change, verb: event.verb, dueAt: event.dueAt } };
    case 'run-ended':
      return { ...schedule, run: schedule.run?.change === event.change ? null : schedule.run };
  }
}
