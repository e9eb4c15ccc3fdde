import { z } from 'zod';
import type { ChangeId, UserId } from '../changes/change.ts';
import { type Received, receive } from '../storage/inbox.ts';
import { type ReplyTo, VERBS, type World } from './world.ts';

/** A click that decides. It is stored as it came; who pressed is checked when it is handled. */
export const Click = z.object({
  verb: z.enum(VERBS),
  change: z.string().transform((id) => id as ChangeId),
  by: z.string().transform((id) => id as UserId),
  text: z.string().max(3000),
  replyTo: z.object({
    url: z.string().nullable(),
    user: z.string().transform((id) => id as UserId),
    channel: z.string().nullable(),
    replaces: z.boolean(),
    // A click that an older version stored does not say so.
    home: z.boolean().default(false),
  }),
});
export interface Click extends Omit<z.infer<typeof Click>, 'replyTo'> {
  readonly replyTo: ReplyTo;
}

/**
 * Puts a click where no crash can lose it. Slack never sends a click again, so that this commit
 * comes before the acknowledgement. False: this very click is here already.
 */
export function receiveClick(world: World, key: string, click: Click): Promise<boolean> {
  const { verb, change, by, text, replyTo } = click;
  const body = { verb, change, by, text, replyTo: { ...replyTo } };
  return mailOf(world).put({ key, kind: 'click', body, at: world.now() });
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
