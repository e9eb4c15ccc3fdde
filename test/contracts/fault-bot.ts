import { copiesOfStaging, organizationWith, withDevServices } from '../harness/services.ts';
import { type ContractBot, openContractBot } from './contract-bot.ts';

interface FaultAction {
  /** The simulator's name of the request that gets the fault. */
  readonly operation: string;
  readonly api: 'cloud' | 'alerts';
  /** The command line for the n-th service or alert. */
  readonly line: (n: number) => string;
  readonly isRead?: boolean;
}

/** The commands that run during a fault. */
const FAULT_ACTIONS = {
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
      `/endpoint create box-${n} type=VPC_ENDPOINT_SERVICE description=feed service-name=vpce-svc-0a1b2c3d`,
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
} as const satisfies Record<string, FaultAction>;

export type FaultActionName = keyof typeof FAULT_ACTIONS;

export interface FaultOutcome {
  /** How often the request arrived at the server, and how often it took effect. */
  readonly deliveries: number;
  readonly effects: number;
  /** The answer, or the card of the change with its outcome. */
  readonly lines: readonly string[];
  /** The current values of `effects` and `lines`. */
  readonly effectsNow: () => number;
  readonly now: () => readonly string[];
  /** The number of the service or alert. */
  readonly n: number;
}

const TARGETS = 150;

/** Each change gets its own service, because an unknown outcome keeps its target locked. */
const BOXES = copiesOfStaging(TARGETS, 'box');

export async function openFaultBot() {
  const bot = await openContractBot({
    organization: organizationWith(BOXES),
    file: (file) => withDevServices(file, BOXES),
  });
  bot.alerts.addAlerts(TARGETS);
  passWhileHanging(bot);
  let n = 0;
  return {
    ...bot,
    runWithFault: (action: FaultActionName, fault: string, times = 1) => {
      n += 'isRead' in FAULT_ACTIONS[action] ? 0 : 1;
      return runWithFault(bot, action, n, { fault, times });
    },
  };
}

export type FaultBot = Awaited<ReturnType<typeof openFaultBot>>;

// While a server hangs, the clock passes the client's time limit.
function passWhileHanging({ cloud, alerts, time }: ContractBot): void {
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

async function runWithFault(
  bot: ContractBot,
  action: FaultActionName,
  n: number,
  { fault, times }: { readonly fault: string; readonly times: number },
): Promise<FaultOutcome> {
  const { operation, api: name, line, isRead = false }: FaultAction = FAULT_ACTIONS[action];
  const api = bot[name];
  // Stays within both request budgets.
  bot.time.pass(5_000);
  const delivered = api.count(operation);
  const effected = api.effectCount(operation);
  api.injectFault({ operation, fault, times });
  const answer = await bot.type(line(n));
  const shown = isRead ? answer : await bot.confirm(answer);
  api.clearFaults();
  // A rate-limited API gets no request for a minute.
  if (fault.startsWith('429')) bot.time.pass(61_000);
  const effectsNow = () => api.effectCount(operation) - effected;
  return {
    deliveries: api.count(operation) - delivered,
    effects: effectsNow(),
    effectsNow,
    lines: bot.currentLines(shown),
    now: () => bot.currentLines(shown),
    n,
  };
}
