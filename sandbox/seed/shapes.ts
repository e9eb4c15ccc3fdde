export interface OrganizationSeed {
  readonly id: string;
  readonly plan: 'paid' | 'free';
  readonly tier: 'basic' | 'scale' | 'enterprise';
  readonly warehouses: readonly WarehouseSeed[];
  readonly services: readonly ServiceSeed[];
  readonly pipes: readonly PipeSeed[];
  readonly backups: readonly BackupSeed[];
  /** By the name of the service. */
  readonly schedules: Readonly<Record<string, readonly ScheduleEntry[]>>;
  readonly activities: readonly ActivitySeed[];
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
  readonly team?: string;
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
  | ('starting' | 'stopping' | 'terminating' | 'softdeleting' | 'awaking' | 'provisioning')
  | ('running' | 'partially_running' | 'degraded' | 'idle' | 'stopped' | 'failed')
  | ('terminated' | 'softdeleted');

/** The cost of a day in credits, and how the days differ. */
export interface UsageSeed {
  readonly computeCredits: number;
  readonly transferCredits: number;
  /** office: a weekend day costs about a third; steady: all days cost the same. */
  readonly rhythm: 'office' | 'steady';
  /** One day with a higher cost. */
  readonly spike?: { readonly daysAgo: number; readonly factor: number };
  /** The day from which each day costs more. */
  readonly shift?: { readonly daysAgo: number; readonly factor: number };
  /** The previous name, which reports of earlier days show. */
  readonly renamed?: { readonly daysAgo: number; readonly from: string };
  /** The day on which it was stopped. */
  readonly stoppedDaysAgo?: number;
}

/** A time of the week with its own size; overnight when it ends before it starts. */
export interface ScheduleEntry {
  readonly id: string;
  readonly name: string;
  /** 0 is Sunday. */
  readonly weekdays: readonly number[];
  readonly startHourUtc: number;
  readonly endHourUtc: number;
  readonly minReplicaMemoryGb: number;
  readonly maxReplicaMemoryGb: number;
}

export interface ActivitySeed {
  /** The name of its service; null for an event of the organization. */
  readonly service: string | null;
  readonly type: string;
  readonly actorType: 'user' | 'support' | 'system' | 'api';
  readonly actorId: string;
  readonly actorDetails: string;
  readonly actorIpAddress: string;
  readonly minutesAgo: number;
}

export interface PipeSeed {
  readonly name: string;
  readonly id: string;
  /** The name of its service. */
  readonly service: string;
  readonly family: 'streaming' | 'object storage' | 'database';
  readonly dailyCredits: { readonly compute: number; readonly transfer: number };
  /** Null for a pipe that copies a database, because such a pipe has no settings. */
  readonly settings: Readonly<Record<string, number | boolean | null>> | null;
}

export interface BackupSeed {
  readonly id: string;
  /** The name of its service, always a primary one. */
  readonly service: string;
  readonly outcome: 'done' | 'error';
  readonly type: 'full' | 'incremental';
  readonly startedMinutesAgo: number;
  /** A backup is in progress while this is longer than the time since its start. */
  readonly takesMinutes: number;
  readonly sizeInBytes: number;
  readonly backupName?: string;
  readonly bucket?: Readonly<Record<string, string>>;
  /** True when live servers report no end of the finished backup. */
  readonly hasNoEnd?: true;
  /** True when the retention time has passed, so that the server has deleted it. */
  readonly expired?: true;
}
