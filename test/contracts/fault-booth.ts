import { ORGANIZATION } from '../../sandbox/seed/organization.ts';
import type { ServiceSeed } from '../../sandbox/seed/shapes.ts';
import { type Booth, type ConfigFile, openBooth } from './booth.ts';

interface Doing {
  /** The simulator's word for the request that goes wrong. */
  readonly operation: string;
  readonly api: 'cloud' | 'alerts';
  /** The line that is typed, about the n-th thing. */
  readonly line: (n: number) => string;
  readonly isRead?: boolean;
}

/** What a person does while one request of it goes wrong. */
const DEEDS = {
  backup: {
    operation: 'backup',
    api: 'cloud',
    line: () => '/backup show analytics-prod 53837fde-9e4f-4c3d-b63e-8c949cf4822f',
    isRead: true,
  },
  pipe: {
    operation: 'pipe settings',
    api: 'cloud',
    line: () => '/pipe settings analytics-prod orders',
    isRead: true,
  },
  alert: {
    operation: 'get alert',
    api: 'alerts',
    line: () => '/alert show 357fc488efc4a66bb2a8f81a',
    isRead: true,
  },
  stop: { operation: 'set state', api: 'cloud', line: (n) => `/service stop box-${n}` },
  scale: { operation: 'scale', api: 'cloud', line: (n) => `/service scale box-${n} min=16 max=64` },
  endpoint: {
    operation: 'create endpoint',
    api: 'cloud',
    line: (n) =>
      `/endpoint create box-${n} type=VPC_ENDPOINT_SERVICE description=feed service-name=vpce-1`,
  },
  create: {
    operation: 'create service',
    api: 'cloud',
    line: (n) =>
      `/service create "new ${n}" provider=aws region=eu-west-1 ip=10.0.0.0/8 min=16 max=64`,
  },
  edit: {
    operation: 'update alert',
    api: 'alerts',
    line: (n) => `/alert edit "Alert ${n}" threshold=4321`,
  },
} as const satisfies Record<string, Doing>;

export type Deed = keyof typeof DEEDS;

export interface Outcome {
  /** How often the request came to the server, and how often it did what it asks for. */
  readonly deliveries: number;
  readonly effects: number;
  /** The answer, or the card of the change when its ending is on it. */
  readonly lines: readonly string[];
  /** The same two as they are by now. */
  readonly effectsNow: () => number;
  readonly now: () => readonly string[];
  /** Which service or alert it was about. */
  readonly n: number;
}

const THINGS = 180;

/** Each deed is done to a thing of its own: what one leaves in doubt stays locked. */
const BOXES: readonly ServiceSeed[] = Array.from({ length: THINGS }, (_, index) => {
  const like = ORGANIZATION.services.find(({ name }) => name === 'staging');
  if (!like) throw new Error('The seed has no service called staging');
  const digits = String(index + 1).padStart(12, '0');
  return { ...like, name: `box-${index + 1}`, id: `00000000-0000-4000-8000-${digits}` };
});

export async function openFaultBooth() {
  const organization = { ...ORGANIZATION, services: [...ORGANIZATION.services, ...BOXES] };
  const booth = await openBooth({ organization, file: withBoxes });
  booth.alerts.addAlerts(THINGS);
  passWhileHanging(booth);
  let n = 0;
  return {
    ...booth,
    under: (deed: Deed, fault: string, times = 1) => {
      n += 'isRead' in DEEDS[deed] ? 0 : 1;
      return under(booth, deed, n, { fault, times });
    },
  };
}

export type FaultBooth = Awaited<ReturnType<typeof openFaultBooth>>;

function withBoxes(file: ConfigFile & { services?: readonly object[] }): ConfigFile {
  const more = BOXES.map(({ name, id }) => ({ name, id, tags: ['dev'], warehouse: 'lab' }));
  return { ...file, services: [...(file.services ?? []), ...more] };
}

// A server that never answers lets time pass, and nothing else.
function passWhileHanging({ cloud, alerts, time }: Booth): void {
  for (const api of [cloud, alerts]) {
    api.onRequest(() => {
      const last = api.requests().at(-1);
      const isSilent =
        (last?.fault === 'hang' && last.status === null) ||
        (last?.fault === 'hang-after-effect' && last.status !== null);
      if (isSilent) time.pass(41_000);
    });
  }
}

async function under(
  booth: Booth,
  deed: Deed,
  n: number,
  { fault, times }: { readonly fault: string; readonly times: number },
): Promise<Outcome> {
  const { operation, api: name, line, isRead = false }: Doing = DEEDS[deed];
  const api = booth[name];
  // No more often than both request budgets allow.
  booth.time.pass(5_000);
  const delivered = api.count(operation);
  const effected = api.effectCount(operation);
  api.injectFault({ operation, fault, times });
  const answer = await booth.typed(line(n));
  const shown = isRead ? answer : await booth.confirmed(answer);
  api.clearFaults();
  // A server that says it is asked too often is left alone for a minute.
  if (fault.startsWith('429')) booth.time.pass(61_000);
  const effectsNow = () => api.effectCount(operation) - effected;
  return {
    deliveries: api.count(operation) - delivered,
    effects: effectsNow(),
    effectsNow,
    lines: booth.drawn(shown),
    now: () => booth.drawn(shown),
    n,
  };
}
