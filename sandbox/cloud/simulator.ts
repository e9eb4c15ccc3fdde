import { createEffects } from '../api/effects.ts';
import { type Operation, operationOn } from '../api/pipeline.ts';
import { createRandom } from '../api/random.ts';
import { createRateLimiter } from '../api/rate-limit.ts';
import { type ServerOptions, type Simulator, startSimulator } from '../api/simulator.ts';
import type { Json } from '../json.ts';
import { CLOUD_KEY, ORGANIZATION } from '../seed/organization.ts';
import type { OrganizationSeed, ScheduleEntry, ServiceState } from '../seed/shapes.ts';
import { checkCloudAccess } from './access.ts';
import { consoleUser, recordActivity, scalingTypes, seededActivities } from './activity-log.ts';
import { type CloudBehaviour, USUAL_BEHAVIOUR } from './behaviour.ts';
import { backup } from './operations/backups.ts';
import { createEndpoint, endpointReply } from './operations/create-endpoint.ts';
import { createService } from './operations/create-service.ts';
import { pipeSettings } from './operations/pipe-settings.ts';
import { scale, scaled } from './operations/scale.ts';
import { setState } from './operations/set-state.ts';
import { usageCost } from './operations/usage-cost.ts';
import { checkCloudRead, cloudReads } from './reads/operations.ts';
import {
  type ApiKey,
  backupRecords,
  type CloudProfile,
  type CloudState,
  pipeRecords,
  type Scaling,
  type ServiceRecord,
  serviceRecords,
  warehouseRecords,
} from './state.ts';
import { checkOrganization, serviceNow } from './targets.ts';

export interface CloudOptions extends ServerOptions {
  /** Determines passwords, ids and the figures of the usage report. */
  readonly seed?: string;
  readonly organization?: OrganizationSeed;
  /** The key that it accepts first. */
  readonly key?: Pick<ApiKey, 'id' | 'secret'>;
  readonly profile?: CloudProfile;
  readonly behaviour?: Partial<CloudBehaviour>;
}

export type CloudSimulator = Simulator & ReturnType<typeof adminOf>;

const ORG = '/v1/organizations/:organizationId';
const SERVICE = `${ORG}/services/:serviceId`;

/** Serves the seven operations of the cloud contract, and the optional reads, on a loopback port. */
export async function startCloudSimulator(options: CloudOptions = {}): Promise<CloudSimulator> {
  const cloud = createState(options);
  const limiter = createRateLimiter();
  const server = await startSimulator(
    {
      api: 'cloud',
      effects: cloud.effects,
      operations: [...contractOperations(cloud), ...cloudReads(cloud)],
      gate: (call) => {
        checkCloudRead(cloud, call);
        checkCloudAccess(cloud, limiter, call);
        checkOrganization(cloud, call);
      },
    },
    options,
  );
  return { ...server, ...adminOf(cloud) };
}

function contractOperations(cloud: CloudState): readonly Operation[] {
  const operation = operationOn(cloud);
  return [
    operation('create service', 'post', `${ORG}/services`, createService),
    operation('create endpoint', 'post', `${SERVICE}/pipesReversePrivateEndpoints`, createEndpoint),
    operation('scale', 'patch', `${SERVICE}/replicaScaling`, scale),
    operation('set state', 'patch', `${SERVICE}/state`, setState),
    operation('usage cost', 'get', `${ORG}/usageCost`, usageCost),
    operation('pipe settings', 'get', `${SERVICE}/pipes/:pipeId/settings`, pipeSettings),
    operation('backup', 'get', `${SERVICE}/backups/:backupId`, backup),
  ];
}

function createState(options: CloudOptions): CloudState {
  const { organization = ORGANIZATION, seed = 'signalbox', now = () => new Date() } = options;
  const bornAt = now();
  return {
    organization,
    warehouses: byId(warehouseRecords(organization, bornAt)),
    services: byId(serviceRecords(organization, bornAt)),
    pipes: byId(pipeRecords(organization)),
    backups: byId(backupRecords(organization, bornAt)),
    endpoints: new Map(),
    activities: seededActivities(organization, bornAt),
    keys: byId<ApiKey>([
      { ...(options.key ?? CLOUD_KEY), role: 'admin', active: true, denied: [] },
    ]),
    effects: createEffects(),
    random: createRandom(seed),
    seed,
    bornAt,
    now,
    profile: options.profile ?? 'extended',
    behaviour: { ...USUAL_BEHAVIOUR, ...options.behaviour },
    costReads: 0,
  };
}

function adminOf(cloud: CloudState) {
  const replace = (id: string, changes: Partial<ServiceRecord>) =>
    void cloud.services.set(id, { ...known(cloud, id), ...changes });
  return {
    /** Returns the current profile, after setting it if a name is given. */
    profile(name = cloud.profile): CloudProfile {
      cloud.profile = name;
      return name;
    },
    behave(changes: Partial<CloudBehaviour>): void {
      cloud.behaviour = { ...cloud.behaviour, ...changes };
    },
    /** Changes or adds a key. */
    setKey(id: string, changes: Partial<Omit<ApiKey, 'id'>>): void {
      const fresh: ApiKey = { id, secret: '', role: 'admin', active: true, denied: [] };
      cloud.keys.set(id, { ...(cloud.keys.get(id) ?? fresh), ...changes });
    },
    /** Sets the state of a service without a request of the bot, and ends its transition. */
    setServiceState: (id: string, state: ServiceState) => replace(id, { state, transition: null }),
    /** Changes the scaling of a service in the console, without a request of the bot. */
    scaleInConsole(id: string, scaling: Partial<Scaling>, by: string): void {
      cloud.services.set(id, scaled(cloud, known(cloud, id), scaling));
      for (const type of scalingTypes(Object.keys(scaling))) {
        recordActivity(cloud, consoleUser(by), { type, serviceId: id });
      }
    },
    /** Changes the name, tags or warehouse of a service in the console. */
    editInConsole: (
      id: string,
      changes: Partial<Pick<ServiceRecord, 'name' | 'tags' | 'warehouseId'>>,
    ) => replace(id, changes),
    /** Replaces the scaling schedule of a service; an empty list removes it. */
    setSchedule: (id: string, schedule: readonly ScheduleEntry[]) => replace(id, { schedule }),
    /** The current service, or undefined. */
    service: (id: string) => serviceNow(cloud, id),
    services: () => [...cloud.services.keys()].flatMap((id) => serviceNow(cloud, id) ?? []),
    /** The endpoints as the console would show them now. */
    endpoints: (): readonly Json[] =>
      [...cloud.endpoints.values()].map((endpoint) => endpointReply(cloud, endpoint)),
  };
}

function known(cloud: CloudState, id: string): ServiceRecord {
  const service = serviceNow(cloud, id);
  if (service === undefined) throw new Error(`there is no service ${id}`);
  return service;
}

function byId<T extends { readonly id: string }>(records: readonly T[]): Map<string, T> {
  return new Map(records.map((record) => [record.id, record]));
}
