import { expect, onTestFinished, test } from 'vitest';
import { USUAL_BEHAVIOUR } from '../../sandbox/cloud/behaviour.ts';
import { startCloudSimulator } from '../../sandbox/cloud/simulator.ts';
import { CLOUD_KEY, ORGANIZATION as SEED } from '../../sandbox/seed/organization.ts';
import { Secret } from '../../src/base/errors.ts';
import type { JsonObject } from '../../src/base/text.ts';
import { dayOf, daysBetween } from '../../src/base/time.ts';
import { type CommandContext, commands } from '../../src/commands/index.ts';
import { evolveElsewhere, evolvePost } from '../../src/domain/log-events.ts';
import { type Service, serviceTarget } from '../../src/domain/targets.ts';
import { openLog } from '../../src/log/index.ts';
import { createCloudClient } from '../../src/servers/cloud.ts';
import type { AttemptMark } from '../../src/workflow/context.ts';
import { elsewhereWatch } from '../../src/workflow/elsewhere.ts';
import { runKind } from '../../src/workflow/execute.ts';
import { createTime } from '../contracts/time.ts';
import { aChange, ben, createTestContext, loaded, moved, NOON, STAGING } from './context.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const AUDIT = '#db-audit';
const CHANGES = new Map(
  commands.flatMap((one) => (one.kind === 'change' ? [[one.name, one]] : [])),
);

const PRIMARY = SEED.services.find(({ name }) => name === 'analytics-prod')?.id;

/** All of the month with MONTH=full; otherwise its first days. */
const IS_FULL = process.env.MONTH === 'full';
const STEPS = IS_FULL ? 1_920 : 110;

const MONTH: readonly (readonly [weight: number, kind: MonthEvent])[] = [
  ...([
    [60, 'own'],
    [6, 'own, answer lost'],
    [3, 'own, applied late'],
    [3, 'own, slow answer'],
    [3, 'own, lost and not applied'],
    [2, 'own, refused'],
    [2, 'own, sent again after a rate limit'],
  ] as const),
  ...([
    [12, 'console'],
    [9, 'terraform'],
    [3, 'own key, other program'],
  ] as const),
];
type MonthEvent = `own${string}` | 'console' | 'terraform';

const FAULTS: Readonly<Record<string, readonly string[]>> = {
  'own, answer lost': ['502-after-effect', '504-after-effect', 'reset-after-effect'],
  'own, applied late': ['late-effect-45s'],
  'own, slow answer': ['delay-2s', 'delay-20s'],
  'own, lost and not applied': ['504', '500', 'reset'],
  'own, refused': ['403'],
  'own, sent again after a rate limit': ['429'],
};

const WORDS: Readonly<Record<string, string>> = {
  service_start: 'Started',
  service_stop: 'Stopped',
  service_update_autoscaling_memory: 'Memory scaled',
};

/** The same figures for the same seed: a linear congruential generator. */
function seeded(seed: number) {
  let state = seed;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  return { next, pick: <T>(all: readonly T[]) => all[Math.floor(next() * all.length)] as T };
}

/** Signalbox, a console and Terraform on one simulator of the cloud, with one clock that passes while something waits. */
async function aMonth(seed: number) {
  const random = seeded(seed);
  const time = createTime(NOON);
  /** Runs while the bot waits for an answer of the server. */
  const around = { waiting: async () => {} };
  const cloud = await startCloudSimulator({
    now: time.now,
    wait: async (ms) => {
      time.pass(ms);
      await around.waiting();
    },
  });
  cloud.setKey('terraform', { secret: 'terraform' });
  const clientOf = (keyId: string, keySecret: string) =>
    createCloudClient({
      ...{ version: 'test', privateAddresses: true, clock: time.clock, baseUrl: cloud.url },
      ...{ organizationId: SEED.id, keyId, keySecret: new Secret(keySecret) },
      reads: { mode: 'extended', now: time.now, onOff: () => undefined },
    });
  const [own, terraform] = [
    clientOf(CLOUD_KEY.id, CLOUD_KEY.secret),
    clientOf('terraform', 'terraform'),
  ];
  const services = SEED.services
    .filter(({ name }) =>
      ['analytics-prod', 'staging', 'ci', 'archive', 'bi-readonly'].includes(name),
    )
    .map(({ id, name }): Service => ({ ...STAGING, id, name }));
  const notes: AttemptMark[] = [];
  const { context, clock } = await createTestContext({
    commands: CHANGES,
    services: () => services,
    verifyServices: async () => services,
    commandContext: () =>
      ({
        services,
        cloud: own,
        reads: { cloud: own.reads },
        now: time.now,
        prefix: '',
      }) as unknown as CommandContext,
    messages: {
      postSending: async (_change, _at, mark) => void notes.push(mark),
      readThread: async () => ({ card: null, notes: notes.splice(0) }),
    },
  });
  Object.defineProperty(clock, 'now', { get: time.now, set: () => undefined });
  onTestFinished(async () => {
    await Promise.all([own.close(), terraform.close()]);
    await cloud.stop();
  });
  const replica = async () => ({
    ...context,
    events: await openLog(context.store, context.events.keys),
  });
  return { random, time, cloud, own, terraform, services, context, replica, around };
}

test('in a month of 2,000 activities with lost and late answers, what others did is named, and nothing else', async () => {
  const { random, time, cloud, own, terraform, services, context, replica, around } =
    await aMonth(43);
  const processes = [context, await replica()];
  const watches = processes.map((each) => elsewhereWatch(each, AUDIT));
  const weights = MONTH.flatMap(([weight, kind]) => Array.from({ length: weight }, () => kind));
  /** When another program used the key of Signalbox, and on which service. */
  const scripted = new Set<string>();
  const kinds = new Map<string, number>();
  /** Services of which a request without an answer may still be applied: there, the own key proves nothing. */
  const uncertain = new Map<string, number>();
  let read = 0;
  const readAll = async (isStarted = random.next() < 0.01) => {
    read += 1;
    // One of two replicas, sometimes after a restart.
    const which = read % processes.length;
    const replica = processes[which] ?? context;
    if (isStarted) watches[which] = elsewhereWatch(replica, AUDIT);
    await watches[which]?.();
  };
  around.waiting = async () => {
    cloud.behave({ durations: { ...USUAL_BEHAVIOUR.durations, activity: 0 } });
    await readAll(true);
  };
  await readAll();

  const bodyFor = (id: string): readonly [string, JsonObject] => {
    const state = cloud.service(id)?.state;
    if (state === 'stopped') return ['service start', { command: 'start' }];
    if (random.next() < 0.4 && state === 'running' && id !== PRIMARY)
      return ['service stop', { command: 'stop' }];
    const sizes = [8, 12, 16, 20, 24, 28, 32];
    const size = random.pick(sizes);
    return ['service scale', { minReplicaMemoryGb: size, maxReplicaMemoryGb: size }];
  };
  const sendAs = async (client: typeof own, id: string) => {
    const [command, body] = bodyFor(id);
    const service = services.find((each) => each.id === id) as Service;
    const given = { cloud: client } as CommandContext;
    // The server refuses some of them.
    await CHANGES.get(command)
      ?.send?.(serviceTarget(service), body, given)
      .catch(() => undefined);
  };
  const sendOwn = async (kind: MonthEvent, id: string) => {
    const [command, body] = bodyFor(id);
    const service = services.find((each) => each.id === id) as Service;
    const faults = FAULTS[kind];
    if (faults) {
      const operation = command === 'service scale' ? 'scale' : 'set state';
      cloud.injectFault({ operation, fault: random.pick(faults), times: 1 });
    }
    const plan = { target: serviceTarget(service), body, before: null, rows: [] };
    const { id: change } = await aChange(context, { state: 'approved', command, plan });
    const run = () => runKind(context).run({ key: change, attempts: 1, again: false });
    await run();
    // A request that was refused for a rate limit is sent again.
    let after = await loaded(context, change);
    for (let tries = 0; after.state === 'approved' && tries < 9; tries += 1) {
      time.pass(MINUTE);
      await run();
      after = await loaded(context, change);
    }
    kinds.set(`${kind}: ${after.state}`, (kinds.get(`${kind}: ${after.state}`) ?? 0) + 1);
    if (after.state !== 'unknown') return;
    uncertain.set(id, time.now().getTime() + DAY);
    if (random.next() < 0.5) await readAll();
    time.pass(random.next() * HOUR);
    const as = random.next() < 0.5 ? 'succeeded' : 'failed';
    await moved(context, change, { type: 'resolved', by: ben, as, note: 'as the console shows' });
  };

  const entries = async () => {
    const days = daysBetween(dayOf(NOON), dayOf(time.now()));
    const all = await terraform.reads.activities(
      { from_date: days[0] ?? '', to_date: days.at(-1) ?? '' },
      { fresh: true },
    );
    return all.known ? all.value : [];
  };
  for (let index = 0; index < STEPS; index += 1) {
    time.pass(-Math.log(1 - random.next()) * 18 * MINUTE);
    // Mostly half a minute, sometimes an hour.
    const activity = random.next() < 0.03 ? HOUR : 30_000;
    cloud.behave({ durations: { ...USUAL_BEHAVIOUR.durations, activity } });
    const { id } = random.pick(services);
    const kind = random.pick(weights);
    if (kind === 'console') {
      cloud.scaleInConsole(
        id,
        { minReplicaMemoryGb: random.pick([8, 16]) },
        random.pick(['Mara', 'Jo']),
      );
    } else if (kind === 'terraform') await sendAs(terraform, id);
    else if (kind === 'own key, other program') {
      time.pass(6 * MINUTE);
      if ((uncertain.get(id) ?? 0) < time.now().getTime()) {
        scripted.add(`${time.now().toISOString()} ${id}`);
        await sendAs(own, id);
      }
      time.pass(6 * MINUTE);
    } else await sendOwn(kind, id);
    // Before the entry is listed, after it, or later.
    time.pass(random.pick([0.2, 1, 3]) * MINUTE);
    if (random.next() < 0.5) await readAll();
  }
  time.pass(2 * HOUR);
  cloud.behave({ durations: { ...USUAL_BEHAVIOUR.durations, activity: 0 } });
  await readAll(true);

  const found = (await context.events.loadAll('elsewhere', evolveElsewhere)).values();
  const named = [...found].flatMap(({ state }) => state?.found ?? []);
  const listed = await entries();
  expect(listed.length).toBeGreaterThanOrEqual(IS_FULL ? 2_000 : 100);
  // The server knows what others did, but not which requests with the key of Signalbox are its own.
  const made = listed.flatMap(({ createdAt, serviceId, type, actorType, actorDetails }) => {
    const when = `${createdAt} ${serviceId}`;
    const isOther = actorType === 'user' || actorDetails === 'key terraform' || scripted.has(when);
    const isBefore = String(createdAt) < NOON.toISOString();
    return isOther && !isBefore ? [`${when} ${WORDS[type ?? '']}`] : [];
  });
  expect(made.length).toBeGreaterThan(listed.length / 7);
  const whatAndWhen = named.map((one) => `${one.madeAt.toISOString()} ${one.service} ${one.what}`);
  expect(whatAndWhen.sort()).toEqual(made.sort());
  expect(time.now().getTime() - NOON.getTime()).toBeGreaterThan((IS_FULL ? 28 : 1) * DAY);
  expect([...kinds.keys()].sort()).toEqual([
    'own, answer lost: unknown',
    'own, applied late: unknown',
    'own, lost and not applied: unknown',
    'own, refused: failed',
    'own, sent again after a rate limit: succeeded',
    'own, slow answer: succeeded',
    'own: succeeded',
  ]);
  const posts = await context.events.loadAll('post', evolvePost);
  expect(posts.size).toBe(new Set(named.map(({ group }) => group)).size);
}, 900_000);
