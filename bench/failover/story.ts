import { join } from 'node:path';
import { Secret } from '../../src/base/errors.ts';
import { openLog, readKeys } from '../../src/log/index.ts';
import { openStore } from '../../src/storage/index.ts';
import { readEndState, violationsOfLocks } from '../../test/harness/end-state.ts';
import { textOf } from '../../test/harness/messages.ts';
import { AUDIT_KEY } from '../../test/harness/simulators.ts';
import { type Bot, startWorld, type World } from './bots.ts';
import { type Pair, startPair } from './pair.ts';

const STAGING = '1525c708-e4bc-426d-a9e7-d11b6c27caf5';
const CLAIMED = `select count(*) from event where type = 'claimed'`;
/** What the card may say at the end of a change whose execution the database forgot. */
const ENDINGS = ['not tracked: the database was restored', 'outcome unknown'];
/** What is left of all work when nothing is stuck. */
const AT_REST = [
  'signalbox_open_changes{state="approved"} 0',
  'signalbox_open_changes{state="executing"} 0',
  'signalbox_queue_depth{queue="inbox"} 0',
];

/** Who goes on after the failover. */
export const WAYS = ['the same process', 'a restarted process', 'another replica'] as const;
export type Way = (typeof WAYS)[number];

export interface Result {
  readonly way: Way;
  /** Requests that the API received, and effects of them, before the failover and long after it. */
  readonly requests: readonly [before: number, after: number];
  readonly effects: readonly [before: number, after: number];
  /** Events of a claim on the lost primary and on the promoted standby. */
  readonly claims: readonly [primary: number, standby: number];
  readonly ending: string;
  readonly next: string;
  readonly seconds: number;
  readonly problems: readonly string[];
}

interface Scene {
  readonly way: Way;
  readonly pair: Pair;
  readonly world: World;
}

/** A change is sent, and the standby that takes over has never heard of it. */
export async function runWay(way: Way, bin: string, folder: string): Promise<Result> {
  const begun = performance.now();
  const pair = await startPair(bin, join(folder, way.replaceAll(' ', '-')));
  try {
    const world = await startWorld();
    try {
      const result = await play({ way, pair, world });
      return { ...result, seconds: (performance.now() - begun) / 1_000 };
    } finally {
      await world.close();
    }
  } finally {
    await pair.stop();
  }
}

async function play({ way, pair, world }: Scene): Promise<Omit<Result, 'seconds'>> {
  const { cloud } = world;
  const sends = () => cloud.count('set state');
  const effects = () => cloud.effectCount('set state', STAGING);
  const sender = await world.start(pair.url);
  world.deliverTo(sender);
  // It is on the side of the standby, so it has not read of the execution either.
  const other = way === 'another replica' ? await world.start(pair.farUrl) : null;
  const line = '/service stop staging in=30m for the night';
  const ts = await world.approved(line, 'staging?', 'requests: stop staging');
  await world.card('Stop staging: approved');
  await world.quiet();
  await pair.caughtUp();

  pair.stall();
  await world.pass(31, 2);
  await world.card('staging is stopping');
  await world.quiet();
  const before = { requests: sends(), effects: effects() };
  const claims = [
    Number(await pair.onPrimary(CLAIMED)),
    Number(await pair.onStandby(CLAIMED)),
  ] as const;

  await pair.killPrimary();
  if (way !== 'the same process') await sender.stop();
  await pair.promote();
  const goesOn = way === 'the same process' ? sender : (other ?? (await world.start(pair.url)));
  world.deliverTo(goesOn);
  await world.pass(5, 10);
  await world.approveAgain();
  await world.pass(120, 12);

  const after = { requests: sends(), effects: effects() };
  const ending = endingOf(world, ts);
  const next = await nextChange(world);
  const problems = [
    ...wrongCounts({ before, after, claims }),
    ...(ENDINGS.includes(ending) ? [] : [`the card says: ${ending}`]),
    ...(next.startsWith('done') ? [] : [`a new change: ${next}`]),
    ...(await stuck(world, goesOn)),
    ...(sends() === 2 ? [] : [`the API received ${sends()} requests for two changes`]),
    ...(await wrongInLog(pair)),
  ];
  return {
    way,
    requests: [before.requests, after.requests],
    effects: [before.effects, after.effects],
    claims,
    ending,
    next,
    problems,
  };
}

interface Counts {
  readonly requests: number;
  readonly effects: number;
}

function wrongCounts(seen: {
  readonly before: Counts;
  readonly after: Counts;
  readonly claims: readonly [number, number];
}): readonly string[] {
  const { before, after, claims } = seen;
  const isStory = before.requests === 1 && before.effects === 1 && claims.join() === '1,0';
  return [
    ...(isStory ? [] : ['the standby was not behind by exactly this execution']),
    ...(after.requests === 1 ? [] : [`the API received ${after.requests} requests`]),
    ...(after.effects === 1 ? [] : [`the API has ${after.effects} effects`]),
  ];
}

function endingOf(world: World, ts: string): string {
  const card = world.cardAt(ts);
  if (!card) return 'nothing, it is gone';
  const text = textOf(card);
  return ENDINGS.find((ending) => text.includes(ending)) ?? card.text.split('\n')[0] ?? '';
}

/** A change of the same target, which nothing may lock. */
async function nextChange(world: World): Promise<string> {
  const before = world.cloud.effectCount('set state', STAGING);
  try {
    const line = '/service start staging work goes on';
    await world.approved(line, 'Start staging?', 'requests: start staging');
    await world.card('staging is starting');
    await world.quiet();
    const sent = world.cloud.effectCount('set state', STAGING) - before;
    return sent === 1 ? 'done, 1 request' : `${sent} requests`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function stuck(world: World, { url }: Bot): Promise<readonly string[]> {
  await world.pass(10, 5);
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return AT_REST.filter((line) => !metrics.includes(`${line}\n`)).map((line) => {
    const [name = ''] = line.split(' ');
    return `not at rest: ${metrics.split('\n').find((each) => each.startsWith(name)) ?? name}`;
  });
}

/** The chain of the promoted log, and the locks of its changes. */
async function wrongInLog({ url }: Pair): Promise<readonly string[]> {
  const store = await openStore(url, { as: 'beside' });
  try {
    const key = new Secret(AUDIT_KEY.toString('base64'));
    const keys = readKeys({ databaseUrl: url, key, previous: [] });
    const log = await openLog(store, keys, { replacesKey: false });
    const { changes, violations } = await readEndState(log);
    return [...violations, ...(await violationsOfLocks(log, changes))];
  } finally {
    await store.close();
  }
}
