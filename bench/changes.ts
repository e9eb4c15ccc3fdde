import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChangeId, UserId } from '../src/changes/change.ts';
import { changeIdFrom } from '../src/changes/id.ts';
import { openDatabase } from '../src/storage/engine/database.ts';
import { type Bot, openBot } from '../test/chaos/sim/bot.ts';
import { policyWhen } from '../test/chaos/sim/people.ts';
import { openServer } from '../test/chaos/sim/server.ts';
import { openSlack } from '../test/chaos/sim/slack.ts';
import setup from '../test/storage/postgres.ts';

// From the proposal to the ending, with everything that is stored on the way: draft, confirmation,
// two approvals, claim, permit, ending, their audit events and messages. Slack and the cloud answer
// at once, so that what is left is ours and the database's.

const CHANGES = 300;
const AT_ONCE = 20;

const people = (kind: string) =>
  Array.from({ length: 60 }, (_, index) => `U${kind}${index}` as UserId);
const [operators, approvers] = [people('OP'), people('AP')];
const pick = (from: readonly UserId[], index: number) => from[index % from.length] as UserId;

async function press(bot: Bot, verb: 'confirm' | 'approve', id: ChangeId, by: UserId) {
  const nowhere = { url: null, channel: null, ts: null, thread: null };
  const replyTo = { ...nowhere, user: by, replaces: false, home: false };
  await bot.press(`${verb}-${id}-${by}`, { verb, change: id, by, text: '', replyTo });
}

async function proposed(bot: Bot, index: number): Promise<ChangeId> {
  const asking = { by: pick(operators, index), kind: 'service scale', mark: `m${index}` } as const;
  const thing = `thing-${index}`;
  const requested = await bot.ask({ ...asking, thing, key: `ask-${index}`, inMs: 0 });
  if (!requested.ok) throw new Error('The change was not drafted');
  return requested.draft.id;
}

/** So many changes, a handful side by side; returns how many a second came to their ending. */
async function measure(url: string): Promise<number> {
  const now = () => new Date();
  // The server is stopped right after us, and tells connections that are on their way out.
  const database = await openDatabase(url, { now, onConnectionError: () => undefined });
  const server = openServer(now);
  const slack = openSlack(now, { viewer: [], operator: operators, approver: approvers });
  const policy = policyWhen({ frozen: false });
  const newId = () => changeIdFrom(randomBytes(6));
  const parts = { database, auditKey: Buffer.alloc(32, 7), server, slack, now, newId };
  const bot = openBot({ ...parts, policy: () => policy }, 'bench');

  const began = performance.now();
  for (let first = 0; first < CHANGES; first += AT_ONCE) {
    const indices = Array.from({ length: AT_ONCE }, (_, n) => first + n);
    const ids = await Promise.all(indices.map((index) => proposed(bot, index)));
    const each = (act: (id: ChangeId, index: number) => Promise<void>) =>
      Promise.all(ids.map((id, n) => act(id, first + n)));
    await each((id, index) => press(bot, 'confirm', id, pick(operators, index)));
    await bot.work();
    await each((id, index) => press(bot, 'approve', id, pick(approvers, index)));
    await each((id, index) => press(bot, 'approve', id, pick(approvers, index + 1)));
    await bot.work();
  }
  const seconds = (performance.now() - began) / 1_000;
  await database.close();
  const sent = server.deliveries().length;
  if (sent !== CHANGES) throw new Error(`${CHANGES} changes were approved, and ${sent} sent`);
  return CHANGES / seconds;
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
    const line = (name: string, rate: number) => `${name.padEnd(12)}${rate.toFixed(1)} a second`;
    return [line('SQLite', sqlite), line('PostgreSQL', postgres)].join('\n');
  } finally {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
