import type { ChangeId, UserId } from '../../../src/changes/change.ts';
import { changeIdFrom } from '../../../src/changes/id.ts';
import { openDatabase } from '../../../src/storage/engine/database.ts';
import type { Verb } from '../../../src/workflow/clicks.ts';
import { wrongWith } from './at-delivery.ts';
import { wrongAtTheEnd } from './at-the-end.ts';
import { type Bot, openBot, type Surroundings } from './bot.ts';
import { type Kind, keyOf } from './commands.ts';
import { MEMBERS, policyWhen } from './people.ts';
import type { Crash } from './ports.ts';
import { openServer } from './server.ts';
import { openSlack } from './slack.ts';
import type { Asked, Pressed, Theatre } from './theatre-types.ts';

export const NOON = new Date('2026-11-20T12:00:00.000Z');
const MINUTE_MS = 60_000;
/** Of so many letters an id is made: what is counted in them comes again only after 27,000. */
const LETTERS = 30;

/** Everything around the processes, what the driver did, and the processes themselves. */
export async function openTheatre(databaseUrl = 'file::memory:'): Promise<Theatre> {
  const clock = { now: NOON, frozen: false };
  const now = () => clock.now;
  const database = await openDatabase(databaseUrl, { now });
  const server = openServer(now);
  const slack = openSlack(now, MEMBERS);
  const policies = { open: policyWhen({ frozen: false }), frozen: policyWhen({ frozen: true }) };
  let ids = 0;
  const around: Surroundings = {
    database,
    auditKey: Buffer.alloc(32, 7),
    server,
    slack,
    now,
    newId: () => {
      ids += 1;
      const parts = [ids / LETTERS ** 2, ids / LETTERS, ids, 3, 4, 5];
      return changeIdFrom(Uint8Array.from(parts, (part) => Math.floor(part) % LETTERS));
    },
    policy: () => (clock.frozen ? policies.frozen : policies.open),
  };
  const asked: Asked[] = [];
  const pressed: Pressed[] = [];
  const counts = { crashes: 0, keys: 0 };
  let processes = 0;
  let crash: Crash | null = null;
  let bot = open();

  function open(): Bot {
    processes += 1;
    const own = crash;
    crash = null;
    return openBot(around, `process-${processes}`, own);
  }

  /** Lets a process do something; when it dies in it, another takes its place. False: it died. */
  async function survive(act: (own: Bot) => Promise<unknown>): Promise<boolean> {
    const own = bot;
    await Promise.race([act(own), own.ports.crashed]);
    if (!own.ports.isDead()) return true;
    counts.crashes += 1;
    bot = open();
    return false;
  }

  async function ask(by: UserId, kind: Kind, thing: string, inMs = 0): Promise<Asked> {
    counts.keys += 1;
    const [mark, target] = [`mark-${counts.keys}`, keyOf(kind, thing)];
    const after = { deliveries: server.deliveries().length, edits: server.editsOf(target) };
    const notBefore = new Date(clock.now.getTime() + inMs);
    const one: Asked = { mark, by, kind, target, after, notBefore, id: null };
    asked.push(one);
    await survive(async (own) => {
      const requested = await own.ask({ by, kind, thing, mark, key: `ask-${mark}`, inMs });
      if (requested.ok) one.id = requested.draft.id;
    });
    return one;
  }

  /** A press that Slack delivers so often; whoever gets no answer to it has not pressed. */
  async function press(by: UserId, verb: Verb, id: ChangeId, times = 1): Promise<boolean> {
    counts.keys += 1;
    const key = `press-${counts.keys}`;
    const replyTo = { url: null, user: by, channel: null, replaces: false, home: false };
    const click = { verb, change: id, by, text: 'because', replyTo };
    pressed.push({ by, verb, id });
    return survive(async (own) => {
      for (let time = 0; time < times; time += 1) await own.press(key, click);
    });
  }

  const pass = (ms: number) => {
    clock.now = new Date(clock.now.getTime() + ms);
  };

  /** No faults and no deaths any more, and time for whatever waits or is tried again. */
  async function calm(): Promise<void> {
    crash = null;
    bot = open();
    server.calm();
    slack.state.down = false;
    slack.state.members = MEMBERS;
    clock.frozen = false;
    for (const minutes of [0, 3, 6, 6, 3]) {
      pass(minutes * MINUTE_MS);
      await survive((own) => own.work());
    }
  }

  const wrong: string[] = [];
  const theatre: Theatre = {
    around,
    clock,
    server,
    slack,
    asked,
    pressed,
    counts,
    ask,
    press,
    pass,
    calm,
    /** The process that is opened next dies so; the present one is abandoned. */
    plan: (next: Crash) => {
      crash = next;
      bot = open();
    },
    restart: () => {
      bot = open();
    },
    work: () => survive((own) => own.work()),
    /** Another process beside it, at the same time, which lives on where this one dies. */
    workTogether: async () => {
      const beside = open().work();
      const alive = await survive((own) => own.work());
      await beside;
      return alive;
    },
    portCalls: () => bot.ports.names(),
    /** Everything that was seen to be wrong, at any time. */
    wrong: async () => [...wrong, ...(await wrongAtTheEnd(theatre))],
    close: () => database.close(),
  };
  server.onDelivery((delivery) => wrong.push(...wrongWith(theatre, delivery)));
  return theatre;
}
