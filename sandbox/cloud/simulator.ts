import type { Call, JsonObject } from '../api/call.ts';
import { createEffects } from '../api/effects.ts';
import type { Operation } from '../api/pipeline.ts';
import { createChance } from '../api/random.ts';
import { createRateLimiter } from '../api/rate-limit.ts';
import type { Reply } from '../api/reply.ts';
import { type ServerOptions, type Simulator, startSimulator } from '../api/simulator.ts';
import { CLOUD_KEY, ORGANIZATION } from '../seed/organization.ts';
import type { OrganizationSeed, ServiceState } from '../seed/shapes.ts';
import { admit } from './access.ts';
import { type CloudBehaviour, USUAL_BEHAVIOUR } from './behaviour.ts';
import { backup } from './operations/backups.ts';
import { createEndpoint, endpointReply } from './operations/create-endpoint.ts';
import { createService } from './operations/create-service.ts';
import { pipeSettings } from './operations/pipe-settings.ts';
import { scale } from './operations/scale.ts';
import { setState } from './operations/set-state.ts';
import { usageCost } from './operations/usage-cost.ts';
import {
  type ApiKey,
  backupRecords,
  type CloudProfile,
  type CloudWorld,
  pipeRecords,
  type ServiceRecord,
  serviceRecords,
  warehouseRecords,
} from './state.ts';
import { organizationProblem, serviceNow } from './targets.ts';

export interface CloudOptions extends ServerOptions {
  /** Decides passwords, ids and the figures of the usage report. */
  readonly seed?: string;
  readonly organization?: OrganizationSeed;
  readonly profile?: CloudProfile;
  readonly behaviour?: Partial<CloudBehaviour>;
}

export interface CloudSimulator extends Simulator {
  readonly profiles: readonly CloudProfile[];
  /** Which profile answers now; given a name, from now on. */
  profile(name?: CloudProfile): CloudProfile;
  behave(changes: Partial<CloudBehaviour>): void;
  /** Changes or adds a key: its role, whether it is active, what it is denied. */
  setKey(id: string, changes: Partial<Omit<ApiKey, 'id'>>): void;
  removeKey(id: string): void;
  /** Sets a service's state behind the bot's back; whatever was under way ends. */
  setServiceState(id: string, state: ServiceState): void;
  /** As it is now, or undefined; the API itself has no such read. */
  service(id: string): ServiceRecord | undefined;
  services(): readonly ServiceRecord[];
  /** Endpoints as their owner's console would show them by now. */
  endpoints(): readonly JsonObject[];
}

const ORG = '/v1/organizations/:organizationId';
const SERVICE = `${ORG}/services/:serviceId`;

const PROFILES: readonly CloudProfile[] = ['contract', 'full'];

/** Serves the seven operations of the cloud contract on a loopback port. */
export async function startCloudSimulator(options: CloudOptions = {}): Promise<CloudSimulator> {
  const world = createWorld(options);
  const limiter = createRateLimiter();
  const server = await startSimulator(
    {
      api: 'cloud',
      effects: world.effects,
      operations: operationsOf(world),
      gate: (call) => admit(world, limiter, call) ?? organizationProblem(world, call),
    },
    options,
  );
  return { ...server, ...adminOf(world), profiles: PROFILES };
}

function operationsOf(world: CloudWorld): readonly Operation[] {
  const operation = (
    name: string,
    method: Operation['method'],
    path: string,
    answer: (world: CloudWorld, call: Call) => Reply,
  ): Operation => ({ name, method, path, answer: (call) => answer(world, call) });

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

function createWorld(options: CloudOptions): CloudWorld {
  const { organization = ORGANIZATION, seed = 'signalbox', now = () => new Date() } = options;
  const bornAt = now();
  return {
    organization,
    warehouses: byId(warehouseRecords(organization, bornAt)),
    services: byId(serviceRecords(organization, bornAt)),
    pipes: byId(pipeRecords(organization)),
    backups: byId(backupRecords(organization, bornAt)),
    endpoints: new Map(),
    keys: byId<ApiKey>([{ ...CLOUD_KEY, role: 'admin', active: true, denied: [] }]),
    effects: createEffects(),
    chance: createChance(seed),
    seed,
    bornAt,
    now,
    profile: options.profile ?? 'full',
    behaviour: { ...USUAL_BEHAVIOUR, ...options.behaviour },
    costReads: 0,
  };
}

function adminOf(world: CloudWorld): Omit<CloudSimulator, keyof Simulator | 'profiles'> {
  return {
    profile(name = world.profile) {
      world.profile = name;
      return name;
    },
    behave(changes) {
      world.behaviour = { ...world.behaviour, ...changes };
    },
    setKey(id, changes) {
      const fresh: ApiKey = { id, secret: '', role: 'admin', active: true, denied: [] };
      world.keys.set(id, { ...(world.keys.get(id) ?? fresh), ...changes });
    },
    removeKey: (id) => void world.keys.delete(id),
    setServiceState(id, state) {
      const service = world.services.get(id);
      if (service === undefined) throw new Error(`there is no service ${id}`);
      world.services.set(id, { ...service, state, transition: null });
    },
    service: (id) => serviceNow(world, id),
    services: () => [...world.services.keys()].flatMap((id) => serviceNow(world, id) ?? []),
    endpoints: () =>
      [...world.endpoints.values()].map((endpoint) => {
        const age = world.now().getTime() - endpoint.createdAt.getTime();
        return endpointReply(endpoint, age >= world.behaviour.durations.endpoint);
      }),
  };
}

function byId<T extends { readonly id: string }>(records: readonly T[]): Map<string, T> {
  return new Map(records.map((record) => [record.id, record]));
}
