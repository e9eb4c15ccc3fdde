import type { JsonObject } from '../api/call.ts';
import type { Effects } from '../api/effects.ts';
import type { RandomSource } from '../api/random.ts';
import type {
  BackupSeed,
  OrganizationSeed,
  PipeSeed,
  ServiceSeed,
  ServiceState,
  UsageSeed,
  WarehouseSeed,
} from '../seed/shapes.ts';
import type { CloudBehaviour } from './behaviour.ts';
import { addDays } from './days.ts';

export type CloudProfile = 'contract' | 'full';

export interface ApiKey {
  readonly id: string;
  readonly secret: string;
  readonly role: 'admin' | 'developer';
  readonly active: boolean;
  /** Operations that this key may not use, whatever its role. */
  readonly denied: readonly string[];
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
  /** Where the present state leads by itself. */
  readonly transition: { readonly to: ServiceState; readonly at: Date } | null;
  readonly isPrimary: boolean;
  readonly isReadonly: boolean;
  readonly autoscaling: ServiceSeed['autoscaling'];
  readonly scaling: Scaling;
  /** What was in force before the last scaling, which takes a while to arrive. */
  readonly scaledFrom: { readonly scaling: Scaling; readonly until: Date } | null;
  readonly createdAt: Date;
  /** Body fields of its creation that a reply only repeats. */
  readonly given: JsonObject;
  readonly usage: UsageSeed;
  /** When it cost no compute. */
  readonly pauses: readonly { readonly from: Date; readonly until: Date | null }[];
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
  readonly given: JsonObject;
}

/** All that the simulated organization is. Records are replaced, never changed in place. */
export interface CloudState {
  readonly organization: Pick<OrganizationSeed, 'id' | 'plan' | 'tier'>;
  readonly warehouses: Map<string, WarehouseRecord>;
  readonly services: Map<string, ServiceRecord>;
  readonly pipes: Map<string, PipeRecord>;
  readonly backups: Map<string, BackupRecord>;
  readonly endpoints: Map<string, EndpointRecord>;
  readonly keys: Map<string, ApiKey>;
  readonly effects: Effects;
  readonly random: RandomSource;
  readonly seed: string;
  /** The day from which the seed's "days ago" count. */
  readonly bornAt: Date;
  readonly now: () => Date;
  profile: CloudProfile;
  behaviour: CloudBehaviour;
  /** How often the usage report was read: figures that are not final move with it. */
  costReads: number;
}

const MINUTE = 60_000;

export function warehouseRecords(seed: OrganizationSeed, bornAt: Date): WarehouseRecord[] {
  return seed.warehouses.map((one) => ({ ...one, createdAt: addDays(bornAt, -700) }));
}

export function serviceRecords(seed: OrganizationSeed, bornAt: Date): ServiceRecord[] {
  return seed.services.map((one) => {
    const { stoppedDaysAgo } = one.usage;
    const pause = stoppedDaysAgo !== undefined && {
      from: addDays(bornAt, -stoppedDaysAgo),
      until: null,
    };
    return {
      id: one.id,
      name: one.name,
      warehouseId: idOf(seed.warehouses, one.warehouse),
      provider: one.provider,
      region: one.region,
      state: one.state,
      transition: null,
      isPrimary: one.isPrimary,
      isReadonly: one.isReadonly,
      autoscaling: one.autoscaling,
      scaling: {
        minReplicaMemoryGb: one.minReplicaMemoryGb,
        maxReplicaMemoryGb: one.maxReplicaMemoryGb,
        numReplicas: one.numReplicas,
        idleScaling: one.idleScaling,
        idleTimeoutMinutes: one.idleTimeoutMinutes,
      },
      scaledFrom: null,
      createdAt: addDays(bornAt, -one.createdDaysAgo),
      given: { ipAccessList: [{ source: '10.20.0.0/16', description: 'office' }] },
      usage: one.usage,
      pauses: pause ? [pause] : [],
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
  if (found === undefined) throw new Error(`the seed has nothing called “${name}”`);
  return found.id;
}
