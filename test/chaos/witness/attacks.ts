import { type BotKind, LEASE_MS } from './bot.ts';
import type { Broken } from './oracle.ts';
import { type Call, Stage } from './stage.ts';

const AFTERWARDS_MS = 900_000;
const HOUR_MS = 3_600_000;
const CHANGE = 'change/1';

/** A script for the moments that random walks reach too rarely. The seed decides all times within it. */
type Script = <Tx>(stage: Stage<Tx>) => Promise<unknown>;

/** What the script made the bot break. */
export async function attack<Tx>(
  name: AttackName,
  seed: number,
  kind: BotKind<Tx>,
): Promise<readonly Broken[]> {
  const stage = new Stage(seed, kind, 3);
  await ATTACKS[name](stage);
  await stage.pass(AFTERWARDS_MS);
  stage.end();
  return stage.oracle.broken;
}

export type AttackName = keyof typeof ATTACKS;

export const ATTACKS = {
  /** The requester cancels after the reading before the claim, and Slack has its answer before the process continues. */
  'a cancellation before the claim': async (stage) => {
    await request(stage, 0);
    await stage.until(readingBeforeClaim(stage, 0));
    stage.hang(0, 30_000);
    await stage.until(stage.press(1, CHANGE, 'cancel', 'ada'));
    stage.oracle.cancelled(CHANGE);
  },

  /** Another process ends the change after the reading before the claim. Its end is lost, the card still shows it. */
  'a lost end': async (stage) => {
    await request(stage, 0);
    await stage.until(readingBeforeClaim(stage, 0));
    await cancelAndLose(stage);
  },

  /** The same, and a late older drawing makes the card show the earlier state again. */
  'a lost end and a late drawing': async (stage) => {
    await request(stage, 0);
    await stage.until(readingBeforeClaim(stage, 0));
    const older = stage.card(CHANGE)?.shown;
    await cancelAndLose(stage);
    const card = stage.card(CHANGE);
    if (card && older) card.shown = older;
  },

  /** The same before a drawing: the process has read the log, and draws when the end is lost. */
  'a lost end before a drawing': async (stage) => {
    await approve(stage);
    await cancelAndLose(stage);
  },

  /** A late older drawing arrives after the last one was accepted, before the process reads the card. */
  'a late drawing': async (stage) => {
    await request(stage, 0);
    await stage.until(() => stage.card(CHANGE) !== undefined);
    const older = stage.card(CHANGE)?.shown;
    await stage.until(() => stage.shows(CHANGE, 'succeeded'));
    const card = stage.card(CHANGE);
    if (card && older) card.shown = older;
    await stage.pass(2 * HOUR_MS);
    stage.oracle.atTheEnd();
  },

  /** The claim is lost while its request is on the way. Another process finds the note, and a person answers. */
  'a lost claim': async (stage) => {
    await request(stage, 0);
    await stage.until(confirmedAttempt(stage, 0));
    stage.hang(0, 40_000 + stage.world.below(30_000));
    stage.lose(stage.commits - 1, 'failover');
    stage.start(1);
    await seeEnd(stage);
    await stage.pass(LEASE_MS);
    if (stage.shows(CHANGE, 'unknown')) stage.press(1, CHANGE, 'happened', 'ben');
    await stage.pass(LEASE_MS);
    stage.oracle.atTheEnd();
  },

  /** A process on the other primary ends an attempt while its request is on the way. */
  'two primaries during an attempt': async (stage) => {
    await request(stage, 0);
    await stage.until(readingBeforeClaim(stage, 0));
    stage.split(2);
    await stage.until(confirmedAttempt(stage, 0));
    stage.hang(0, 60_000 + stage.world.below(20_000));
    stage.start(1, 2);
    await seeEnd(stage);
  },

  /** Both primaries claim. On the second one another process answers the first note before the claimer reads it. */
  'an answered note': async (stage) => {
    await request(stage, 0);
    await stage.until(readingBeforeClaim(stage, 0));
    stage.hang(0, 60_000);
    stage.split(1, 2);
    stage.start(1);
    await stage.until(calls(stage, 1, 'update', 'read', 'thread'), 50_000);
    stage.hang(1, 60_000);
    stage.hang(0, 0);
    await stage.until(() => stage.api.arrivals.length > 0, 50_000);
    stage.kill(0);
    const isNoted = calls(stage, 1, 'reply');
    stage.hang(1, 0);
    await stage.until(isNoted, 50_000);
    stage.hang(1, 40_000);
    stage.start(2);
  },

  'a freeze lost in a failover': (stage) => loseFreeze(stage, 'failover'),
  'a freeze lost in a restore': (stage) => loseFreeze(stage, 'connections end'),
  'a freeze lost without a sign': (stage) => loseFreeze(stage, 'unnoticed'),

  /** A change ran, its card is deleted, and the log loses all but the request. Only the audit channel knows the rest. */
  'a lost change with a deleted card': async (stage) => {
    await request(stage, 0);
    await stage.until(calls(stage, 0, 'commit'));
    const before = stage.commits;
    await stage.until(() => stage.shows(CHANGE, 'succeeded'));
    const card = stage.card(CHANGE);
    if (card) card.deleted = true;
    stage.kill(0);
    stage.lose(before, 'failover');
    stage.start(1);
  },

  /** Ten changes wait for a freeze, which ends while Slack is down. */
  'an outage of Slack': async (stage) => {
    stage.start(0);
    stage.freeze(0, 'freeze/1');
    await stage.until(() => stage.shows('freeze/1', 'frozen'));
    const changes = Array.from({ length: 10 }, (_, index) => `change/${index + 1}`);
    for (const change of changes) stage.request(0, change, `of ${change}`, 0);
    await stage.until(() => changes.every((change) => stage.shows(change, 'approved')));
    await stage.pass(120_000);
    const before = stage.databases.size;
    stage.slack.downUntil = stage.world.now + 600_000;
    stage.press(0, 'freeze/1', 'lift', 'ben');
    await stage.pass(590_000);
    stage.oracle.outage(stage.databases.size - before, 1);
  },
} satisfies Record<string, Script>;

async function request<Tx>(stage: Stage<Tx>, ...processes: readonly number[]): Promise<void> {
  stage.start(...processes);
  await stage.pass(3_000);
  stage.request(0, CHANGE, 't1', 0);
}

/** A person approves the change. The process has stored this, and has read the log to draw the card. */
async function approve<Tx>(stage: Stage<Tx>): Promise<void> {
  stage.start(0);
  await stage.pass(3_000);
  stage.request(0, CHANGE, 't1', 1);
  await stage.until(() => (stage.card(CHANGE)?.shown.mark.version ?? 0) > 1);
  await stage.pass(10_000);
  stage.press(0, CHANGE, 'approve', 'ben');
  await stage.until(calls(stage, 0, 'commit'));
  await stage.until(calls(stage, 0, 'commit', 'read'));
}

/** After the last of these calls, one after the other, by this process. */
function calls<Tx>(stage: Stage<Tx>, process: number, ...wanted: readonly Call[]): () => boolean {
  const seen: Call[] = [];
  let isDone = false;
  stage.onCall = (owner, call) => {
    if (owner !== process || isDone) return;
    seen.push(call);
    isDone = wanted.every((each, index) => seen.at(index - wanted.length) === each);
    if (isDone) stage.hang(process, 1_000);
  };
  return () => isDone;
}

/** The card was posted, and Slack is read before the claim. */
function readingBeforeClaim<Tx>(stage: Stage<Tx>, process: number): () => boolean {
  return calls(stage, process, 'commit', 'read', 'thread');
}

/** The note was posted and read back, and the log was read: the request is sent next. */
function confirmedAttempt<Tx>(stage: Stage<Tx>, process: number): () => boolean {
  return calls(stage, process, 'reply', 'thread', 'read');
}

async function cancelAndLose<Tx>(stage: Stage<Tx>): Promise<void> {
  stage.hang(0, 60_000 + stage.world.below(60_000));
  const before = stage.commits;
  stage.start(1);
  stage.press(1, CHANGE, 'cancel', 'ada');
  await stage.until(() => stage.shows(CHANGE, 'cancelled'), 50_000);
  seeCard(stage);
  stage.kill(1);
  stage.lose(before, 'failover');
}

/** A person looks at the card at every moment until the process continues. */
async function seeEnd<Tx>(stage: Stage<Tx>): Promise<void> {
  await stage.until(() => {
    seeCard(stage);
    return false;
  }, LEASE_MS / 3);
}

function seeCard<Tx>(stage: Stage<Tx>): void {
  const card = stage.card(CHANGE);
  if (card) stage.oracle.saw(card);
}

/** One process posts a freeze and crashes. The log loses it. The other process hangs, and has not read it. */
async function loseFreeze<Tx>(
  stage: Stage<Tx>,
  how: 'failover' | 'connections end' | 'unnoticed',
): Promise<void> {
  stage.start(0, 1);
  await stage.pass(30_000);
  const before = stage.commits;
  // The second process knows this event. Only when it is lost too does its memory notice anything.
  stage.request(0, 'change/2', 't2', 1);
  await stage.until(() => stage.shows('change/2', 'pending'));
  await stage.pass(20_000);
  const since = how === 'unnoticed' ? before : stage.commits;
  stage.hang(0, 3 * LEASE_MS);
  stage.freeze(1, 'freeze/1');
  await stage.until(() => stage.wasTold('freeze/1', 'frozen'), LEASE_MS);
  stage.kill(1);
  stage.lose(since, how);
  await stage.pass(2 * LEASE_MS);
  stage.request(0, CHANGE, 't1', 0);
}
