import type { ChangeId, UserId, Verb } from '../../../src/domain/change.ts';
import type { Environment } from './bot.ts';
import type { Kind } from './commands.ts';
import type { Crash } from './ports.ts';
import type { Delivery, Server } from './server.ts';
import type { Note, Slack } from './slack.ts';

/** A request as the driver recorded it, independent of the database. */
export interface RequestRecord {
  readonly mark: string;
  readonly by: UserId;
  readonly kind: Kind;
  readonly target: string;
  /** The number of deliveries and edits before the preview. */
  readonly after: { readonly deliveries: number; readonly edits: number };
  /** The earliest time to send it. */
  readonly notBefore: Date;
  id: ChangeId | null;
  /** The standing approval that its preview named; null: it asks for approvals of its own. */
  standing: ChangeId | null;
}

/** A standing approval as the driver recorded it. */
export interface AllowedRecord {
  readonly id: ChangeId;
  readonly uses: number;
}

export interface PressRecord {
  readonly by: UserId;
  readonly verb: Verb;
  readonly id: ChangeId;
  /** The number of answers that people had got before. */
  readonly told: number;
}

/** What becomes of the processes after a rollback. Without a sign of it they find it out themselves. */
export type AfterRollback = 'no sign' | 'connections end' | 'restart';

export interface Simulation {
  readonly around: Environment;
  readonly clock: { now: Date; frozen: boolean };
  readonly server: Server;
  readonly slack: Slack;
  readonly asked: readonly RequestRecord[];
  readonly pressed: readonly PressRecord[];
  readonly allowed: readonly AllowedRecord[];
  readonly counts: {
    readonly crashes: number;
    /** The number of deliveries before each rollback. */
    readonly rollbacks: readonly number[];
  };
  /** How far the clock of a process may be from that of the servers. */
  readonly skewMs: number;
  /** The note of each request, and the number of lines in the audit channel before it. */
  readonly witnesses: Map<Delivery, { readonly note: Note; readonly lines: number }>;
  /** The changes of which a rollback lost an event. */
  readonly lost: ReadonlySet<string>;
  readonly ask: (by: UserId, kind: Kind, thing: string, inMs?: number) => Promise<RequestRecord>;
  /** Asks for a standing approval; null: a crash or a refusal left no draft. */
  readonly allow: (by: UserId, thing: string, uses: number) => Promise<ChangeId | null>;
  readonly press: (by: UserId, verb: Verb, id: ChangeId, times?: number) => Promise<boolean>;
  readonly pass: (ms: number) => void;
  readonly settle: () => Promise<void>;
  readonly plan: (next: Crash) => Promise<void>;
  readonly restart: () => Promise<void>;
  readonly rollBack: (commits: number, then: AfterRollback) => Promise<void>;
  readonly work: () => Promise<boolean>;
  readonly workTogether: () => Promise<boolean>;
  readonly portCalls: () => readonly string[];
  readonly wrong: () => Promise<readonly string[]>;
  readonly close: () => Promise<void>;
}
