import { pino } from 'pino';
import { expect, test } from 'vitest';
import { ApiError, type ApiFailure, InvalidRequest } from '../../src/base/errors.ts';
import { lockHolder } from '../../src/log/old/permits.ts';
import { knownServices } from '../../src/servers/facts.ts';
import type { SendResult } from '../../src/servers/sent.ts';
import type { WorkflowContext } from '../../src/workflow/old/ports.ts';
import { policyOf } from '../domain/policy-fixtures.ts';
import { NOON, STAGING } from '../storage/example-change.ts';
import { RULE, storedChange } from './stored-change.ts';

const LEARNED = {
  id: STAGING.slice('service:'.length),
  name: 'staging',
  fields: { minReplicaMemoryGb: 16 },
};
const SENT: SendResult = { requestId: 'r-7', reported: ['running'], learned: LEARNED };

function apiError(failure: Partial<ApiFailure>): ApiError {
  return new ApiError({
    operation: 'updateReplicaScaling',
    effect: 'unknown',
    kind: 'deadline',
    ...failure,
  });
}

/** Runs an approved change, whose request gets this answer or error. */
async function ran(
  answer: () => Promise<SendResult>,
  {
    verifyOutcome,
    context: over = {},
  }: { verifyOutcome?: () => Promise<SendResult | null>; context?: Partial<WorkflowContext> } = {},
) {
  const logged: string[] = [];
  const lines: { err?: object; change?: string }[] = [];
  const refreshed = { count: 0 };
  const command = { send: answer, ...(verifyOutcome && { verifyOutcome }) };
  const write = (line: string) => {
    const { msg, ...fields } = JSON.parse(line);
    logged.push(msg);
    lines.push(fields);
  };
  const log = pino({ level: 'warn' }, { write });
  const refreshDirectory = () => {
    refreshed.count += 1;
  };
  const all = await storedChange({ command, context: { log, refreshDirectory, ...over } });
  await all.run();
  const { db } = all.context.database;
  const permit = await db.selectFrom('send_permit').selectAll().executeTakeFirstOrThrow();
  const holder = await lockHolder(db, STAGING);
  return {
    ...all,
    logged,
    lines,
    refreshed,
    permit,
    change: await all.current(),
    event: (await all.events()).at(-1),
    isLocked: holder === all.change.id,
    services: await knownServices(db),
  };
}

test('an accepted request is stored with what the server reported', async () => {
  const { change, event, permit, isLocked, services, logged, refreshed } = await ran(
    async () => SENT,
  );
  expect(change).toMatchObject({
    state: 'succeeded',
    outcome: { how: 'succeeded', at: NOON, requestId: 'r-7', reported: ['running'] },
    lease: null,
  });
  expect(event).toMatchObject({
    kind: 'succeeded',
    body: { by: 'signalbox', requestId: 'r-7', permit: 1 },
  });
  expect(permit).toMatchObject({ n: 1, outcome: 'succeeded', http_status: 200 });
  expect(isLocked).toBe(false);
  expect(services).toMatchObject([{ ...LEARNED, source: 'reply to service scale', seenAt: NOON }]);
  expect(logged).toEqual([]);
  expect(refreshed.count).toBe(1);
});

test('the duration of a request is stored in milliseconds', async () => {
  const { change } = await ran(async () => SENT);
  const tookMs = change?.outcome?.tookMs ?? -1;
  expect(Number.isInteger(tookMs)).toBe(true);
  // `performance.now()` counts from the start of the process, which is a minute or more before.
  expect(tookMs).toBeGreaterThanOrEqual(0);
  expect(tookMs).toBeLessThan(performance.now() / 2);
});

test.for<[string, () => Error, object, number | null]>([
  [
    'a refusal has the text, the status and the request id of the server',
    () =>
      apiError({
        effect: 'refused',
        kind: 'answer',
        status: 409,
        serverText: 'CONFLICT',
        requestId: 'r-8',
      }),
    { how: 'failed', text: 'CONFLICT', status: 409, requestId: 'r-8' },
    409,
  ],
  [
    'a refusal without a text has the sentence of Signalbox',
    () => apiError({ effect: 'refused', kind: 'answer', status: 400 }),
    { how: 'failed', text: 'The server returned an error.', status: 400, requestId: null },
    400,
  ],
  [
    'a missing answer is an unknown outcome',
    () => apiError({}),
    { how: 'unknown', text: 'The server did not answer in time.', status: null },
    null,
  ],
  [
    'values that Signalbox refuses to send are a failure',
    () => new InvalidRequest('updateReplicaScaling', [{ field: 'memory', problem: 'is odd' }]),
    { how: 'failed', text: 'updateReplicaScaling: memory is odd', status: null, requestId: null },
    null,
  ],
  [
    'an internal error is an unknown outcome',
    () => new TypeError('x is not a function'),
    {
      how: 'unknown',
      text: 'An internal error occurred while the request was being sent.',
      status: null,
      requestId: null,
    },
    null,
  ],
])('%s', async ([, error, outcome, status]) => {
  const { change, event, permit, isLocked, logged, lines, services } = await ran(() =>
    Promise.reject(error()),
  );
  const { how } = outcome as { how: string };
  expect(change).toMatchObject({ state: how, outcome: { ...outcome, at: NOON } });
  expect(event?.kind).toBe(how);
  expect(permit).toMatchObject({ outcome: how, http_status: status });
  expect(isLocked).toBe(how === 'unknown');
  expect(logged).toEqual(['request did not succeed']);
  expect(lines).toMatchObject([{ change: change?.id, err: { message: error().message } }]);
  expect(services).toEqual([]);
});

test('a request that the server did not accept is handed back with its reason', async () => {
  const { change, event, permit, isLocked } = await ran(() =>
    Promise.reject(apiError({ effect: 'not-sent', kind: 'rate-limit', status: 429 })),
  );
  expect(change).toMatchObject({ state: 'approved', lease: null });
  expect(event).toMatchObject({
    kind: 'handed-back',
    body: { by: 'signalbox', text: 'The rate limit of the server is reached.' },
  });
  expect(permit).toMatchObject({ outcome: 'not-sent', http_status: null });
  expect(isLocked).toBe(false);
});

test('nothing is sent while the checkpoint of the audit trail cannot be written', async () => {
  const trail = {
    problem: async () => null,
    verifyAll: async () => undefined,
    follow: async () => undefined,
    isRevertPlanned: () => false,
    writeCheckpoint: () => Promise.reject(new Error('disk full')),
  };
  const attempts = { count: 0 };
  const send = async () => {
    attempts.count += 1;
    return SENT;
  };
  const { change, event, logged, lines, clock } = await ran(send, { context: { trail } });
  expect(attempts.count).toBe(0);
  expect(change?.state).toBe('approved');
  expect(change?.notBefore?.getTime()).toBe(clock.now.getTime() + 10_000);
  expect(event?.body.text).toBe('The audit trail checkpoint could not be written.');
  expect(logged).toEqual(['audit trail checkpoint could not be written; nothing is sent']);
  expect(lines).toMatchObject([{ err: { message: 'disk full' } }]);
});

test('a claim that became too old is handed back with this reason', async () => {
  const clock = { now: NOON };
  const trail = {
    problem: async () => null,
    verifyAll: async () => undefined,
    follow: async () => undefined,
    isRevertPlanned: () => false,
    writeCheckpoint: async () => {
      clock.now = new Date(NOON.getTime() + 30_000);
    },
  };
  const { event, permit } = await ran(async () => SENT, {
    context: { trail, now: () => clock.now },
  });
  expect(event?.body.text).toBe('The claim was too old.');
  expect(permit.outcome).toBe('not-sent');
});

test('a command that this release lacks is handed back', async () => {
  const { run, current, events } = await storedChange({
    change: { command: 'service upgrade' },
    context: { commands: new Map(), policy: policyOf([{ ...RULE, allow: ['*'] }]) },
  });
  await run();
  expect((await current())?.state).toBe('approved');
  expect((await events()).at(-1)?.body.text).toBe('This release has no command service upgrade.');
});

test('a fresh read that shows the requested state makes an unknown outcome a success', async () => {
  const { change, event, isLocked, services } = await ran(() => Promise.reject(apiError({})), {
    verifyOutcome: async () => SENT,
  });
  expect(change).toMatchObject({
    state: 'succeeded',
    outcome: { how: 'succeeded', at: NOON, requestId: 'r-7', reported: ['running'] },
  });
  expect(event?.kind).toBe('succeeded');
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
  expect(change?.state).toBe('unknown');
  expect(logged).toEqual(['request did not succeed', ...warnings]);
  expect(lines.every((line) => line.change === change?.id && line.err)).toBe(true);
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
    expect(change?.state).toBe(effect === 'refused' ? 'failed' : 'approved');
  },
);
