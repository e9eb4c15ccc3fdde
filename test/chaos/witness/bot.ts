import type { ApiPort } from './api.ts';
import type { DatabasePort, Engine, Server } from './database.ts';
import type { Mark, SlackPort } from './slack.ts';

/**
 * What the simulator runs: the model today, the log and the workflow of the bot later. Between two calls of a port a process
 * runs alone and without a timer. It keeps everything that it remembers in the object that `boot` returns, because a
 * restart is a new one.
 */
export interface BotKind<Tx> {
  /** An empty database. */
  open(server: Server): Engine<Tx>;
  /** A process that was just started. */
  boot(ports: Ports<Tx>): Bot;
}

export interface Bot {
  /** The work of the process, until it is killed. */
  run(): Promise<void>;
  /** Handles one payload of Slack. It resolves when Slack gets its answer: then it is committed. */
  receive(payload: Payload): Promise<void>;
}

export interface Ports<Tx> {
  readonly name: string;
  readonly database: DatabasePort<Tx>;
  readonly slack: SlackPort;
  readonly api: ApiPort;
  /** The clock of this process, which may be minutes ahead or behind. */
  clock(): number;
  /** Milliseconds since the start of the process. */
  elapsed(): number;
  sleep(ms: number): Promise<void>;
  /** A nonce that no other claim has. */
  nonce(): string;
  /** A message to one person about a subject; it always arrives. `operators` are told when the log lacks a mark. */
  tell(person: string, subject: string, what: string): void;
}

/** A command, or a press on what the person saw. Slack may deliver it twice. */
export type Payload = Request | Freeze | Schedule | Press;

export interface Request {
  readonly kind: 'request';
  readonly subject: string;
  readonly by: string;
  readonly target: string;
  readonly need: number;
}

export interface Freeze {
  readonly kind: 'freeze';
  readonly subject: string;
  readonly by: string;
}

/** A request that runs without approvals in each period, as `run/<number of the schedule>/<number of the period>`. */
export interface Schedule {
  readonly kind: 'schedule';
  readonly subject: string;
  readonly by: string;
  readonly target: string;
}

export interface Press {
  readonly kind: 'press';
  readonly id: string;
  readonly verb:
    | 'approve'
    | 'reject'
    | 'cancel'
    | 'happened'
    | 'did not happen'
    | 'lift'
    | 'pause'
    | 'resume';
  readonly subject: string;
  readonly by: string;
  /** The message that was pressed, and what the person saw there. */
  readonly ts: string;
  readonly plan: string;
  readonly seen: Mark;
}

/** States of a change in which people read that it runs no more. */
export const ENDED: ReadonlySet<string> = new Set([
  'succeeded',
  'failed',
  'rejected',
  'cancelled',
  'expired',
  'stale',
]);

/** After this time a claim that has no outcome ends as `unknown`. */
export const LEASE_MS = 120_000;
/** For so long one process alone posts the message of a subject; later it does not post. */
export const POSTING_MS = 15_000;
export const CHANNEL = 'approvals';
export const AUDIT = 'audit';
/** One post in each period, with the subject `digest/<number of the period>`. */
export const DIGESTS = 'digests';
export const PERIOD_MS = 1_200_000;
