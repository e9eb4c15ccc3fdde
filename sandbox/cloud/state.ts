import type { Effects } from '../api/effects.ts';
import type { RandomSource } from '../api/random.ts';
import type { Json } from '../json.ts';
import type {
  ActivitySeed,
  BackupSeed,
  OrganizationSeed,
  PipeSeed,
  ScheduleEntry,
  ServiceSeed,
  ServiceState,
  UsageSeed,
  WarehouseSeed,
} from '../seed/shapes.ts';
import type { CloudBehaviour } from './behaviour.ts';
import { addDays } from './days.ts';

/** `extended`: a live server, with more fields and with reads that the contract does not have. */
export type CloudProfile = 'contract' | 'extended';

export interface ApiKey {
  readonly id: string;
  readonly secret: string;
  readonly role: 'admin' | 'developer';
  readonly active: boolean;
  /** The operations that this key may not use, independent of its role. */
  readonly denied: readonly string[];
  /** Absent for a key that never expires. */
  readonly expireAt?: string;
}

export interface Scaling {
  readonly minReplicaMemoryGb: number;
  readonly maxReplicaMemoryGb: number;
  readonly numReplicas: number;
  readonly idleScaling: boolean;
  readonly idleTimeoutMinutes: number;
}

export interface ServiceRecord {
  readonly id: string;
  readonly name: string;
  readonly warehouseId: string;
  readonly provider: string;
  readonly region: string;
  readonly state: ServiceState;
  /** The next state and the time at which it begins, without a further command. */
  readonly transition: { readonly to: ServiceState; readonly at: Date } | null;
  readonly isPrimary: boolean;
  readonly isReadonly: boolean;
  readonly autoscaling: ServiceSeed['autoscaling'];
  readonly scaling: Scaling;
  /** The previous scaling, which stays in force until that time. */
  readonly scaledFrom: { readonly scaling: Scaling; readonly until: Date } | null;
  /** The entries of its scaling schedule; empty without one. */
  readonly schedule: readonly ScheduleEntry[];
  readonly tags: readonly ServiceTag[];
  readonly createdAt: Date;
  /** The body of the create request, from which replies repeat some fields. */
  readonly given: Json;
  readonly usage: UsageSeed;
  /** The periods without compute costs. */
  readonly pauses: readonly { readonly from: Date; readonly until: Date | null }[];
  /** The sizes since the scalings, relative to the size of the seed; compute costs follow them. */
  readonly sizes: readonly { readonly from: Date; readonly factor: number }[];
}

export interface ServiceTag {
  readonly key: string;
  readonly value?: string;
}

export interface ActivityRecord extends Omit<ActivitySeed, 'service' | 'minutesAgo'> {
  /** Not a UUID. */
  readonly id: string;
  readonly at: Date;
  /** Null for an event of the organization. */
  readonly serviceId: string | null;
  readonly userAgent?: string;
}

export interface WarehouseRecord extends WarehouseSeed {
  readonly createdAt: Date;
}

export interface PipeRecord extends PipeSeed {
  readonly serviceId: string;
}

export interface BackupRecord extends BackupSeed {
  readonly serviceId: string;
  readonly startedAt: Date;
}

export interface EndpointRecord {
  readonly id: string;
  readonly serviceId: string;
  readonly createdAt: Date;
  readonly given: Json;
}

/** The simulated organization. An update replaces a record and never changes it in place. */
export interface CloudState {
  readonly organization: Pick<OrganizationSeed, 'id' | 'plan' | 'tier'>;
  readonly warehouses: Map<string, WarehouseRecord>;
  readonly services: Map<string, ServiceRecord>;
  readonly pipes: Map<string, PipeRecord>;
  readonly backups: Map<string, BackupRecord>;
  readonly endpoints: Map<string, EndpointRecord>;
  readonly keys: Map<string, ApiKey>;
  /** The audit log of the organization, in the order of its events. */
  readonly activities: ActivityRecord[];
  readonly effects: Effects;
  readonly random: RandomSource;
  readonly seed: string;
  /** The start of the simulator, to which `daysAgo` of the seed refers. */
  readonly bornAt: Date;
  readonly now: () => Date;
  profile: CloudProfile;
  behaviour: CloudBehaviour;
  /** The number of usage reports; figures that are not final change with each report. */
  costReads: number;
}

const MINUTE = 60_000;

export function warehouseRecords(seed: OrganizationSeed, bornAt: Date): WarehouseRecord[] {
  return seed.warehouses.map((one) => ({ ...one, createdAt: addDays(bornAt, -700) }));
}

export function serviceRecords(seed: OrganizationSeed, bornAt: Date): ServiceRecord[] {
  return seed.services.map((one) => {
    const { createdDaysAgo, usage } = one;
    const { minReplicaMemoryGb, maxReplicaMemoryGb, numReplicas, ...rest } = one;
    const { idleScaling, idleTimeoutMinutes, warehouse, tags, ...fields } = rest;
    const { stoppedDaysAgo } = usage;
    const memory = { minReplicaMemoryGb, maxReplicaMemoryGb };
    return {
      ...fields,
      warehouseId: idOf(seed.warehouses, warehouse),
      transition: null,
      scaling: { ...memory, numReplicas, idleScaling, idleTimeoutMinutes },
      scaledFrom: null,
      schedule: seed.schedules[one.name] ?? [],
      tags: tags.map((value) => ({ key: 'env', value })),
      createdAt: addDays(bornAt, -createdDaysAgo),
      given: { ipAccessList: [{ source: '10.20.0.0/16', description: 'office' }] },
      sizes: [],
      pauses:
        stoppedDaysAgo === undefined
          ? []
          : [{ from: addDays(bornAt, -stoppedDaysAgo), until: null }],
    };
  });
}

export function pipeRecords(seed: OrganizationSeed): PipeRecord[] {
  return seed.pipes.map((pipe) => ({ ...pipe, serviceId: idOf(seed.services, pipe.service) }));
}

export function backupRecords(seed: OrganizationSeed, bornAt: Date): BackupRecord[] {
  return seed.backups.map((backup) => ({
    ...backup,
    serviceId: idOf(seed.services, backup.service),
    startedAt: new Date(bornAt.getTime() - backup.startedMinutesAgo * MINUTE),
  }));
}

function idOf(named: readonly { readonly name: string; readonly id: string }[], name: string) {
  const found = named.find((one) => one.name === name);
  if (found === undefined) throw new Error(`the seed has no entry “${name}”`);
  return found.id;
}
