import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { ChangeId, State, UserId } from '../src/domain/change.ts';
import { changeIdFrom } from '../src/domain/change.ts';
import { openDatabase } from '../src/storage/old/database.ts';
import { type Bot, openBot } from '../test/chaos/sim/bot.ts';
import { serviceNamed } from '../test/chaos/sim/commands.ts';
import { policyWhen } from '../test/chaos/sim/people.ts';
import { openServer } from '../test/chaos/sim/server.ts';
import { openSlack, type Slack } from '../test/chaos/sim/slack.ts';
import setup from '../test/storage/postgres.ts';

// From the proposal to the ending, with everything that is stored on the way: draft, confirmation,
// two approvals, claim, permit, ending, their audit events and messages. The background loops run as in
// a process. Slack and the cloud answer at once, so that what is left is ours and the database's.

/** Changes of each part: a new process compiles its code and the server plans its statements in the first. */
const CHANGES = 300;
const PARTS = 2;
const AT_ONCE = 20;

const people = (kind: string) =>
  Array.from({ length: 60 }, (_, index) => `U${kind}${index}` as UserId);
const [operators, approvers] = [people('OP'), people('AP')];
const pick = (from: readonly UserId[], index: number) => from[index % from.length] as UserId;

const thing = (index: number) => `thing-${index}`;

async function press(bot: Bot, verb: 'confirm' | 'approve', id: ChangeId, by: UserId) {
  const nowhere = { url: null, channel: null, ts: null, thread: null };
  const replyTo = { ...nowhere, user: by, replaces: false, home: false };
  await bot.press(`${verb}-${id}-${by}`, {
    ...{ verb, change: id, by, text: '', replyTo },
    place: { kind: 'own' },
  });
  bot.wake();
}

async function proposed(bot: Bot, index: number): Promise<ChangeId> {
  const asking = { by: pick(operators, index), kind: 'service scale', mark: `m${index}` } as const;
  const requested = await bot.ask({ ...asking, thing: thing(index), key: `ask-${index}`, inMs: 0 });
  if (!requested.ok) throw new Error('The change was not drafted');
  return requested.draft.id;
}

/** Resolves when a card shows the change in this state. */
type Shown = (id: ChangeId, state: State) => Promise<void>;

function watchCards({ onCard }: Slack): Shown {
  const waiting = new Map<string, () => void>();
  onCard(({ id, state }) => waiting.get(`${id} ${state}`)?.());
  return (id, state) => new Promise((resolve) => waiting.set(`${id} ${state}`, resolve));
}

/** One change: two approvers press once its card is posted. */
async function change(bot: Bot, index: number, shown: Shown): Promise<void> {
  const id = await proposed(bot, index);
  const posted = shown(id, 'pending');
  await press(bot, 'confirm', id, pick(operators, index));
  await posted;
  const ended = shown(id, 'succeeded');
  await press(bot, 'approve', id, pick(approvers, index));
  await press(bot, 'approve', id, pick(approvers, index + 1));
  await ended;
}

/** How many changes a second came to their ending, in each part. */
async function measure(url: string): Promise<readonly number[]> {
  const now = () => new Date();
  // The server is stopped right after us, and tells connections that are on their way out.
  const database = await openDatabase(url, { now, onConnectionError: () => undefined });
  const server = openServer(now);
  const slack = openSlack(now, { viewer: [], operator: operators, approver: approvers });
  const policy = policyWhen({ frozen: false });
  const newId = () => changeIdFrom(randomBytes(6));
  const parts = { database, auditKey: Buffer.alloc(32, 7), server, slack, now, newId };
  const services = Array.from({ length: CHANGES * PARTS }, (_, index) =>
    serviceNamed(thing(index)),
  );
  const bot = openBot({ ...parts, services, policy: () => policy }, 'bench');
  const shown = watchCards(slack);

  const rates: number[] = [];
  const stop = bot.start();
  let next = 0;
  for (let last = CHANGES; last <= CHANGES * PARTS; last += CHANGES) {
    const began = performance.now();
    const user = async () => {
      while (next < last) await change(bot, next++, shown);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, user));
    rates.push((CHANGES * 1_000) / (performance.now() - began));
    // A server does so by itself each minute. The server of the tests does not.
    if (database.engine === 'postgres') await sql`analyze`.execute(database.db);
  }
  await stop();
  await database.close();
  const sent = server.deliveries().length;
  if (sent !== CHANGES * PARTS)
    throw new Error(`${CHANGES * PARTS} changes were approved, and ${sent} sent`);
  return rates;
}

export async function changesPerSecond(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-changes-'));
  const given: { url?: string } = {};
  const provide = (_name: string, url: string) => {
    given.url = url;
  };
  // The tests' own server; of their project it uses nothing but this.
  const stop = await setup({ provide } as never);
  try {
    const sqlite = await measure(`file:${join(folder, 'signalbox.db')}`);
    const postgres = await measure(given.url ?? '');
    const row = (name: string, cells: readonly (string | number)[]) =>
      [name.padEnd(12), ...cells.map((cell) => String(cell).padStart(12))].join('');
    const rates = (all: readonly number[]) => all.map((rate) => rate.toFixed(1));
    const parts = Array.from(
      { length: PARTS },
      (_, part) => `${part === 0 ? 'first' : 'next'} ${CHANGES}`,
    );
    const rows = [
      row('a second', parts),
      row('SQLite', rates(sqlite)),
      row('PostgreSQL', rates(postgres)),
    ];
    return rows.join('\n');
  } finally {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
