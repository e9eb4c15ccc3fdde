import { createEffects } from '../api/effects.ts';
import { createRandom } from '../api/random.ts';
import type { ServerOptions } from '../api/simulator.ts';
import type { Json } from '../json.ts';
import { CLOUD_KEY, ORGANIZATION } from '../seed/organization.ts';
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
import { type CloudBehaviour, USUAL_BEHAVIOUR } from './behaviour.ts';
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

export interface CloudOptions extends ServerOptions {
  readonly organization?: OrganizationSeed;
  /** The key that it accepts first. */
  readonly key?: Pick<ApiKey, 'id' | 'secret'>;
  readonly profile?: CloudProfile;
  readonly behaviour?: Partial<CloudBehaviour>;
}

/** The simulated organization. An update replaces a record and never changes it in place. */
export type CloudState = ReturnType<typeof createState>;

export function createState(options: CloudOptions) {
  const { organization = ORGANIZATION, now = () => new Date() } = options;
  const bornAt = now();
  const key: ApiKey = {
    ...(options.key ?? CLOUD_KEY),
    ...{ role: 'admin', active: true, denied: [] },
  };
  const behaviour: CloudBehaviour = { ...USUAL_BEHAVIOUR, ...options.behaviour };
  return {
    organization,
    warehouses: byId(warehouseRecords(organization, bornAt)),
    services: byId(serviceRecords(organization, bornAt)),
    pipes: byId(pipeRecords(organization)),
    backups: byId(backupRecords(organization, bornAt)),
    endpoints: new Map<string, EndpointRecord>(),
    /** The audit log of the organization, in the order of its events. */
    activities: seededActivities(organization, bornAt),
    keys: byId([key]),
    effects: createEffects(),
    /** Determines passwords and ids. */
    random: createRandom(),
    /** The start of the simulator, to which `daysAgo` of the seed refers. */
    bornAt,
    now,
    profile: options.profile ?? 'extended',
    behaviour,
    /** The number of usage reports; figures that are not final change with each report. */
    costReads: 0,
  };
}

function byId<T extends { readonly id: string }>(records: readonly T[]): Map<string, T> {
  return new Map(records.map((record) => [record.id, record]));
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

function seededActivities(
  { services, activities }: OrganizationSeed,
  bornAt: Date,
): ActivityRecord[] {
  return activities.map(({ service, minutesAgo, ...rest }, index) => ({
    ...rest,
    id: `act-seed-${index + 1}`,
    at: new Date(bornAt.getTime() - minutesAgo * MINUTE),
    serviceId: services.find(({ name }) => name === service)?.id ?? null,
  }));
}

function idOf(named: readonly { readonly name: string; readonly id: string }[], name: string) {
  const found = named.find((one) => one.name === name);
  if (found === undefined) throw new Error(`the seed has no entry “${name}”`);
  return found.id;
}
