import { Api } from './api.ts';
import { type Bot, type BotKind, CHANNEL, type Payload } from './bot.ts';
import { Databases } from './database.ts';
import { Slack } from './slack.ts';
import { Owner, World } from './world.ts';

const FIRST_MS = 120_000;
/** Less than a lease. */
const HANGING_MS = 90_000;
const SLOWER_MS = 3_000;
const AFTERWARDS_MS = 600_000;

/**
 * When the database splits: after the approval, or before the change has a card. Or it stays whole and loses one of the
 * next commits of the first process, which hangs meanwhile.
 */
export interface Split {
  readonly moment: 'approved' | 'requested' | 'rollback';
  /** The share of Slack's calls that have faults from then on. */
  readonly faults: number;
}

/**
 * One change may run, then the database splits: each of two processes has a primary of its own that knows this. Only Slack
 * is common to both. Returns how often the request arrived; the seed decides the interleaving.
 */
export async function interleave<Tx>(
  seed: number,
  kind: BotKind<Tx>,
  { moment, faults }: Split = { moment: 'approved', faults: 0 },
): Promise<number> {
  const world = new World(seed);
  const databases = new Databases(world, (server) => kind.open(server));
  const slack = new Slack(world);
  const api = new Api(world);
  const processes = [0, 1].map((index) => {
    const owner = new Owner(`p${index}`);
    const bot: Bot = kind.boot({
      name: owner.name,
      database: databases.connect(owner),
      slack: slack.connect(owner),
      api: api.connect(owner),
      clock: () => world.now,
      elapsed: () => world.now,
      sleep: (ms) => world.turn(owner, ms),
      nonce: () => `${owner.name}-${world.below(1e9)}`,
      tell: () => {},
    });
    return { owner, bot };
  });
  const [old, next] = processes;
  if (!old || !next) throw new Error('two processes are needed');
  const failures: unknown[] = [];
  const keep = (error: unknown) => failures.push(error);
  for (const { bot } of processes) bot.run().catch(keep);
  const until = async (isDone: () => boolean, ms: number) => {
    for (const end = world.now + ms; world.now < end && !isDone(); ) await world.step();
  };

  const subject = 'change/1';
  const card = () => slack.messages.find((message) => message.channel === CHANNEL);
  const send = (payload: Payload) => void old.bot.receive(payload).catch(keep);
  const isApproved = moment !== 'requested';
  send({ kind: 'request', subject, by: 'ada', target: 't1', need: isApproved ? 1 : 0 });
  await until(() => databases.size > 0, FIRST_MS);
  if (isApproved) {
    await until(() => (card()?.shown.mark.version ?? 0) > 1, FIRST_MS);
    const { ts = '', shown } = card() ?? {};
    if (!shown) throw new Error('no card');
    const press = { id: 'press', verb: 'approve', subject, by: 'ben', ts } as const;
    send({ kind: 'press', ...press, plan: shown.plan, seen: shown.mark });
    await until(() => card()?.shown.state === 'approved', FIRST_MS);
  }

  slack.faults = faults;
  if (moment === 'rollback') {
    let left = 1 + world.below(4);
    databases.onCommit = (owner) => {
      if (owner !== old.owner || --left !== 0) return;
      databases.rollBack(1, world.chance(0.5));
      owner.pausedUntil = world.now + world.below(HANGING_MS);
    };
  } else {
    databases.split(0);
    databases.move(old.owner, 0);
    databases.move(next.owner, 1);
    // The other process reads the channels first. So the first one waits, that both claim at about the same time.
    old.owner.pausedUntil = world.now + world.below(SLOWER_MS);
  }
  await until(() => false, AFTERWARDS_MS);
  for (const { owner } of processes) owner.alive = false;
  if (failures.length > 0) throw failures[0];
  return api.arrivals.length;
}
