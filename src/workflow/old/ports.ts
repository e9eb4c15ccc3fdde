import type { Logger } from 'pino';
import type { Measures } from '../../base/log.ts';
import type { ChangeCommand, CommandContext } from '../../commands/index.ts';
import type { Change, ChangeId, EstimateCost } from '../../domain/change.ts';
import type { People } from '../../domain/gate.ts';
import type { IncidentService } from '../../domain/incidents.ts';
import type { Policy } from '../../domain/policy.ts';
import type { Service } from '../../domain/targets.ts';
import type { AuditKey } from '../../log/old/key-ring.ts';
import type { PriceList } from '../../maths/money.ts';
import type { Database, Db } from '../../storage/old/database.ts';
import type { DirectRecipients } from './direct-recipients.ts';
import type { HomeLists, Messenger } from './messenger-port.ts';

/**
 * What it takes to identify a user, decide, record the decision and notify users.
 * It holds no state: all state is in the database.
 */
export interface DecisionContext {
  readonly database: Database;
  readonly auditKey: AuditKey;
  readonly trail: Trail;
  /** The policy of the configuration file, without the freezes that users made. */
  readonly policy: Policy;
  /** The hash of that file. */
  readonly configuration: string;
  /** The prices of a credit; null: figures are in credits only. */
  readonly prices: PriceList | null;
  /** The current directory, which alone assigns tags and warehouses to targets. */
  readonly services: () => readonly Service[];
  /** Whether the server decides about the services that the configuration omits. */
  readonly discoversServices: boolean;
  readonly commands: ReadonlyMap<string, ChangeCommand>;
  readonly people: People;
  readonly messenger: Messenger;
  /** Who gets cards as direct messages. */
  readonly directCards: DirectRecipients;
  readonly log: Logger;
  readonly now: () => Date;
  readonly newId: () => ChangeId;
  /** The id of this process, which owns its leases. */
  readonly instance: string;
  /** Makes the background loops run soon, because there is new work. */
  readonly wake: () => void;
  readonly measures: Measures;
}

/** What it takes, in addition, to plan, estimate and run changes. */
export interface WorkflowContext extends DecisionContext {
  readonly commandContext: () => CommandContext;
  readonly refreshDirectory: () => void;
  /** Returns the directory with what the server lists now; without it, discovered services have no facts. */
  readonly verifyServices: () => Promise<readonly Service[]>;
  readonly incidents: IncidentService;
  readonly estimateCost: EstimateCost;
  /** What App Home shows about costs, from the stored report; null if it was not read yet. */
  readonly homeCosts: () => Promise<HomeLists['costs']>;
}

/** Returns the measured cost effect of a change as a sentence; null while there is none. */
export type MeasureEffect = (change: Change) => Promise<string | null>;

/** What executions need from the audit trail. */
export interface Trail {
  /**
   * Returns why nothing is executed: this or another replica found a problem in the trail.
   * Null: none was found. Within a transaction, pass that transaction.
   */
  readonly problem: (db: Db) => Promise<string | null>;
  /** Verifies the whole trail in small batches. Only a success here clears a stored problem. */
  readonly verifyAll: () => Promise<void>;
  /**
   * Verifies what was added to the trail, and that the events of this change and of all freezes are
   * those that this process verified before. `problem` returns what it found. Await it right before a
   * claim, outside the transaction.
   */
  readonly follow: (id: ChangeId) => Promise<void>;
  /** Whether this process verified an event that plans the revert of this change. */
  readonly isRevertPlanned: (id: ChangeId) => boolean;
  /** Writes the end of the trail to the file next to the database, where there is one. */
  readonly writeCheckpoint: () => Promise<void>;
}
