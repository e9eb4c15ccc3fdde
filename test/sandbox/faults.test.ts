import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { Wait } from '../../sandbox/api/simulator.ts';
import { FAULT_CHOICES } from '../../sandbox/faults/injector.ts';
import { type Answer, cloudServer, serviceId } from './servers.ts';

const STAGING = serviceId('staging');
const STATE = `/services/${STAGING}/state`;

/** Stops a service under the fault; tells the answer, or the error, and whether it took effect. */
async function stopUnder(fault: string) {
  const waits: number[] = [];
  const wait: Wait = async (ms) => waits.push(ms);
  const { ask, cloud } = await cloudServer({ wait });
  cloud.injectFault({ operation: 'set state', fault, times: 1 });
  const stopping = ask('PATCH', STATE, { command: 'stop' });
  const answer = await stopping.catch((error: NodeJS.ErrnoException) => error.code ?? '');
  return { answer, waits, effects: cloud.effectCount('set state', STAGING), cloud, ask };
}

const DELAYS: readonly [string, number][] = [
  ['delay-2s', 2_000],
  ['delay-20s', 20_000],
  ['delay-45s', 45_000],
  ['late-effect-45s', 45_000],
];

test.for(DELAYS)('the fault %s replies after %i ms', async ([fault, ms]) => {
  const { answer, waits, effects } = await stopUnder(fault);
  expect(answer).toMatchObject({ status: 200 });
  expect([waits, effects]).toEqual([[ms], 1]);
});

test.for([
  ['delay-45s', 1],
  ['late-effect-45s', 0],
] as const)('during the delay of %s there are %i effects', async ([fault, effects]) => {
  const passed = Promise.withResolvers<void>();
  const began = Promise.withResolvers<void>();
  const { ask, cloud } = await cloudServer({
    wait: () => {
      began.resolve();
      return passed.promise;
    },
  });
  cloud.injectFault({ operation: 'set state', fault, times: 1 });
  const answer = ask('PATCH', STATE, { command: 'stop' });
  await began.promise;
  expect(cloud.effectCount('set state')).toBe(effects);
  expect(cloud.requests()).toMatchObject([{ status: null }]);
  passed.resolve();
  expect((await answer).status).toBe(200);
  expect(cloud.effectCount('set state')).toBe(1);
});

type Look = (answer: Answer) => void;
const is = (status: number, type: string, text: string | RegExp): Look => {
  return (answer) => {
    expect(answer.status).toBe(status);
    expect(answer.headers['content-type'] ?? '').toContain(type);
    expect(answer.text).toMatch(text);
  };
};
const limited = (header: string, value: string): Look => {
  return ({ status, headers }) => expect([status, headers[header]]).toEqual([429, value]);
};

const ANSWERS: readonly [string, number, Look][] = [
  ['401', 0, is(401, 'json', '"UNAUTHORIZED: Key is not found"')],
  ['403', 0, is(403, 'json', '"FORBIDDEN: ')],
  ['404-html', 0, is(404, 'html', '<pre>Cannot PATCH /v1/')],
  ['408', 0, is(408, 'json', '"REQUEST_TIMEOUT: ')],
  ['429', 0, (answer) => expect(answer.headers).not.toHaveProperty('retry-after')],
  ['429-x-ratelimit-reset', 0, limited('x-ratelimit-reset', '2.5')],
  ['429-ratelimit-reset', 0, limited('ratelimit-reset', '3')],
  ['429-retry-after', 0, limited('retry-after', '2')],
  ['429-retry-after-date', 0, limited('retry-after', 'Fri, 31 Dec 1999 23:59:59 GMT')],
  ['429-html', 0, is(429, 'html', 'Too many requests')],
  ['500', 0, is(500, 'json', '"INTERNAL_SERVER_ERROR: ')],
  ['502', 0, is(502, 'plain', 'Bad Gateway')],
  ['503', 0, is(503, 'plain', 'Service Unavailable')],
  ['504', 0, is(504, 'html', 'Gateway Time-out')],
  ['500-after-effect', 1, is(500, 'json', '"INTERNAL_SERVER_ERROR: ')],
  ['502-after-effect', 1, is(502, 'plain', 'Bad Gateway')],
  ['504-after-effect', 1, is(504, 'html', 'Gateway Time-out')],
  ['307', 0, ({ status, headers }) => expect([status, headers.location]).toEqual([307, path()])],
  ['201', 1, is(201, 'json', '"stopping"')],
  ['html-200', 1, is(200, 'html', 'Welcome')],
  ['error-200', 0, is(200, 'json', '"BAD_REQUEST: ')],
  ['proxy-json', 1, is(200, 'json', /^\{"blocked":true\}$/)],
  ['empty-200', 1, is(200, '', /^$/)],
  ['empty-object', 1, is(200, 'json', /^\{\}$/)],
  ['null-result', 1, is(200, 'json', '"result":null')],
  ['truncated-json', 1, truncated],
  ['wrong-content-type', 1, is(200, 'html', '"stopping"')],
  ['bom', 1, is(200, 'json', /^\ufeff\{/)],
  ['gzip', 1, zipped],
  ['unknown-enum', 1, (answer) => expect(answer.json.result?.state).toBe('brand-new')],
  ['missing-field', 1, missing],
  ['extra-field', 1, (answer) => expect(answer.json.result?.addedLater).toBeDefined()],
  ['number-as-string', 1, (answer) => expect(answer.json.result?.numReplicas).toBe('2')],
  ['nulls', 1, (answer) => expect(answer.json.result).toMatchObject({ id: STAGING, name: null })],
  ['stale-state', 1, (answer) => expect(answer.json.result?.state).toBe('running')],
  ['no-state', 1, (answer) => expect(answer.json.result).not.toHaveProperty('state')],
  ['wrong-object', 1, (answer) => expect(answer.json.result?.id).not.toBe(STAGING)],
];

function path(): string {
  return `/v1/organizations/7d5e2c1a-8f0b-4c62-9a55-0b2f6f1f9f10${STATE}`;
}

function truncated({ status, text }: Answer): void {
  expect(status).toBe(200);
  expect(() => JSON.parse(text)).toThrow(SyntaxError);
}

function zipped({ headers, bytes }: Answer): void {
  expect(headers['content-encoding']).toBe('gzip');
  expect(JSON.parse(gunzipSync(bytes).toString()).result.state).toBe('stopping');
}

function missing({ json }: Answer): void {
  expect(json.result).toMatchObject({ id: STAGING });
  expect(json.result).not.toHaveProperty('name');
}

test.for(ANSWERS)('the fault %s has %i effects', async ([fault, effects, look]) => {
  const seen = await stopUnder(fault);
  if (typeof seen.answer === 'string') throw new Error(`no answer: ${seen.answer}`);
  look(seen.answer);
  expect(seen.effects).toBe(effects);
  expect(seen.cloud.requests()).toMatchObject([{ fault, status: seen.answer.status }]);
});

test('reply-differs takes effect as requested and replies with another value', async () => {
  const { ask, cloud } = await cloudServer();
  cloud.injectFault({ operation: 'scale', fault: 'reply-differs', times: 1 });
  const body = { maxReplicaMemoryGb: 64 };
  const { json } = await ask('PATCH', `/services/${STAGING}/replicaScaling`, body);
  expect(json.result?.maxReplicaMemoryGb).toBe(68);
  expect(cloud.service(STAGING)?.scaling.maxReplicaMemoryGb).toBe(64);
});

const COSTS: readonly [string, (result: Answer['json'][string]) => void][] = [
  ['costs-object', (result) => expect(result?.costs?.date).toBe('2026-11-10')],
  ['costs-null', (result) => expect(result?.costs).toBeNull()],
  ['costs-5000-rows', (result) => expect(result?.costs).toHaveLength(5_000)],
  ['costs-do-not-add-up', (result) => expect(Number(result?.grandTotalCredits)).toBeGreaterThan(0)],
];

test.for(COSTS)('%s', async ([fault, look]) => {
  const { ask, cloud } = await cloudServer();
  cloud.injectFault({ operation: 'usage cost', fault, times: 1 });
  const query = '/usageCost?from_date=2026-11-10&to_date=2026-11-10';
  const faulty = await ask('GET', query);
  look(faulty.json.result);
  const plain = await ask('GET', query);
  expect(faulty.json.result).not.toEqual(plain.json.result);
});

const READS: readonly [string, string, Look][] = [
  ['read-empty-list', '/services', is(200, 'json', '"result":[]')],
  ['read-wrong-shape', '/services', is(200, 'json', '"result":{"items":12}')],
  ['read-wrong-shape', `/services/${STAGING}`, is(200, 'json', '"result":[1,2,3]')],
];

test.for(READS)('the fault %s of a read of %s', async ([fault, path, look]) => {
  const { ask, cloud } = await cloudServer();
  const operation = path === '/services' ? 'list services' : 'get service';
  cloud.injectFault({ operation, fault, times: 1 });
  look(await ask('GET', path));
  expect((await ask('GET', path)).status).toBe(200);
});

test('a late effect does not happen after the server has stopped', async () => {
  const began = Promise.withResolvers<AbortSignal>();
  const wait: Wait = (_ms, signal) => {
    began.resolve(signal);
    return new Promise((_, reject) => signal.addEventListener('abort', reject));
  };
  const { ask, cloud } = await cloudServer({ wait });
  cloud.injectFault({ operation: 'set state', fault: 'late-effect-45s', times: 1 });
  const broken = expect(ask('PATCH', STATE, { command: 'stop' })).rejects.toThrow();
  const signal = await began.promise;
  await cloud.stop();
  await broken;
  expect(signal.aborted).toBe(true);
  expect(cloud.effects()).toEqual([]);
});

test('a real delay takes time and ends when the server stops', async () => {
  const { ask, cloud } = await cloudServer();
  const arrived = Promise.withResolvers<void>();
  cloud.injectFault({ operation: 'set state', fault: 'late-effect-45s', times: 1 });
  const broken = expect(ask('PATCH', STATE, { command: 'stop' })).rejects.toThrow();
  cloud.onRequest(() => arrived.resolve());
  await arrived.promise;
  await cloud.stop();
  await broken;
  expect(cloud.requests()).toMatchObject([{ status: null }]);
});

test('every fault has a summary', () => {
  expect(FAULT_CHOICES.filter(({ summary }) => summary.length < 10)).toEqual([]);
});
