import { setTimeout as wait } from 'node:timers/promises';
import { createRandom, type RandomSource } from '../../sandbox/api/random.ts';
import { befall, oneOf } from './faults.ts';
import { journey } from './journey.ts';
import { APPROVERS, OPERATORS, SHARDS, VIEWERS } from './organization.ts';
import { form, question } from './questions.ts';
import type { SoakSandbox } from './soak-sandbox.ts';
import { emptyTally, type Tally, userActions } from './user-actions.ts';

const FAULT_EVERY = 6;

export interface Load {
  readonly perSecond: number;
  readonly seed: string;
  readonly until: number;
}

/**
 * At a steady rate somebody who is free begins something; how long others take changes nothing of
 * that. Resolves when everybody has ended what they began.
 */
export async function live(sandbox: SoakSandbox, { perSecond, seed, until }: Load): Promise<Tally> {
  const tally = emptyTally();
  const hands = userActions(sandbox, tally);
  const chance = createRandom(seed);
  const around = { sandbox, hands, tally, chance };
  const people = pool([...OPERATORS, ...APPROVERS, ...VIEWERS]);
  const operators = pool(OPERATORS);
  const shards = pool(SHARDS);
  const under = new Set<Promise<unknown>>();

  async function change(): Promise<void> {
    const by = operators.take(chance);
    const shard = by && shards.take(chance);
    if (shard && (await journey(around, by, shard))) shards.giveBack(shard);
    if (by) operators.giveBack(by);
  }

  async function ask(): Promise<void> {
    const as = people.take(chance);
    if (!as) return;
    await (chance() < 0.15 ? form : question)(hands, tally, as, chance);
    people.giveBack(as);
  }

  for (let begun = 0; performance.now() < until && !sandbox.bot.hasStopped(); begun += 1) {
    const doing: Promise<void> = (chance() < 0.12 ? change() : ask()).finally(() =>
      under.delete(doing),
    );
    under.add(doing);
    if (begun % FAULT_EVERY === 0) befall(sandbox, chance);
    await wait((1_000 / perSecond) * (0.5 + chance()));
  }
  calm(sandbox);
  await Promise.all(under);
  return tally;
}

/** Nothing goes wrong any more from here on. */
function calm({ slack, cloud, alerts }: SoakSandbox): void {
  slack.clearFaults();
  cloud.clearFaults();
  alerts.clearFaults();
}

/** What one at a time may use. */
function pool<T>(all: readonly T[]) {
  const free = new Set(all);
  return {
    take: (chance: RandomSource): T | undefined => {
      if (free.size === 0) return undefined;
      const one = oneOf(chance, [...free]);
      free.delete(one);
      return one;
    },
    giveBack: (one: T) => void free.add(one),
  };
}
