import type { Api, Arrival } from './api.ts';
import { AUDIT, DIGESTS, ENDED, LEASE_MS, type Payload, POSTING_MS } from './bot.ts';
import type { Message, Slack } from './slack.ts';
import { LATE_MS, type World } from './world.ts';

export interface Broken {
  readonly promise: Promised;
  readonly what: string;
}

export type Promised =
  | 'sent twice'
  | 'sent after an end'
  | 'sent without approvals'
  | 'sent in a freeze'
  | 'sent for a paused schedule'
  | 'sent to a locked target'
  | 'digest posted twice'
  | 'events in an outage'
  | 'false alarm'
  | 'stuck'
  | 'press without an answer'
  | 'no line in the audit channel';

interface Truth {
  readonly requester: string;
  readonly target: string;
  readonly need: number;
  readonly approvals: Set<string>;
  /** Since it ended. */
  readonly again: Set<string>;
  ended: string | null;
}

/** States that people see only after something was lost. */
const ALARMS: ReadonlySet<string> = new Set(['stale', 'lost']);

/** Counts at the API and with the people: what arrived, what they pressed, saw and were told. It never reads the log. */
export class Oracle {
  readonly broken: Broken[] = [];
  readonly changes = new Map<string, Truth>();
  /** Schedules that a person paused. Nobody resumes them. */
  readonly pausedBy = new Set<string>();
  readonly #world: World;
  readonly #slack: Slack;
  /** Freezes that a person was told of, with the time. */
  readonly #frozen = new Map<string, number>();
  readonly #lifted = new Set<string>();
  /** Schedules that a person paused: when a person first saw it. */
  readonly #paused = new Map<string, number>();
  /** Unknown outcomes that a person has answered. */
  readonly #settled = new Set<string>();
  /** Acknowledged presses that nobody was told about. */
  readonly #open = new Map<string, number>();
  readonly #told = new Map<string, number>();
  readonly #api: Api;
  /** Whether the database kept everything so far: then every alarm is false. */
  isHonest = true;
  /** Whether all processes write to one database, and no hand is in it. */
  isWhole = true;

  constructor(world: World, slack: Slack, api: Api) {
    this.#world = world;
    this.#slack = slack;
    this.#api = api;
    slack.onShown = (message) => this.#shown(message);
    api.onArrival = (arrival) => this.#arrived(arrival);
  }

  requested(subject: string, requester: string, target: string, need: number): void {
    const [approvals, again] = [new Set<string>(), new Set<string>()];
    this.changes.set(subject, { requester, target, need, approvals, again, ended: null });
  }

  pressed(payload: Payload): void {
    if (payload.kind !== 'press') return;
    const { verb, subject, by } = payload;
    if (verb === 'approve') {
      this.changes.get(subject)?.approvals.add(by);
      this.changes.get(subject)?.again.add(by);
    }
    if (verb === 'happened' || verb === 'did not happen') this.#settled.add(subject);
    if (verb === 'pause') this.pausedBy.add(subject);
    if (verb === 'lift') {
      this.#lifted.add(subject);
      this.#frozen.delete(subject);
    }
  }

  /** Slack got the answer to a press of the given time. */
  acknowledged({ kind, by, subject }: Payload, at: number): void {
    const key = `${by} ${subject}`;
    if (kind === 'press' && (this.#told.get(key) ?? 0) < at) this.#open.set(key, at);
  }

  told(person: string, subject: string, what: string): void {
    this.#open.delete(`${person} ${subject}`);
    this.#told.set(`${person} ${subject}`, this.#world.now);
    if (what === 'frozen' && !this.#lifted.has(subject) && !this.#frozen.has(subject)) {
      this.#frozen.set(subject, this.#world.now);
    }
    if (what === 'paused') this.#sawPaused(subject);
    if (ENDED.has(what)) this.#ended(subject, `told ${what}`);
    if (person === 'operators' && this.isHonest) this.#break('false alarm', `${subject} ${what}`);
  }

  /** A person cancelled before any process claimed the change, and Slack got its answer. */
  cancelled(subject: string): void {
    this.#ended(subject, 'cancelled');
  }

  /** A person looks at a message. */
  saw({ shown }: Message): void {
    if (shown.state === 'paused') this.#sawPaused(shown.subject);
    if (ENDED.has(shown.state)) this.#ended(shown.subject, `saw ${shown.state}`);
  }

  #sawPaused(subject: string): void {
    if (!this.pausedBy.has(subject) || this.#paused.has(subject)) return;
    this.#paused.set(subject, this.#world.now);
  }

  /** Everything was healthy for hours: what people see must be an end. */
  atTheEnd(): void {
    for (const { shown, deleted, channel } of this.#slack.messages) {
      if (deleted || channel === AUDIT || !shown.subject.startsWith('change/')) continue;
      const isEnd = ENDED.has(shown.state) || ['lost', 'elsewhere'].includes(shown.state);
      if (!isEnd) this.#break('stuck', `${shown.subject} is shown as ${shown.state}`);
    }
    if (!this.isHonest) return;
    for (const key of this.#open.keys()) this.#break('press without an answer', key);
  }

  /** The log grew while Slack was down. What people did in that time has its events, and each change one end. */
  outage(growth: number, payloads: number): void {
    const allowed = 10 + 4 * payloads + 2 * this.changes.size;
    if (growth > allowed) this.#break('events in an outage', `${growth} of ${allowed}`);
  }

  /** Each execution has a line in the audit channel, except for those that a crash prevented. */
  audited(crashes: number): void {
    const lines = this.#slack.messages.filter(({ channel }) => channel === AUDIT).length;
    const sent = this.#api.arrivals.length;
    if (sent - lines > crashes) this.#break('no line in the audit channel', `${sent - lines}`);
  }

  #ended(subject: string, how: string): void {
    const truth = this.changes.get(subject);
    if (!truth || truth.ended) return;
    truth.ended = how;
    truth.again.clear();
  }

  #shown(message: Message): void {
    if (this.isHonest && ALARMS.has(message.shown.state)) {
      this.#break('false alarm', `${message.shown.subject} is shown as ${message.shown.state}`);
    }
    if (message.channel !== DIGESTS) return;
    // A post that was on its way while another one was looked for is not noticed.
    const earlier = this.#slack.messages.some(
      ({ shown, at, deleted }) =>
        shown.subject === message.shown.subject &&
        message.at - at > LATE_MS + POSTING_MS &&
        !deleted,
    );
    if (earlier) this.#break('digest posted twice', message.shown.subject);
  }

  #arrived({ change, target, at }: Arrival): void {
    const requested = change.replace(/^run\/(\d+)\/\d+$/, 'schedule/$1');
    const truth = this.changes.get(requested);
    if (!truth) {
      this.#break('sent without approvals', `${change} was never requested`);
      return;
    }
    const before = this.#api.arrivals.filter((arrival) => arrival.change === change).length - 1;
    if (before > 0 && this.#hasWitness(change)) this.#break('sent twice', change);
    const count = (all: ReadonlySet<string>) =>
      [...all].filter((by) => by !== truth.requester).length;
    // With its card an end is deleted as well: the request is shown anew, and people approve it anew.
    const isNew = truth.need > 0 && count(truth.again) >= truth.need && !this.#hasWitness(change);
    if (truth.ended && !isNew) {
      this.#break('sent after an end', `${change} after a person ${truth.ended}`);
    }
    if (count(truth.approvals) < truth.need) this.#break('sent without approvals', change);
    // An attempt that was claimed before the freeze may still arrive within its lease.
    const isFrozen = [...this.#frozen].some(
      ([freeze, since]) => at - since > LEASE_MS && this.#hasWitness(freeze),
    );
    if (isFrozen && this.isWhole) this.#break('sent in a freeze', change);
    const pausedAt = this.#paused.get(requested) ?? at;
    if (at - pausedAt > LEASE_MS && this.isWhole && this.#hasWitness(requested)) {
      this.#break('sent for a paused schedule', change);
    }
    const holder = this.#slack.messages.find(
      ({ shown, deleted }) =>
        !deleted &&
        shown.state === 'unknown' &&
        shown.subject !== change &&
        !this.#settled.has(shown.subject) &&
        this.changes.get(shown.subject)?.target === target,
    );
    if (holder && this.isWhole && change.startsWith('change/')) {
      this.#break('sent to a locked target', `${change} while ${holder.shown.subject} is unknown`);
    }
  }

  /**
   * The promises hold as long as the message of the subject or its line in the audit channel is in Slack. A run has no
   * message: its note stands below the card of its schedule.
   */
  #hasWitness(subject: string): boolean {
    const own = this.#slack.messages.filter(
      ({ shown, notes }) =>
        shown.subject === subject || notes.some(({ mark }) => mark.stream === subject),
    );
    const isAudited = own.some(({ channel, deleted }) => channel === AUDIT && !deleted);
    return isAudited || own.every(({ deleted }) => !deleted);
  }

  #break(promise: Promised, what: string): void {
    this.broken.push({ promise, what });
  }
}
