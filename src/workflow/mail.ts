import { type Received, receive } from '../storage/inbox.ts';
import type { World } from './world.ts';

/** Puts a press where no crash can lose it. False: this very one is here already. */
export function putLetter(world: World, letter: Received): Promise<boolean> {
  return mailOf(world).put(letter);
}

interface Mail {
  readonly put: (letter: Received) => Promise<boolean>;
}

const mails = new WeakMap<World, Mail>();

function mailOf(world: World): Mail {
  const mail = mails.get(world) ?? createMail(world);
  mails.set(world, mail);
  return mail;
}

interface Waiting {
  readonly letter: Received;
  readonly resolve: (first: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/** Whatever arrives while one commit is under way shares the next: a storm of clicks costs few. */
function createMail(world: World): Mail {
  let waiting: Waiting[] = [];
  let running = false;

  async function commit(batch: readonly Waiting[]): Promise<void> {
    try {
      const first = await world.database.transaction(async (tx) => {
        const stored: boolean[] = [];
        for (const { letter } of batch) stored.push(await receive(tx, letter));
        return stored;
      });
      batch.forEach(({ resolve }, index) => {
        resolve(first[index] ?? false);
      });
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
  async function run(): Promise<void> {
    running = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      await commit(batch);
    }
    running = false;
  }
  return {
    put: (letter) =>
      new Promise((resolve, reject) => {
        waiting.push({ letter, resolve, reject });
        if (!running) void run();
      }),
  };
}
