/**
 * A world with one seed, in which nothing happens between two turns. Every database and network boundary is a turn. A
 * process that was killed gets no further turn; what it had sent before still arrives.
 */
export class World {
  now = Date.UTC(2026, 10, 28, 9);
  turns = 0;
  /** The owner of everything that is on its way. It is never killed or paused. */
  readonly network = new Owner('network');
  #seed: number;
  #waiting: Waiting[] = [];

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** A number from 0 to below 1 (mulberry32). */
  random(): number {
    this.#seed = (this.#seed + 0x6d2b79f5) | 0;
    let x = Math.imul(this.#seed ^ (this.#seed >>> 15), 1 | this.#seed);
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  }

  chance(share: number): boolean {
    return this.random() < share;
  }

  below(limit: number): number {
    return Math.floor(this.random() * limit);
  }

  pick<T>(items: readonly T[]): T | undefined {
    return items[this.below(items.length)];
  }

  /** Resolves when the owner gets a turn, at the earliest after `delay` ms; never if it is killed before. */
  turn(owner: Owner, delay = 0): Promise<void> {
    const at = this.now + delay;
    return new Promise((go) => this.#waiting.push({ owner, at, go }));
  }

  /** Grants one turn, or lets the time pass to the next one. False: nobody waits any more. */
  async step(): Promise<boolean> {
    this.#waiting = this.#waiting.filter(({ owner }) => owner.alive);
    const ready = this.#waiting.filter((waiting) => readyAt(waiting) <= this.now);
    const next = this.pick(ready);
    if (!next) {
      if (this.#waiting.length === 0) return false;
      this.now = Math.min(...this.#waiting.map(readyAt));
      return true;
    }
    this.#waiting.splice(this.#waiting.indexOf(next), 1);
    this.now += this.below(100);
    this.turns++;
    next.go();
    // All microtasks of this turn run before the next turn.
    await new Promise((done) => setImmediate(done));
    return true;
  }
}

interface Waiting {
  readonly owner: Owner;
  readonly at: number;
  readonly go: () => void;
}

function readyAt({ owner, at }: Waiting): number {
  return Math.max(at, owner.pausedUntil);
}

/** Something that takes turns: a process, or the network. */
export class Owner {
  readonly name: string;
  alive = true;
  pausedUntil = 0;
  /** How far its clock is ahead, in ms. */
  skew = 0;

  constructor(name: string) {
    this.name = name;
  }
}

/** No definite answer: the call may have had its effect, may have it later, or never. */
export class Unanswered extends Error {}

/**
 * fine · lost: never arrives · late: arrives after the caller stopped waiting · unanswered: only the answer is lost ·
 * aborted: arrives, has no effect, and the caller learns nothing.
 */
export type Fate = 'fine' | 'lost' | 'late' | 'unanswered' | 'aborted';

const TRANSIT_MS = 50;
const TIMEOUT_MS = 10_000;
/** A late request arrives at the latest after this time. */
export const LATE_MS = 120_000;

/** A call leaves at once and arrives by itself, also if its process is killed. Its answer needs a turn of the process. */
export async function call<T>(
  world: World,
  owner: Owner,
  fate: Fate,
  act: () => T | Promise<T>,
): Promise<T> {
  if (fate === 'lost') {
    await world.turn(owner, TIMEOUT_MS);
    throw new Unanswered('the request was lost');
  }
  const transit = fate === 'late' ? Math.floor(world.random() ** 3 * LATE_MS) : TRANSIT_MS;
  const arrival = world.turn(world.network, transit).then(act);
  const answer = arrival.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if (fate === 'late') {
    await world.turn(owner, TIMEOUT_MS);
    throw new Unanswered('the request is late');
  }
  const result = await answer;
  await world.turn(owner, fate === 'fine' ? TRANSIT_MS : TIMEOUT_MS);
  if (fate === 'unanswered' || fate === 'aborted') throw new Unanswered('the answer was lost');
  if ('error' in result) throw result.error;
  return result.value;
}

/** The fate of one call when a share of all calls has a fault. */
export function fateOf(world: World, faults: number, kinds: readonly Fate[]): Fate {
  return world.chance(faults) ? (world.pick(kinds) ?? 'fine') : 'fine';
}
