import { z } from 'zod';
import type { JsonObject } from '../base/text.ts';
import { AnswerAction, InlinePart, StoredAnswer } from './answer.ts';
import {
  At,
  type ChangeId,
  ChangeKey,
  Fields,
  type Position,
  PostedAt,
  User,
  type UserId,
  Via,
} from './change.ts';
import { AnsweredMark, ChangeEvent, Id } from './change-events.ts';
import { LONGEST_FREEZE_MS, Scope } from './freezes.ts';

// The events of the log, by the first word of their stream. What Signalbox decides from is here and nowhere else.

const Instant = z.int().nonnegative();

const event = <T extends string, S extends z.ZodRawShape>(type: T, shape: S) =>
  z.object({ type: z.literal(type), ...shape });

/** A press that decides: of a change, or of an anomaly of the costs. */
const PressEvent = z.discriminatedUnion('type', [
  event('pressed', {
    verb: Id,
    by: User,
    /** The reason or the note. */
    text: z.string(),
    /** What an approver filled in to approve less. */
    given: z.record(Id, z.string()).optional(),
    /** The message with the button; its kind says how the place is known. */
    place: Fields,
    /** The mark that the person saw; null where the payload had none. */
    seen: Id.nullable(),
  }),
  /** The event that the press became, or why it was refused. */
  event('answered', { what: Id, refusal: Id.nullable(), evidence: Fields.optional() }),
]);

const TargetEvent = z.discriminatedUnion('type', [
  /** `over`: the unknown run of the same schedule whose lock is passed. */
  event('taken', { change: Id, over: Id.nullable() }),
  event('released', { change: Id }),
]);

const FreezeEvent = z.discriminatedUnion('type', [
  event('created', {
    change: ChangeKey,
    by: User,
    reason: z.string(),
    scope: Scope,
    from: At,
    until: At,
  }),
  /** Slack shows a freeze that the log has lost, or this process has read it. `card` still shows it. */
  event('found', {
    change: ChangeKey,
    foreign: z.array(AnsweredMark).readonly(),
    card: z.object(PostedAt).nullable(),
  }),
  event('lifted', { change: ChangeKey.nullable(), by: Id }),
]);

const ScheduleEvent = z.discriminatedUnion('type', [
  event('created', {
    change: ChangeKey,
    by: User,
    service: z.object({ id: Id, name: z.string() }),
    /** `weekdays 20:00`; null: it has no such time. */
    stop: z.string().nullable(),
    start: z.string().nullable(),
    /** The name of its time zone. */
    zone: Id,
    until: At,
  }),
  event('paused', { by: Id, why: z.string() }),
  event('resumed', { by: Id }),
  event('removed', { by: Id, why: z.string() }),
  event('run', { change: ChangeKey, verb: Id, occurrence: At, missed: z.int().nonnegative() }),
  event('skipped', { why: z.string(), verb: Id, occurrence: At, missed: z.int().nonnegative() }),
]);

/** A regular digest of a channel. */
const SubscriptionEvent = z.discriminatedUnion('type', [
  event('added', { channel: Id, options: Fields, by: User }),
  event('paused', { by: Id }),
  event('resumed', { by: Id }),
  event('removed', { by: Id }),
]);

const text = z.string();

/** Something that a person or the operators must read. `to` null: the operators. */
const NoticeEvent = z.discriminatedUnion('type', [
  event('noticed', {
    to: User.nullable(),
    title: z.string(),
    text: z.string(),
    /** Continues the text with what a text cannot mention, for example users. */
    line: z.array(InlinePart).readonly().optional(),
    actions: z.array(AnswerAction).readonly().optional(),
  }),
  event('shown', {}),
  event('given-up', { why: z.string() }),
]);

/** A refusal that belongs to no change. */
const RefusalEvent = event('refused', {
  by: Id,
  tried: Id,
  why: Id,
  command: z.string().nullable(),
  target: z.string().nullable(),
  rule: z.int().nullable(),
  /** The agent that tried it for the person. */
  via: Via.optional(),
  evidence: Fields.optional(),
});

/** A post that happens at most once. What a digest says is composed when it is posted; an announcement is stored. */
const PostEvent = z.discriminatedUnion('type', [
  event('announced', { channel: Id, answer: StoredAnswer }),
  event('posting', { nonce: Id, until: Instant }),
  /** `shows`: the version of the announcement that it shows; missing where that is not known. */
  event('posted', { ...PostedAt, shows: z.int().positive().optional() }),
  /** Slack refused it for now and posted nothing. */
  event('not-posted', { why: z.string() }),
  event('missed', { why: z.string() }),
  /** Left out on purpose: the digest of a quiet day. */
  event('left-out', {}),
]);

/** A person expects an unusual cost: a new usual cost is learned from its first day on. */
const IncidentEvent = event('expected', {
  by: User,
  press: Id,
  line: text,
  name: text,
  since: text,
});

/**
 * What the activity log of the cloud lists and no change of Signalbox sent. The stream of an organization says since when
 * that log is read; the stream of a UTC day has the changes of that day.
 */
const ElsewhereEvent = z.discriminatedUnion('type', [
  event('begun', {}),
  event('ended', {}),
  /** `id`: the hash of the server's id. `group`: the id of the change with which it shares a message. */
  event('found', {
    ...{ id: Id, madeAt: At, service: text, name: text, what: text, by: text },
    ...{ channel: text.nullable(), group: Id },
  }),
]);

const InstallationEvent = z.discriminatedUnion('type', [
  event('configured', { configuration: Id, release: Id }),
  event('started', { release: Id, instance: Id }),
  event('stopped', { instance: Id }),
  event('named', { ids: z.record(Id, Id) }),
  event('key-changed', { key: Id, oldPublicKey: Id, newPublicKey: Id, proof: Id }),
  event('restored', {
    from: z.object({ seq: z.int(), hash: Id }),
    lost: z.array(AnsweredMark).readonly(),
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
    ended: z.array(AnsweredMark).readonly(),
  }),
]);

const EVENTS = {
  change: ChangeEvent,
  press: PressEvent,
  target: TargetEvent,
  freeze: FreezeEvent,
  schedule: ScheduleEvent,
  subscription: SubscriptionEvent,
  notice: NoticeEvent,
  refusal: RefusalEvent,
  digest: PostEvent,
  post: PostEvent,
  incident: IncidentEvent,
  elsewhere: ElsewhereEvent,
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
    ...['reviewed', 'revert-planned', 'revert-kept', 'revealed', 'used', 'revoked'],
  ],
  press: ['answered'],
  freeze: ['lifted'],
  schedule: ['removed'],
  subscription: ['removed'],
  notice: ['shown', 'given-up'],
  refusal: ['refused'],
  digest: ['posted', 'missed', 'left-out'],
  post: ['posted', 'missed'],
  incident: ['expected'],
  elsewhere: ['ended', 'found'],
};

/** Whether a stream with this last event is over. */
export function endsStream(stream: string, lastType: string): boolean {
  const [kind = ''] = stream.split('/');
  return ENDS[kind as Kind]?.includes(lastType) ?? false;
}

/** The changes that hold a target, the first one first. Empty: it is free. */
export function evolveHolders(
  holders: readonly string[] | null,
  event: Recorded<z.infer<typeof TargetEvent>>,
): readonly string[] {
  const others = (holders ?? []).filter((each) => each !== event.change);
  return event.type === 'taken' ? [...others, event.change] : others;
}

/** What an event says, without its type and its place in the log. */
function factsOf<Event extends Recorded<{ readonly type: string }>>(event: Event) {
  const { type: _type, seq: _seq, version: _version, at: _at, hash: _hash, ...facts } = event;
  return facts;
}

type FactsOf<Event, Type extends string> = Omit<Extract<Event, { type: Type }>, 'type'>;

/** What the events before have made of a subject. */
function begun<State>(state: State | null, { type }: { readonly type: string }): State {
  if (state === null) throw new Error(`The first event of a subject is ${type}`);
  return state;
}

type FreezeEvent = z.infer<typeof FreezeEvent>;

/** A freeze made in Slack. */
export interface LoggedFreeze extends Omit<FactsOf<FreezeEvent, 'created'>, 'by'> {
  /** Null: the log has lost it. */
  readonly by: UserId | null;
  readonly isLifted: boolean;
  /** The log has lost what it covers: nothing is executed until a person decides. Null for any other freeze. */
  readonly lost: {
    readonly foundAt: Date;
    readonly answered: readonly string[];
    readonly card: Position | null;
  } | null;
}

export function evolveFreeze(
  freeze: LoggedFreeze | null,
  event: Recorded<FreezeEvent>,
): LoggedFreeze {
  if (event.type === 'created') return { ...factsOf(event), isLifted: false, lost: null };
  if (event.type === 'found') return lostFreeze(freeze, event);
  return { ...begun(freeze, event), isLifted: true };
}

function lostFreeze(
  before: LoggedFreeze | null,
  { change, at, foreign, card }: Recorded<FreezeEvent & { type: 'found' }>,
): LoggedFreeze {
  const from = new Date(at);
  const answered = [...(before?.lost?.answered ?? []), ...foreign.map(({ hash }) => hash)];
  const lost = { foundAt: from, answered, card: card ?? before?.lost?.card ?? null };
  const covers = { by: null, reason: LOST_FREEZE, scope: { everything: true } } as const;
  const until = new Date(at + LONGEST_FREEZE_MS);
  return { change, ...covers, from, until, isLifted: false, lost };
}

const LOST_FREEZE = 'the database has lost this freeze; its card shows what it covers';

type ScheduleEvent = z.infer<typeof ScheduleEvent>;

/** A schedule, also while it is paused. */
export interface LoggedSchedule extends FactsOf<ScheduleEvent, 'created'> {
  readonly createdAt: Date;
  readonly isPaused: boolean;
  readonly isRemoved: boolean;
  readonly endedWhy: string | null;
  /** Occurrences up to this time were handled: run, skipped, or passed while it was paused. */
  readonly since: Date;
  /** The last occurrence: the change that ran it, or why it was skipped. */
  readonly last: {
    readonly verb: string;
    readonly occurrence: Date;
    readonly change: ChangeId | null;
    readonly skipped: string | null;
  } | null;
}

export function evolveSchedule(
  schedule: LoggedSchedule | null,
  event: Recorded<ScheduleEvent>,
): LoggedSchedule {
  const at = new Date(event.at);
  if (event.type === 'created') {
    const times = { createdAt: at, since: at };
    const open = { isPaused: false, isRemoved: false, endedWhy: null };
    return { ...factsOf(event), ...times, ...open, last: null };
  }
  const before = begun(schedule, event);
  switch (event.type) {
    case 'paused':
      return { ...before, isPaused: true };
    case 'resumed':
      // What was due while it was paused does not run.
      return { ...before, isPaused: false, since: at };
    case 'removed':
      return { ...before, isRemoved: true, endedWhy: event.why };
    case 'run':
    case 'skipped': {
      const { verb, occurrence } = event;
      const [change, skipped] = event.type === 'run' ? [event.change, null] : [null, event.why];
      return { ...before, since: occurrence, last: { verb, occurrence, change, skipped } };
    }
  }
}

type PostEvent = z.infer<typeof PostEvent>;
type Announced = Omit<Recorded<FactsOf<PostEvent, 'announced'>>, 'seq' | 'hash'>;

/** A post that happens at most once. */
export interface LoggedPost {
  /** What is posted, and where; null for a digest, which is composed when it is posted. */
  readonly announced: Announced | null;
  /** The version of the announcement that the message shows; null where that is not known. */
  readonly shows: number | null;
  readonly state: 'waiting' | 'posting' | 'posted' | 'missed' | 'left-out';
  /** Names the process that posts it now, until this time. */
  readonly posting: { readonly nonce: string; readonly until: number } | null;
  readonly at: Position | null;
}

const NOT_ANNOUNCED: LoggedPost = {
  announced: null,
  shows: null,
  state: 'waiting',
  posting: null,
  at: null,
};

export function evolvePost(post: LoggedPost | null, event: Recorded<PostEvent>): LoggedPost {
  const before = { ...(post ?? NOT_ANNOUNCED), posting: null };
  switch (event.type) {
    case 'announced': {
      // A later announcement replaces the content of the message, and changes nothing else.
      const { channel, answer, at, version } = event;
      const announced = { channel, answer, at, version };
      return post ? { ...post, announced } : { ...before, announced };
    }
    case 'posting':
      return { ...before, state: 'posting', posting: { nonce: event.nonce, until: event.until } };
    case 'posted':
      return {
        ...before,
        state: 'posted',
        at: { channel: event.channel, ts: event.ts },
        // A message that was found later shows the only announcement, if there was no other one.
        shows: event.shows ?? (before.announced?.version === 1 ? 1 : null),
      };
    case 'not-posted':
      return { ...before, state: 'waiting' };
    case 'missed':
    case 'left-out':
      return { ...before, state: event.type };
  }
}

type IncidentEvent = z.infer<typeof IncidentEvent>;

/** An unusual cost that a person expects. */
export function evolveIncident(
  _: unknown,
  event: Recorded<IncidentEvent>,
): FactsOf<IncidentEvent, 'expected'> {
  return factsOf(event);
}

type ElsewhereEvent = z.infer<typeof ElsewhereEvent>;

/** A change that was made without Signalbox. `at`: when it was found, in milliseconds. */
export type FoundElsewhere = FactsOf<ElsewhereEvent, 'found'> & { readonly at: number };

/** `since`: from when on the activity log is read, in milliseconds; null: it is not. */
export function evolveElsewhere(
  before: { readonly since: number | null; readonly found: readonly FoundElsewhere[] } | null,
  event: Recorded<ElsewhereEvent>,
): NonNullable<typeof before> {
  const { since = null, found = [] } = before ?? {};
  if (event.type !== 'found') return { since: event.type === 'begun' ? event.at : null, found };
  return { since, found: [...found, { ...factsOf(event), at: event.at }] };
}

type SubscriptionEvent = z.infer<typeof SubscriptionEvent>;

/** A digest that is posted regularly in a channel. */
export interface LoggedSubscription extends FactsOf<SubscriptionEvent, 'added'> {
  /** When it was added or resumed. */
  readonly since: Date;
  readonly isPaused: boolean;
  readonly isRemoved: boolean;
}

export function evolveSubscription(
  subscription: LoggedSubscription | null,
  event: Recorded<SubscriptionEvent>,
): LoggedSubscription {
  if (event.type === 'added') {
    const since = new Date(event.at);
    return { ...factsOf(event), since, isPaused: false, isRemoved: false };
  }
  const before = begun(subscription, event);
  if (event.type === 'removed') return { ...before, isRemoved: true };
  return { ...before, isPaused: event.type === 'paused', since: new Date(event.at) };
}

type PressEvent = z.infer<typeof PressEvent>;

/** A press that was stored before Slack got its answer. */
export interface LoggedPress extends FactsOf<PressEvent, 'pressed'> {
  readonly pressedAt: Date;
  readonly isAnswered: boolean;
  /** Why it was refused; null: it was not, or is not answered yet. */
  readonly refusal: string | null;
}

export function evolvePress(press: LoggedPress | null, event: Recorded<PressEvent>): LoggedPress {
  if (event.type === 'pressed') {
    const pressedAt = new Date(event.at);
    return { ...factsOf(event), pressedAt, isAnswered: false, refusal: null };
  }
  return { ...begun(press, event), isAnswered: true, refusal: event.refusal };
}
