import type { ChangeId, UserId } from '../../../src/changes/change.ts';
import type { Verb } from '../../../src/workflow/clicks.ts';
import type { Surroundings } from './bot.ts';
import type { Kind } from './commands.ts';
import type { Crash } from './ports.ts';
import type { Server } from './server.ts';
import type { Slack } from './slack.ts';

/** What the driver wrote down when somebody asked; the judge believes this, never the database. */
export interface Asked {
  readonly mark: string;
  readonly by: UserId;
  readonly kind: Kind;
  readonly target: string;
  /** Deliveries and edits before it was asked for are older than its preview. */
  readonly after: { readonly deliveries: number; readonly edits: number };
  /** Not to be sent before. */
  readonly notBefore: Date;
  id: ChangeId | null;
}

export interface Pressed {
  readonly by: UserId;
  readonly verb: Verb;
  readonly id: ChangeId;
}

export interface Theatre {
  readonly around: Surroundings;
  readonly clock: { now: Date; frozen: boolean };
  readonly server: Server;
  readonly slack: Slack;
  readonly asked: readonly Asked[];
  readonly pressed: readonly Pressed[];
  readonly counts: { readonly crashes: number };
  readonly ask: (by: UserId, kind: Kind, thing: string, inMs?: number) => Promise<Asked>;
  readonly press: (by: UserId, verb: Verb, id: ChangeId, times?: number) => Promise<boolean>;
  readonly pass: (ms: number) => void;
  readonly calm: () => Promise<void>;
  readonly plan: (next: Crash) => void;
  readonly restart: () => void;
  readonly work: () => Promise<boolean>;
  readonly workTogether: () => Promise<boolean>;
  readonly portCalls: () => readonly string[];
  readonly wrong: () => Promise<readonly string[]>;
  readonly close: () => Promise<void>;
}
