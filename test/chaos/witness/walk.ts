import { Api } from './api.ts';
import { type Bot, type BotKind, LEASE_MS, type Payload } from './bot.ts';
import { Databases } from './database.ts';
import { type Broken, Oracle } from './oracle.ts';
import { People } from './people.ts';
import { Slack } from './slack.ts';
import { Owner, World } from './world.ts';

/** What may happen in a walk, beside kills, restarts, pauses, skewed clocks and outages of Slack. */
export interface Weather {
  /** Restores and failovers that lose commits, and two primaries at once. */
  readonly rollbacks: boolean;
  readonly splits: boolean;
  /** People delete cards. */
  readonly deletes: boolean;
  /** A hand in the database deletes one event; from then on nothing is sent, so nothing can be waited for. */
  readonly hands: boolean;
  readonly acts: number;
}

export const HONEST: Weather = {
  ...{ rollbacks: false, splits: false, deletes: false, hands: false, acts: 200 },
};
export const ROLLBACKS: Weather = { ...HONEST, rollbacks: true };
export const EVERYTHING: Weather = { ...ROLLBACKS, splits: true, deletes: true };
export const HANDS: Weather = { ...HONEST, hands: true };

export interface Walked {
  readonly broken: readonly Broken[];
  readonly turns: number;
  readonly sent: number;
  readonly requests: number;
  readonly presses: number;
  readonly crashes: number;
  readonly rollbacks: number;
  readonly splits: number;
}

interface Process {
  readonly owner: Owner;
  readonly bot: Bot;
}

const CALM_MS = 2 * 3_600_000;
/** A third of it on average. */
const BETWEEN_ACTS_MS = 40_000;
const OUTAGE_MS = 3_600_000;
/** Longer than a lease. */
const PAUSE_MS = 3 * LEASE_MS;
/** The share of calls after which something happens. The note of an attempt and its reading are the core. */
const STRIKES: Readonly<Record<string, number>> = { reply: 0.05, thread: 0.02, history: 0 };
const SKEW_MS = 240_000;

export async function walk<Tx>(
  seed: number,
  kind: BotKind<Tx>,
  weather: Weather,
  trace?: (line: string) => void,
): Promise<Walked> {
  const world = new World(seed);
  const databases = new Databases(world, (server) => kind.open(server));
  const slack = new Slack(world);
  const api = new Api(world);
  const oracle = new Oracle(world, slack, api);
  const processes: Process[] = [];
  const counts = { crashes: 0, rollbacks: 0, splits: 0 };
  const say = (line: string) => trace?.(`${world.now % 100_000_000} ${line}`);

  const boot = (index: number) => {
    const owner = new Owner(`p${index}.${world.turns}`);
    owner.skew = Math.floor((world.random() - 0.5) * SKEW_MS);
    const started = world.now;
    const bot = kind.boot({
      name: owner.name,
      database: databases.connect(owner),
      slack: slack.connect(owner),
      api: api.connect(owner),
      clock: () => world.now + owner.skew,
      elapsed: () => world.now - started,
      sleep: (ms) => world.turn(owner, ms),
      nonce: () => `${owner.name}-${world.below(1e9)}`,
      tell: (person, subject, what) => {
        say(`${owner.name} tells ${person}: ${subject} ${what}`);
        oracle.told(person, subject, what);
      },
    });
    processes[index] = { owner, bot };
    const run = world.turn(owner).then(() => bot.run());
    run.catch((error: unknown) => failures.push(error));
  };
  const failures: unknown[] = [];
  const restart = (index: number) => {
    const process = processes[index];
    if (process) process.owner.alive = false;
    boot(index);
  };
  const size = 1 + (seed % 3);
  for (let i = 0; i < size; i++) boot(i);

  const deliver = async (payload: Payload) => {
    const process = world.pick(processes);
    if (!process) return;
    await world.turn(process.owner, 20);
    await process.bot.receive(payload);
  };
  const people = new People(world, slack, api, oracle, deliver);
  traceOf(say, slack, api);

  const faults = world.pick([0, 0.05, 0.12]) ?? 0;
  const setFaults = (share: number) => {
    api.faults = share;
    slack.faults = share;
    databases.faults = share / 2;
  };
  setFaults(faults);

  const lose = () => {
    // Mostly the last few commits, sometimes nearly all.
    const lost = world.chance(0.1) ? world.below(1_000) : 1 + Math.floor(world.random() ** 2 * 40);
    oracle.isHonest = false;
    counts.rollbacks++;
    say(`ROLLBACK of ${lost} commits`);
    if (world.chance(0.5)) databases.rollBack(lost, true);
    else databases.failOver(lost, world.chance(0.5));
    if (!world.chance(0.5)) return;
    counts.crashes += size;
    for (let i = 0; i < size; i++) restart(i);
  };
  // The worst moments are those between an effect and its answer: the process stops, is killed, or the database loses
  // commits while the process hangs.
  const strike = (owner: Owner, share: number) => {
    const index = processes.findIndex((process) => process.owner === owner);
    if (isCalm || index < 0 || !world.chance(share)) return;
    const dice = world.random();
    if (dice < 0.7) owner.pausedUntil = world.now + world.below(PAUSE_MS);
    if (dice > 0.5 && weather.rollbacks) lose();
    else if (dice > 0.7) {
      counts.crashes++;
      restart(index);
    }
  };
  slack.onCall = (owner, method) => strike(owner, STRIKES[method] ?? 0.01);
  databases.onCall = (owner, kind) => {
    if (kind === 'commit') strike(owner, 0.01);
  };
  const split = () => {
    oracle.isHonest = false;
    oracle.isWhole = false;
    counts.splits++;
    say('SPLIT');
    databases.split(world.below(4));
  };
  let isCalm = false;
  let isCut = false;
  let outage: { until: number; database: number; size: number; payloads: number } | null = null;
  const takeSlackDown = () => {
    if (outage) return;
    const until = world.now + Math.floor(world.random() ** 2 * OUTAGE_MS);
    slack.downUntil = until;
    outage = {
      until,
      database: databases.version,
      size: databases.size,
      payloads: people.payloads,
    };
    say('OUTAGE');
  };
  const checkOutage = () => {
    if (!outage || world.now < outage.until) return;
    if (outage.database === databases.version)
      oracle.outage(databases.size - outage.size, people.payloads - outage.payloads);
    outage = null;
  };
  const act = () => {
    checkOutage();
    const dice = world.random();
    if (dice < 0.12) people.request();
    else if (dice < 0.13) people.freeze();
    else if (dice < 0.135) people.schedule();
    else if (dice < 0.75) void people.press();
    else if (dice < 0.8) {
      counts.crashes++;
      restart(world.below(size));
    } else if (dice < 0.84) {
      const process = world.pick(processes);
      if (process) process.owner.pausedUntil = world.now + world.below(PAUSE_MS);
    } else if (dice < 0.85) takeSlackDown();
    else if (dice < 0.88) {
      if (databases.isSplit) databases.heal();
      else if (weather.rollbacks) lose();
    } else if (dice < 0.9) {
      if (weather.splits && !databases.isSplit) split();
    } else if (dice < 0.91) {
      const message = world.pick(slack.messages);
      if (weather.deletes && message) message.deleted = true;
    } else if (dice < 0.92 && weather.hands && !isCut) {
      isCut = true;
      oracle.isHonest = false;
      say('CUT');
      databases.cut();
      counts.crashes++;
      if (world.chance(0.5)) restart(world.below(size));
    }
  };
  for (let i = 0; i < weather.acts; i++) {
    act();
    const next = world.now + Math.floor(world.random() ** 2 * BETWEEN_ACTS_MS);
    while (world.now < next && (await world.step()));
  }

  // Everything is healthy, and people do what the system waits for. Then nothing may be open.
  say('CALM');
  isCalm = true;
  setFaults(0);
  slack.downUntil = Math.min(slack.downUntil, world.now);
  databases.heal();
  for (const { owner } of processes) owner.pausedUntil = 0;
  if (world.chance(0.5)) {
    counts.crashes += size;
    for (let i = 0; i < size; i++) restart(i);
  }
  const end = world.now + CALM_MS;
  for (let next = world.now; world.now < end; ) {
    if (world.now >= next) {
      people.settle();
      next = world.now + 600_000;
    }
    if (!(await world.step())) break;
  }
  if (!isCut) oracle.atTheEnd();
  if (faults === 0 && slack.downUntil === 0) oracle.audited(counts.crashes);
  for (const { owner } of processes) owner.alive = false;
  if (failures.length > 0) throw failures[0];
  const { requests, presses } = people;
  const sent = api.arrivals.length;
  return { broken: oracle.broken, turns: world.turns, sent, requests, presses, ...counts };
}

/** For the analysis of one seed. */
function traceOf(say: (line: string) => void, slack: Slack, api: Api): void {
  const { onShown } = slack;
  slack.onShown = (message) => {
    const { subject, state, mark } = message.shown;
    say(`${message.channel} ${message.ts}: ${subject} ${state} (${mark.version} ${mark.hash})`);
    onShown(message);
  };
  const { onArrival } = api;
  api.onArrival = (arrival) => {
    say(`SENT ${arrival.change} to ${arrival.target}`);
    onArrival(arrival);
  };
}
