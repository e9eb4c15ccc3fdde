export interface OrganizationSeed {
  readonly id: string;
  readonly plan: 'paid' | 'free';
  readonly tier: 'basic' | 'scale' | 'enterprise';
  readonly warehouses: readonly WarehouseSeed[];
  readonly services: readonly ServiceSeed[];
  readonly pipes: readonly PipeSeed[];
  readonly backups: readonly BackupSeed[];
}

export interface WarehouseSeed {
  readonly name: string;
  readonly id: string;
  readonly dailyCredits: { readonly storage: number; readonly backup: number };
}

export interface ServiceSeed {
  readonly name: string;
  readonly id: string;
  readonly tags: readonly string[];
  /** The name of its warehouse. */
  readonly warehouse: string;
  readonly provider: 'aws' | 'gcp' | 'azure';
  readonly region: string;
  readonly state: ServiceState;
  readonly isPrimary: boolean;
  readonly isReadonly: boolean;
  /** A horizontally scaled service has a range of replicas in place of their number. */
  readonly autoscaling: 'vertical' | 'horizontal';
  readonly minReplicaMemoryGb: number;
  readonly maxReplicaMemoryGb: number;
  readonly numReplicas: number;
  readonly idleScaling: boolean;
  readonly idleTimeoutMinutes: number;
  readonly createdDaysAgo: number;
  readonly usage: UsageSeed;
}

export type ServiceState =
  | 'starting'
  | 'stopping'
  | 'terminating'
  | 'softdeleting'
  | 'awaking'
  | 'partially_running'
  | 'provisioning'
  | 'running'
  | 'stopped'
  | 'terminated'
  | 'softdeleted'
  | 'degraded'
  | 'failed'
  | 'idle';

/** How much a day costs, in credits, and what makes this entity's days differ. */
export interface UsageSeed {
  readonly computeCredits: number;
  readonly transferCredits: number;
  /** Office hours: weekends cost about a third. Steady: every day alike. */
  readonly rhythm: 'office' | 'steady';
  /** One day that cost several times the usual. */
  readonly spike?: { readonly daysAgo: number; readonly factor: number };
  /** From that day on, every day costs so many times what it did. */
  readonly shift?: { readonly daysAgo: number; readonly factor: number };
  /** What it was called in reports of the days before. */
  readonly renamed?: { readonly daysAgo: number; readonly from: string };
  /** It has not run since. */
  readonly stoppedDaysAgo?: number;
}

export interface PipeSeed {
  readonly name: string;
  readonly id: string;
  /** The name of its service. */
  readonly service: string;
  readonly dailyCredits: { readonly compute: number; readonly transfer: number };
  /** Null for a pipe that copies a database: such pipes have no settings at all. */
  readonly settings: Readonly<Record<string, number | boolean | null>> | null;
}

export interface BackupSeed {
  readonly id: string;
  /** The name of its service, always a primary one. */
  readonly service: string;
  readonly outcome: 'done' | 'error';
  readonly type: 'full' | 'incremental';
  readonly startedMinutesAgo: number;
  /** A backup that takes longer than ago it began is in progress, and finishes later. */
  readonly takesMinutes: number;
  readonly sizeInBytes: number;
  readonly backupName?: string;
  readonly bucket?: Readonly<Record<string, string>>;
  /** Its retention has passed: the server no longer knows it. */
  readonly expired?: true;
}
