import type { ChangeId, ChannelId, UserId, Verb } from '../../../src/domain/change.ts';
import { changeIdFrom } from '../../../src/domain/change.ts';
import { openStore } from '../../../src/storage/index.ts';
import { wrongWith } from './at-delivery.ts';
import { wrongAtTheEnd } from './at-the-end.ts';
import { type Bot, type Environment, openBot } from './bot.ts';
import { type Kind, keyOf } from './commands.ts';
import { keepCopies } from './copies.ts';
import { MEMBERS, policyWhen } from './people.ts';
import type { Crash } from './ports.ts';
import { openServer } from './server.ts';
import type { AllowedRecord, PressRecord, RequestRecord, Simulation } from './simulation-types.ts';
import { openSlack } from './slack.ts';

export const NOON = new Date('2026-11-20T12:00:00.000Z');
const MINUTE_MS = 60_000;
/** The size of the id alphabet; the counter in an id repeats after 27,000. */
const LETTERS = 30;

/** How far the clocks of the processes differ, one after the other. */
const SKEWS_MS = [0, 90_000, -90_000];
const POLICIES = { open: policyWhen({ frozen: false }), frozen: policyWhen({ frozen: true }) };

/**
 * The simulated servers, the driver of the users, and the bot processes. `rollsBack`: the database may be rolled back,
 * and the clocks of the processes differ.
 */
export async function openSimulation(
  databaseUrl = 'file::memory:',
  { rollsBack = false } = {},
): Promise<Simulation> {
  const clock = { now: NOON, frozen: false };
  const now = () => clock.now;
  const opened = await openStore(databaseUrl, { now: () => clock.now.getTime() });
  const copies = rollsBack ? await keepCopies(opened) : null;
  const store = copies?.store ?? opened;
  const server = openServer(now);
  const slack = openSlack(now, MEMBERS);
  let ids = 0;
  const around: Environment = {
    store,
    server,
    slack,
    now,
    newId: () => {
      ids += 1;
      const parts = [ids / LETTERS ** 2, ids / LETTERS, ids, 3, 4, 5];
      return changeIdFrom(Uint8Array.from(parts, (part) => Math.floor(part) % LETTERS));
    },
    policy: () => (clock.frozen ? POLICIES.frozen : POLICIES.open),
    lostConnections: () => counts.lostConnections,
    rollBack: async (commits) => {
      await copies?.rollBack(commits);
      counts.rollbacks.push(server.deliveries().length);
    },
  };
  const asked: RequestRecord[] = [];
  const pressed: PressRecord[] = [];
  const allowed: AllowedRecord[] = [];
  const counts = { crashes: 0, keys: 0, lostConnections: 0, rollbacks: [] as number[] };
  let processes = 0;
  let crash: Crash | null = null;
  let bot = await open();
  let beside: Bot | null = null;

  function open(): Promise<Bot> {
    processes += 1;
    const own = crash;
    crash = null;
    const skewMs = rollsBack ? (SKEWS_MS[processes % SKEWS_MS.length] ?? 0) : 0;
    return openBot(around, { name: `process-${processes}`, crash: own, skewMs });
  }

  /** Runs `act` in the current process; after a crash another one takes over. Returns false then. */
  async function runUntilCrash(act: (own: Bot) => Promise<unknown>): Promise<boolean> {
    const own = bot;
    await Promise.race([act(own), own.ports.crashed]);
    if (!own.ports.isDead()) return true;
    counts.crashes += 1;
    bot = await open();
    return false;
  }

  async function ask(by: UserId, kind: Kind, thing: string, inMs = 0): Promise<RequestRecord> {
    counts.keys += 1;
    const [mark, target] = [`mark-${counts.keys}`, keyOf(kind, thing)];
    const after = { deliveries: server.deliveries().length, edits: server.editsOf(target) };
    const notBefore = new Date(clock.now.getTime() + inMs);
    const one: RequestRecord = {
      mark,
      by,
      kind,
      target,
      after,
      notBefore,
      id: null,
      standing: null,
    };
    asked.push(one);
    await runUntilCrash(async (own) => {
      const requested = await own.ask({ by, kind, thing, mark, key: `ask-${mark}`, inMs });
      if (!requested.ok) return;
      one.id = requested.draft.id;
      one.standing = requested.draft.standing ?? null;
    });
    return one;
  }

  async function allow(by: UserId, thing: string, uses: number): Promise<ChangeId | null> {
    counts.keys += 1;
    const key = `allow-${counts.keys}`;
    let id: ChangeId | null = null;
    await runUntilCrash(async (own) => {
      const requested = await own.allow({ by, thing, uses, key });
      if (!requested.ok) return;
      id = requested.draft.id;
      allowed.push({ id, uses });
    });
    return id;
  }

  /** Delivers a press `times` times; returns whether the process answered. */
  async function press(by: UserId, verb: Verb, id: ChangeId, times = 1): Promise<boolean> {
    counts.keys += 1;
    const key = `press-${counts.keys}`;
    const nowhere = { url: null, channel: null, ts: null, thread: null };
    const replyTo = { ...nowhere, user: by, replaces: false, home: false };
    const card = slack.cards.findLast((each) => each.change === id);
    const where = card && { channel: 'CCARDS' as ChannelId, ts: card.ts };
    const place = where
      ? ({ kind: 'message', at: where, thread: null } as const)
      : ({ kind: 'own' } as const);
    const seen = card?.mark ?? null;
    // Each one delays it more than the one before.
    const lowered = pressed.filter((each) => each.id === id && each.verb === 'narrow').length;
    const at = new Date(clock.now.getTime() + (lowered + 1) * 2 * MINUTE_MS).toISOString();
    const less = verb === 'narrow' ? { given: { at: at.replace(/:\d\d\.\d+Z$/, 'Z') } } : {};
    const press = { key, verb, change: id, by, text: 'because', place, seen, replyTo, ...less };
    pressed.push({ by, verb, id, told: slack.told.length });
    return runUntilCrash(async (own) => {
      for (let time = 0; time < times; time += 1) await own.press(press);
    });
  }

  const pass = (ms: number) => {
    clock.now = new Date(clock.now.getTime() + ms);
  };

  let isArmed = false;
  async function restart(): Promise<void> {
    isArmed = crash !== null;
    bot = await open();
  }

  /** Ends all faults and crashes, and advances the clock until retries and leases are done. */
  async function settle(): Promise<void> {
    server.settle();
    slack.state.down = false;
    slack.state.members = MEMBERS;
    clock.frozen = false;
    // What a process knows that lives on may be more than the log has.
    const livesOn = rollsBack && !isArmed && counts.keys % 2 === 0;
    if (!livesOn) await restart();
    for (const minutes of [0, 3, 6, 6, 3]) {
      pass(minutes * MINUTE_MS);
      await runUntilCrash(async (own) => {
        await own.upkeep();
        await own.work();
      });
    }
  }

  const wrong: string[] = [];
  const witnesses: Simulation['witnesses'] = new Map();
  const simulation: Simulation = {
    around,
    clock,
    server,
    slack,
    asked,
    pressed,
    allowed,
    counts,
    skewMs: rollsBack ? Math.max(...SKEWS_MS) : 0,
    witnesses,
    lost: copies?.lost ?? new Set(),
    ask,
    allow,
    press,
    pass,
    settle,
    /** Starts a process that will crash there; the current one is abandoned. */
    plan: async (next: Crash) => {
      crash = next;
      await restart();
    },
    restart,
    rollBack: async (commits, then) => {
      await around.rollBack(commits);
      if (then === 'connections end') counts.lostConnections += 1;
      if (then === 'restart') await restart();
    },
    work: () => runUntilCrash((own) => own.work()),
    /** Runs the loops of a second process at the same time, which survives a crash of the first. */
    workTogether: async () => {
      beside ??= await open();
      const other = beside.work();
      const alive = await runUntilCrash((own) => own.work());
      await other;
      return alive;
    },
    portCalls: () => bot.ports.names(),
    /** All violated promises so far. */
    wrong: async () => [...wrong, ...(await wrongAtTheEnd(simulation))],
    close: () => opened.close(),
  };
  server.onDelivery((delivery) => {
    const id = asked.find(({ mark }) => mark === delivery.mark)?.id;
    const note = slack.notes.findLast(({ card }) => card.change === id);
    if (note) witnesses.set(delivery, { note, lines: slack.audit.length });
    wrong.push(...wrongWith(simulation, delivery));
  });
  return simulation;
}
