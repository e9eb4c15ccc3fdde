import { pino } from 'pino';
import { expect, test } from 'vitest';
import { ApiError, type ApiFailure, InvalidRequest, Secret } from '../../src/base/errors.ts';
import { type Change, targetKey } from '../../src/domain/change.ts';
import { evolveHolders } from '../../src/domain/log-events.ts';
import { knownServices } from '../../src/servers/facts.ts';
import type { SendResult } from '../../src/servers/sent.ts';
import { reading } from '../../src/storage/index.ts';
import type { WorkflowContext } from '../../src/workflow/context.ts';
import { expireKind, lostKind, runKind, takeOver } from '../../src/workflow/execute.ts';
import { messageKinds } from '../../src/workflow/show.ts';
import { policyOf } from '../domain/policy-fixtures.ts';
import {
  aChange,
  ana,
  createTestContext,
  eventsOf,
  loaded,
  minutes,
  moved,
  NOON,
  PLAN,
  RULE,
  STAGING,
} from './context.ts';
import { runDue } from './due.ts';
import { runnable } from './runnable.ts';

const LEARNED = { id: STAGING.id, name: 'staging', fields: { minReplicaMemoryGb: 16 } };
const SENT: SendResult = { requestId: 'r-7', reported: ['running'], learned: LEARNED };

function apiError(failure: Partial<ApiFailure>): ApiError {
  const silence = { effect: 'unknown', kind: 'deadline' } as const;
  return new ApiError({ operation: 'updateReplicaScaling', ...silence, ...failure });
}

/** The changes that hold the target of a change. */
async function holders({ events }: WorkflowContext, change: Change): Promise<readonly string[]> {
  return (await events.load(`target/${targetKey(change)}`, evolveHolders)).state ?? [];
}

interface Circumstances {
  readonly verifyOutcome?: () => Promise<SendResult | null>;
  readonly context?: NonNullable<Parameters<typeof createTestContext>[0]>;
}

/** Runs an approved change, whose request gets this answer or error. */
async function ran(
  answer: () => Promise<SendResult>,
  { verifyOutcome, context: over = {} }: Circumstances = {},
) {
  const lines: { msg: string; err?: { message: string }; change?: string }[] = [];
  const refreshed = { count: 0 };
  const command = { send: answer, ...(verifyOutcome && { verifyOutcome }) };
  const log = pino({ level: 'warn' }, { write: (line) => void lines.push(JSON.parse(line)) });
  const refreshDirectory = () => {
    refreshed.count += 1;
  };
  const all = await runnable({ command, context: { log, refreshDirectory, ...over } });
  await all.run();
  const { store } = all.context;
  return {
    ...all,
    lines,
    logged: lines.map(({ msg }) => msg),
    refreshed,
    change: await all.current(),
    event: (await all.events()).at(-1),
    isLocked: (await holders(all.context, all.change)).includes(all.change.id),
    services: await reading(store, (reader) => knownServices(reader)),
  };
}

test('an accepted request is recorded with what the server reported', async () => {
  const { change, event, isLocked, services, logged, refreshed } = await ran(async () => SENT);
  expect(change).toMatchObject({
    state: 'succeeded',
    outcome: { how: 'succeeded', at: NOON, requestId: 'r-7', reported: ['running'] },
    lease: null,
  });
  expect(event).toMatchObject({ type: 'succeeded', requestId: 'r-7' });
  const { tookMs = -1 } = change.outcome ?? {};
  expect(Number.isInteger(tookMs)).toBe(true);
  // `performance.now()` counts from the start of the process, which is a minute or more before.
  expect(tookMs).toBeGreaterThanOrEqual(0);
  expect(tookMs).toBeLessThan(performance.now() / 2);
  expect(isLocked).toBe(false);
  expect(services).toMatchObject([{ ...LEARNED, source: 'reply to service stop', seenAt: NOON }]);
  expect(logged).toEqual([]);
  expect(refreshed.count).toBe(1);
});

const CONFLICT = { kind: 'answer', status: 409, serverText: 'CONFLICT', requestId: 'r-8' } as const;
const refused = (failure: Partial<ApiFailure>) =>
  apiError({ effect: 'refused', kind: 'answer', ...failure });
const ODD = new InvalidRequest('updateReplicaScaling', [{ field: 'memory', problem: 'is odd' }]);
const SENDING = 'An internal error occurred while the request was being sent.';

test.for<[string, Error, string, string, { status?: number; requestId?: string }?]>([
  [
    'a refusal has the words of the server',
    refused(CONFLICT),
    'failed',
    'CONFLICT',
    { status: 409, requestId: 'r-8' },
  ],
  [
    'a refusal without words has those of Signalbox',
    refused({ status: 400 }),
    'failed',
    'The server returned an error.',
    { status: 400 },
  ],
  [
    'no answer is an unknown outcome',
    apiError({}),
    'unknown',
    'The server did not answer in time.',
  ],
  [
    'values that are not sent are a failure',
    ODD,
    'failed',
    'Signalbox did not send it: memory is odd.',
  ],
  ['an internal error is an unknown outcome', new TypeError('x'), 'unknown', SENDING],
])('%s', async ([, error, how, text, answered]) => {
  const { change, event, isLocked, lines, services } = await ran(() => Promise.reject(error));
  const outcome = { how, at: NOON, text, status: null, requestId: null, ...answered };
  expect(change).toMatchObject({ state: how, outcome });
  expect(event?.type).toBe(how);
  expect(isLocked).toBe(how === 'unknown');
  expect(lines).toMatchObject([
    { msg: 'request did not succeed', change: change.id, err: { message: error.message } },
  ]);
  expect(services).toEqual([]);
});

test('a request that the server did not accept is handed back with its reason', async () => {
  const { change, event, isLocked } = await ran(() =>
    Promise.reject(apiError({ effect: 'not-sent', kind: 'rate-limit', status: 429 })),
  );
  expect(change).toMatchObject({ state: 'approved', lease: null });
  expect(event).toMatchObject({
    type: 'not-sent',
    why: 'The rate limit of the server is reached.',
  });
  expect(isLocked).toBe(false);
});

test('a command that this release lacks is handed back', async () => {
  const { run, current, events, context, shown } = await runnable({
    change: { state: 'approved', command: 'service upgrade' },
    context: { commands: new Map(), policy: policyOf([{ ...RULE, allow: ['*'] }]) },
  });
  await run();
  expect((await current()).state).toBe('approved');
  const why = 'This release has no command service upgrade.';
  expect((await events()).at(-1)).toMatchObject({ why });
  // No wait ends it, so people read it at once.
  await runDue(context, messageKinds(context));
  expect(shown.map(({ name }) => name)).toContain('postThreadUpdate');
});

test('a fresh read that shows the requested state makes an unknown outcome a success', async () => {
  const { change, event, isLocked, services } = await ran(() => Promise.reject(apiError({})), {
    verifyOutcome: async () => SENT,
  });
  expect(change).toMatchObject({
    state: 'succeeded',
    outcome: { how: 'succeeded', at: NOON, requestId: 'r-7', reported: ['running'] },
  });
  expect(event?.type).toBe('succeeded');
  expect(isLocked).toBe(false);
  expect(services).toHaveLength(1);
});

test.for<[string, () => Promise<null>, string[]]>([
  ['does not show the requested state', async () => null, []],
  [
    'fails',
    () => Promise.reject(new Error('no answer')),
    ['target could not be read after an unknown outcome'],
  ],
])('an outcome stays unknown when the fresh read %s', async ([, verifyOutcome, warnings]) => {
  const { change, logged, lines } = await ran(() => Promise.reject(apiError({})), {
    verifyOutcome,
  });
  expect(change.state).toBe('unknown');
  expect(logged).toEqual(['request did not succeed', ...warnings]);
  expect(lines.every((line) => line.change === change.id && line.err)).toBe(true);
});

test.for(['refused', 'not-sent'] as const)(
  'the target is not read again when the request was %s',
  async (effect) => {
    const reads = { count: 0 };
    const { change } = await ran(() => Promise.reject(apiError({ effect })), {
      verifyOutcome: async () => {
        reads.count += 1;
        return SENT;
      },
    });
    expect(reads.count).toBe(0);
    expect(change.state).toBe(effect === 'refused' ? 'failed' : 'approved');
  },
);

test('the password in an answer is stored for its requester', async () => {
  const secret = new Secret('pässword');
  const { context, change } = await ran(async () => ({ ...SENT, secret }));
  const rows = await reading(context.store, (reader) =>
    reader.selectFrom('sealed_secret').select(['change_id', 'requester']).execute(),
  );
  expect(rows).toEqual([{ change_id: change.id, requester: ana }]);
});

type Failures = readonly Partial<ApiFailure>[];
const inTurn = (...kinds: ApiFailure['kind'][]): Failures =>
  Array.from({ length: 10 }, (_, index) => ({ kind: kinds[index % kinds.length] ?? 'deadline' }));

test.for<[string, Failures, readonly number[]]>([
  ['passes in seconds', [{ kind: 'rate-limit', retryAfterMs: 2_000 }, { kind: 'no-name' }], []],
  ['is long at once', [{ kind: 'paused', retryAfterMs: 90_000 }], [0]],
  ['only a person ends', [{ kind: 'private-address' }], [0]],
  ['comes back', inTurn('no-name'), [60]],
  ['is one thing with another that it alternates with', inTurn('rate-limit', 'paused'), [60]],
  ['alternates with another', inTurn('no-connection', 'budget', 'no-name', 'rate-limit'), [60]],
  [
    'is followed by another',
    [...inTurn('no-name').slice(0, 4), ...inTurn('rate-limit')],
    [60, 150],
  ],
])('a wait that %s is reported no more often than needed', async ([, failures, reported]) => {
  const causes = failures.values();
  const { context, clock, shown } = await runnable({
    change: { state: 'approved', requires: { expiresAfterMs: 24 * 3_600_000 } },
    command: {
      send: async () => {
        const { value: failure } = causes.next();
        if (!failure) return SENT;
        throw apiError({ effect: 'not-sent', ...failure });
      },
    },
  });
  const messages = messageKinds(context);
  const seconds: number[] = [];
  for (let passed = 0; passed < 600; passed += 10) {
    clock.now = new Date(NOON.getTime() + passed * 1_000);
    await runDue(context, { run: runKind(context) });
    await runDue(context, messages);
    const updates = shown.splice(0).filter(({ name }) => name === 'postThreadUpdate');
    const waits = updates.filter(({ given: [change] }) => Object(change).state === 'approved');
    seconds.push(...waits.map(() => passed));
  }
  expect(seconds).toEqual(reported);
});

test('of an older release each sentence is a cause, and none is reported while a request is under way', async () => {
  const { context, clock } = await createTestContext();
  const { id } = await aChange(context, { state: 'executing' });
  const [why, nonce] = ['The name did not resolve.', 'attempt-2'];
  const unsent = { type: 'not-sent', why, nonce, notBefore: minutes(3) } as const;
  const claimed = { type: 'claimed', by: 'P1', nonce, attempt: 2, until: minutes(5) } as const;
  const { version } = await moved(context, id, unsent);
  const { notSent } = await moved(context, id, claimed, unsent, claimed);
  expect(notSent?.causes).toEqual({ [why]: version });
  const job = { key: `${id}/${version}`, again: false, attempts: 1 };
  const waitsUntil = new Date(clock.now.getTime() + 10_000);
  expect(await messageKinds(context).thread?.run(job)).toEqual({ waitsUntil });
});

/** The seconds until the next claim, after each of the first hand-backs. */
async function waits(retryAfterMs: number | null, times: number) {
  const answer = { effect: 'not-sent', kind: 'answer', status: 429, retryAfterMs } as const;
  const { run, current, clock, events } = await runnable({
    change: { state: 'approved', requires: { expiresAfterMs: 24 * 3_600_000 } },
    command: { send: () => Promise.reject(apiError(answer)) },
  });
  const found: number[] = [];
  for (let n = 0; n < times; n += 1) {
    await run();
    const { notBefore } = await current();
    found.push(((notBefore?.getTime() ?? 0) - clock.now.getTime()) / 1_000);
    clock.now = notBefore ?? clock.now;
  }
  const claims = (await events()).filter(({ type }) => type === 'claimed');
  return { found, claims: claims.length };
}

test('an API that accepts nothing gets the change again after 10 s, and finally every 5 minutes', async () => {
  const { found, claims } = await waits(null, 8);
  expect(found).toEqual([10, 20, 40, 80, 160, 300, 300, 300]);
  expect(claims).toBe(8);
});

test('the wait that the API requests counts if it is longer', async () => {
  expect((await waits(2_000, 3)).found).toEqual([2, 20, 40]);
  expect((await waits(60_000, 4)).found).toEqual([60, 60, 60, 80]);
  expect((await waits(600_000, 2)).found).toEqual([600, 600]);
});

test('an answer after the lease does not overrule the unknown outcome', async () => {
  const { context, run, clock, current, change } = await runnable({
    command: {
      send: async () => {
        clock.now = minutes(2);
        await lostKind(context).run({ key: change.id, again: false, attempts: 1 });
        return { requestId: null, reported: [], learned: null };
      },
    },
  });
  await run();
  expect((await current()).state).toBe('unknown');
  expect(await holders(context, change)).toEqual([change.id]);
});

const job = ({ id }: Change) => ({ key: id, again: false, attempts: 1 });

test('an execution of another process becomes unknown when its lease ends, and its target stays locked', async () => {
  const { context, clock } = await createTestContext();
  const change = await aChange(context, { state: 'executing' });
  const lost = lostKind({ ...context, instance: 'another' });
  clock.now = new Date(minutes(2).getTime() - 1);
  expect(await lost.run(job(change))).toEqual(minutes(2));
  expect((await loaded(context, change.id)).state).toBe('executing');
  clock.now = minutes(2);
  expect(await lost.run(job(change))).toBe('done');
  expect(await loaded(context, change.id)).toMatchObject({ state: 'unknown', lease: null });
  expect((await eventsOf(context, `change/${change.id}`)).at(-1)).toMatchObject({
    type: 'unknown',
    text: 'No answer was recorded in time.',
  });
  expect(await holders(context, change)).toEqual([change.id]);
});

test('a claim that its process never began to send is handed back, not unknown', async () => {
  const { context, clock, sent } = await createTestContext();
  const change = await aChange(context, { state: 'executing' });
  clock.now = minutes(2);
  expect(await lostKind(context).run(job(change))).toBe('done');
  expect((await loaded(context, change.id)).state).toBe('approved');
  expect(await holders(context, change)).toEqual([]);
  expect(sent).toEqual([]);
});

test('a claim whose commit got no answer is handed back by its own process, and sends nothing', async () => {
  const { context, run, sent, current } = await runnable({ change: { state: 'executing' } });
  expect(await run()).toBe('done');
  expect(sent).toEqual([]);
  expect(await current()).toMatchObject({ state: 'approved', lease: null });
  const other = await runnable({
    change: { state: 'executing' },
    context: { instance: 'another' },
  });
  expect(await other.run()).toBe('done');
  expect((await other.current()).state).toBe('executing');
  expect(await holders(context, await current())).toEqual([]);
});

test('a change expires at its time, and not before', async () => {
  const { context, clock } = await createTestContext();
  const change = await aChange(context);
  const expire = expireKind(context);
  clock.now = new Date(change.expiresAt.getTime() - 1);
  expect(await expire.run(job(change))).toEqual(change.expiresAt);
  clock.now = change.expiresAt;
  expect(await expire.run(job(change))).toBe('done');
  expect((await loaded(context, change.id)).state).toBe('expired');
  const sent = await aChange(context, { state: 'unknown' });
  clock.now = minutes(24 * 60);
  expect(await expire.run(job(sent))).toBe('done');
  expect((await loaded(context, sent.id)).state).toBe('unknown');
});

test('a start takes over every execution of the process before, whatever its lease', async () => {
  const { context } = await createTestContext();
  const target = (n: number) => ({ ...PLAN.target, id: `s-${n}` });
  const changes = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      aChange(context, { state: 'executing', plan: { target: target(n) } }),
    ),
  );
  const ended = await aChange(context, { state: 'failed', plan: { target: target(99) } });
  await takeOver(context);
  for (const { id } of changes) expect((await loaded(context, id)).state).toBe('unknown');
  expect((await loaded(context, ended.id)).state).toBe('failed');
});
