import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { CloudClient } from '../../src/servers/cloud.ts';
import {
  breakOff,
  cut,
  GATEWAY_PAGE,
  hangUp,
  json,
  type Respond,
  raw,
  serve,
} from '../base/loopback.ts';
import { cloudClient as client } from './clients.ts';
import {
  BACKUP,
  backup,
  envelope,
  ORGANIZATION,
  PIPE,
  REQUEST,
  SERVICE,
  settings,
  stopping,
} from './cloud-replies.ts';

const PERIOD = { from_date: '2026-11-01', to_date: '2026-11-30' };
const ROOT = `/v1/organizations/${ORGANIZATION}`;
const AT_SERVICE = `${ROOT}/services/${SERVICE}`;
const TYPE = { type: 'VPC_ENDPOINT_SERVICE' } as const;

type Use = (cloud: CloudClient) => Promise<unknown>;
const create: Use = (cloud) => cloud.createService({ name: 'analytics eu' });
const stop: Use = (cloud) => cloud.updateServiceState(SERVICE, { command: 'stop' });
const scale: Use = (cloud) => cloud.updateReplicaScaling(SERVICE, { numReplicas: 3 });
const connect: Use = (cloud) => cloud.createReversePrivateEndpoint(SERVICE, TYPE);
const readCosts: Use = (cloud) => cloud.getUsageCost(PERIOD);
const readSettings: Use = (cloud) => cloud.getPipeSettings(SERVICE, PIPE);
const readBackup: Use = (cloud) => cloud.getBackup(SERVICE, BACKUP);

const WRITES = Object.entries<Use>({
  ...{ createService: create, createReversePrivateEndpoint: connect },
  ...{ updateReplicaScaling: scale, updateServiceState: stop },
});
const READS: [string, Use][] = [
  ['getUsageCost', readCosts],
  ['getPipeSettings', readSettings],
  ['getBackup', readBackup],
];

/** Each write with each of these answers. */
const eachWrite = (answers: readonly [string, Respond][]) =>
  WRITES.flatMap(([name, use]) =>
    answers.map(([what, answer]) => [name, what, use, answer] as const),
  );

describe('each operation has its method, path and body', () => {
  test.for<[string, Use, string, string, unknown]>([
    ['createService', create, 'POST', `${ROOT}/services`, { name: 'analytics eu' }],
    ['an endpoint', connect, 'POST', `${AT_SERVICE}/pipesReversePrivateEndpoints`, TYPE],
    ['updateReplicaScaling', scale, 'PATCH', `${AT_SERVICE}/replicaScaling`, { numReplicas: 3 }],
    ['updateServiceState', stop, 'PATCH', `${AT_SERVICE}/state`, { command: 'stop' }],
    ['getUsageCost', readCosts, 'GET', `${ROOT}/usageCost`, undefined],
    ['getPipeSettings', readSettings, 'GET', `${AT_SERVICE}/pipes/${PIPE}/settings`, undefined],
    ['getBackup', readBackup, 'GET', `${AT_SERVICE}/backups/${BACKUP}`, undefined],
  ])('%s', async ([, use, method, path, body]) => {
    const server = await serve(json(200, envelope({})));
    await use(client(server.url));
    expect(server.received).toMatchObject([{ method, path, body }]);
    const basic = Buffer.from('key-id:canary-secret').toString('base64');
    expect(server.received[0]?.headers.authorization).toBe(`Basic ${basic}`);
  });

  test.each(['', '/', '/v1', '/v1/'])('with a base address that ends in "%s"', async (ending) => {
    const server = await serve(json(200, envelope({})));
    await stop(client(server.url + ending));
    expect(server.received[0]?.path).toBe(`${AT_SERVICE}/state`);
  });

  test('only given fields are sent: no address list, no default', async () => {
    const server = await serve(json(200, envelope({})));
    await create(client(server.url));
    expect(server.received[0]?.text).toBe('{"name":"analytics eu"}');
  });
});

describe('a reply', () => {
  const { numReplicas: _, idleTimeoutMinutes: __, ...horizontal } = stopping;
  const noScaling = { numReplicas: null, idleTimeoutMinutes: null, scalingSchedule: null };
  const scaling = { effectiveMinReplicas: 5, effectiveMaxReplicas: null, activeEntryId: null };
  const holes = { privateEndpointIds: [null, 'vpce-1'], ipAccessList: [{ source: 'x' }, null] };

  test.for<[string, object, object]>([
    [
      'unknown fields',
      stopping,
      { numReplicas: 3, somethingNew: { of: 'tomorrow' }, byocId: null },
    ],
    ['an unknown state', { ...stopping, state: 'hibernating' }, { state: 'hibernating' }],
    ['no state', { ...stopping, state: undefined }, { state: null }],
    [
      'the effective scaling instead of replicas and timeout',
      { ...horizontal, minReplicas: 2, currentScaling: { effectiveMinReplicas: 5 } },
      { ...noScaling, currentScaling: scaling },
    ],
    [
      'numbers as strings, nulls and values of another type',
      { id: null, numReplicas: '3', idleScaling: 'yes', endpoints: 'none', state: 7 },
      { id: null, numReplicas: 3, idleScaling: null, endpoints: null, state: null },
    ],
    [
      'empty places in its lists',
      { ...stopping, ...holes },
      { privateEndpointIds: ['vpce-1'], ipAccessList: [{ source: 'x' }] },
    ],
  ])('may have %s', async ([, service, result]) => {
    const server = await serve(json(200, envelope(service)));
    const reply = await stop(client(server.url));
    expect(reply).toMatchObject({ status: 200, requestId: REQUEST, tookMs: 0, result });
  });

  test('may be a 201 without status and request id', async () => {
    const server = await serve(json(201, { result: stopping }));
    const reply = await stop(client(server.url));
    expect(reply).toMatchObject({ status: 201, requestId: null, result: { state: 'stopping' } });
  });

  test('contains pipe settings with nulls and unknown names', async () => {
    const server = await serve(json(200, envelope(settings)));
    const { result } = await client(server.url).getPipeSettings(SERVICE, PIPE);
    expect(result).toMatchObject({
      object_storage_max_insert_bytes: 53_687_091_200,
      engine_max_threads: null,
      kafka_read_committed: false,
    });
    // Only null is “not set”.
    expect(result.engine_max_insert_threads).toBeUndefined();
  });

  test.for<[string, object]>([
    ['one cloud', { bucketPath: 's3://b', iamRoleArn: 'arn:x', iamRoleSessionName: 's' }],
    ['another cloud', { bucketPath: 'gs://b', accessKeyId: 'k' }],
    ['a third cloud', { containerName: 'c' }],
  ])('contains a backup in a bucket of %s', async ([, bucket]) => {
    const server = await serve(json(200, envelope({ ...backup, bucket })));
    const { result } = await client(server.url).getBackup(SERVICE, BACKUP);
    expect(result).toMatchObject({ bucket, sizeInBytes: 412_316_860_416 });
  });

  test('contains an endpoint that is not ready and has no names yet', async () => {
    const made = { id: 'e', type: 'NEW_KIND', status: 'PendingAcceptance', dnsNames: null };
    const server = await serve(json(200, envelope(made)));
    const reply = await connect(client(server.url));
    expect(reply).toMatchObject({ result: { ...made, endpointId: null } });
  });
});

describe('the password of a new service', () => {
  test('is a Secret, and unknown fields next to it are dropped', async () => {
    const made = { service: stopping, password: 'canary-password', credentials: 'canary-too' };
    const server = await serve(json(200, envelope(made)));
    const reply = await client(server.url).createService({ name: 'analytics eu' });
    expect(reply.result?.password?.reveal()).toBe('canary-password');
    expect(inspect(reply, { depth: 9 }) + JSON.stringify(reply)).not.toContain('canary');
  });

  test.each([undefined, null, '', 5])(
    'may be missing (%j), and the service still counts',
    async (password) => {
      const server = await serve(json(200, envelope({ service: stopping, password })));
      const { result } = await client(server.url).createService({ name: 'analytics eu' });
      expect(result).toMatchObject({ password: null, service: { id: SERVICE } });
    },
  );

  test('is kept when the service next to it is unreadable', async () => {
    const server = await serve(json(200, envelope({ service: 'soon', password: 'canary' })));
    const { result } = await client(server.url).createService({ name: 'analytics eu' });
    expect(result?.service).toBeNull();
    expect(result?.password?.reveal()).toBe('canary');
  });
});

const BARE: [string, Respond][] = [
  ['an empty object', json(200, {})],
  ['a null result', json(200, { status: 200, requestId: REQUEST, result: null })],
  ['nothing at all', raw(200, '')],
  ['half an object', raw(200, '{"status":200,"result":{"id"')],
  ['a result of another kind', json(200, { result: 'ok' })],
];

describe('a success without details', () => {
  test.for(eachWrite(BARE))('%s is accepted with %s', async ([, , use, answer]) => {
    const server = await serve(answer);
    expect(await use(client(server.url))).toMatchObject({ status: 200, result: null });
    expect(server.received).toHaveLength(1);
  });

  const json200 = JSON.stringify(envelope(stopping));
  const parts: [string, Respond][] = [
    ['in its first object', breakOff],
    ['before its first byte', cut('application/json', '')],
    ['in an archive', cut('application/json', gzipSync(json200).subarray(0, 60))],
  ];
  test.for(eachWrite(parts))('%s is accepted when the reply breaks off %s', async (attempt) => {
    const [, , use, answer] = attempt;
    const server = await serve(answer);
    expect(await use(client(server.url))).toMatchObject({ status: 200, result: null });
  });

  const unreadable = [...BARE, ['a page', raw(200, GATEWAY_PAGE)] as [string, Respond]];
  const kinds = [0, 1, 2].map(() => 'empty-reply');
  kinds.push('unreadable-reply', 'unreadable-reply', 'foreign-answer');

  test.for(
    READS.flatMap(([name, use]) =>
      unreadable.map(([what, answer], at) => [name, what, use, answer, kinds[at]] as const),
    ),
  )('%s rejects %s as an answer', async ([, , use, answer, kind]) => {
    const server = await serve(answer);
    await expect(use(client(server.url))).rejects.toMatchObject({ kind, status: 200 });
  });
});

describe('an answer of something between Signalbox and the API', () => {
  const pages: [string, Respond][] = [
    ['a page that asks for a sign-in', raw(200, GATEWAY_PAGE)],
    ['a text', raw(200, 'Request blocked by administrator')],
    ['a list', json(200, [{ password: 'canary' }])],
    ['words that begin as a list does', raw(200, '[proxy] Request blocked by administrator')],
    ['words in quotes', raw(200, '"Request blocked" by administrator')],
    ['an object', json(200, { blocked: true, reason: 'administrator' })],
    ['a problem', json(200, { title: 'Access denied' })],
    ['half an object', raw(200, '{"blocked":true,"reason":"adm')],
    ['half an error', raw(200, '{"status":403,"error":"Forbidden","requ')],
    ['half an error behind an id', raw(200, '{"requestId":"r","error":"FORBID')],
    ['half a page', cut('text/html', GATEWAY_PAGE.slice(0, 30))],
    ['half an archive of a page', cut('text/html', gzipSync(GATEWAY_PAGE).subarray(0, 30))],
    ['the head of a page', cut('text/html', '')],
    ['a broken archive', raw(200, Buffer.from([0x1f, 0x8b, 0, 1]))],
    ['a page that forbids', raw(403, GATEWAY_PAGE)],
    ['a text that forbids', raw(403, 'Request blocked by administrator')],
  ];

  test.for(eachWrite(pages))('leaves the outcome of %s unknown: %s', async ([, , use, answer]) => {
    const server = await serve(answer);
    await expect(use(client(server.url))).rejects.toMatchObject({ effect: 'unknown' });
    expect(server.received).toHaveLength(1);
  });
});

describe('a reply about another resource', () => {
  const other = { ...stopping, id: ORGANIZATION, serviceId: ORGANIZATION };

  test.for(WRITES.slice(1))('leaves the outcome of %s unknown', async ([, use]) => {
    const server = await serve(json(200, envelope(other)));
    const unknown = { kind: 'other-object', effect: 'unknown', status: 200 };
    await expect(use(client(server.url))).rejects.toMatchObject(unknown);
  });

  test('is an error for a backup', async () => {
    const server = await serve(json(200, envelope({ ...backup, id: SERVICE })));
    const error = { kind: 'other-object' };
    await expect(readBackup(client(server.url))).rejects.toMatchObject(error);
  });

  test('is recognized regardless of upper and lower case', async () => {
    const server = await serve(json(200, envelope({ ...stopping, id: SERVICE.toUpperCase() })));
    expect(await stop(client(server.url))).toMatchObject({ result: { state: 'stopping' } });
  });
});

describe('an error', () => {
  const unknowns: [string, Respond][] = [
    ['the connection is lost', hangUp],
    ['a gateway gives up', raw(504, GATEWAY_PAGE)],
    ['the server fails', json(500, { status: 500, error: 'INTERNAL_ERROR' })],
    ['the gateway is broken', raw(502, 'Bad gateway')],
  ];

  test.for(eachWrite(unknowns))('%s is not sent twice when %s', async (attempt) => {
    const [operation, , use, answer] = attempt;
    const server = await serve(answer, json(200, envelope(stopping)));
    await expect(use(client(server.url))).rejects.toMatchObject({ operation, effect: 'unknown' });
    expect(server.received).toHaveLength(1);
  });

  const error = (status: number, text: string, more: object = {}) =>
    json(status, { status, error: text, ...more });
  const badId = 'BAD_REQUEST: Invalid service id <string:not-a-uuid>';
  const idle = 'FAILED_DEPENDENCY: Current state: idle';
  const fullUntil = { 'x-ratelimit-reset': '4.2' };

  test.for<[string, Respond, object]>([
    [
      'an id that is not one',
      error(400, badId, { requestId: REQUEST }),
      { effect: 'refused', serverText: badId, requestId: REQUEST },
    ],
    [
      'a key that is not known, without a request id',
      error(401, 'UNAUTHORIZED: Key is not found'),
      { effect: 'refused', serverText: 'UNAUTHORIZED: Key is not found', requestId: null },
    ],
    [
      'a key that may not do this',
      error(403, 'Forbidden: read only'),
      { effect: 'refused', serverText: 'Forbidden: read only' },
    ],
    ['a service that is not running', error(424, idle), { effect: 'refused', serverText: idle }],
    [
      'a conflict, after which the effect is unknown',
      error(409, "CONFLICT: Current state: 'stopping'"),
      { effect: 'unknown', status: 409, serverText: "CONFLICT: Current state: 'stopping'" },
    ],
    [
      'a wrong base address',
      raw(404, '<html>Not Found</html>', { 'content-type': 'text/html' }),
      { kind: 'wrong-address', serverText: null },
    ],
    ['a full window', json(429, {}, fullUntil), { effect: 'not-sent', retryAfterMs: 5200 }],
    ['a full window that says nothing', raw(429, ''), { retryAfterMs: 10_000 }],
  ])('describes %s', async ([, answer, expected]) => {
    const server = await serve(answer);
    await expect(stop(client(server.url))).rejects.toMatchObject(expected);
  });

  test('does not contain the key, even when the server quotes it', async () => {
    const encoded = Buffer.from('key-id:canary-secret').toString('base64');
    const error = `BAD_REQUEST: saw Basic ${encoded} and canary-secret`;
    const server = await serve(json(400, { error }));
    const refused = { serverText: 'BAD_REQUEST: saw Basic [secret] and [secret]' };
    await expect(stop(client(server.url))).rejects.toMatchObject(refused);
  });

  test('in a 2xx does not contain the key', async () => {
    const server = await serve(json(200, { error: 'BAD_REQUEST: saw canary-secret' }));
    const refused = { kind: 'contradiction', serverText: 'BAD_REQUEST: saw [secret]' };
    await expect(stop(client(server.url))).rejects.toMatchObject(refused);
  });
});

describe('nothing is sent', () => {
  test.for<[string, Use, string]>([
    ['a service id leads elsewhere', (c) => c.getBackup('../x', BACKUP), 'serviceId'],
    ['a pipe id leads elsewhere', (c) => c.getPipeSettings(SERVICE, 'a/b'), 'pipeId'],
    ['a backup id is empty', (c) => c.getBackup(SERVICE, ''), 'backupId'],
    ['a scale changes nothing', (c) => c.updateReplicaScaling(SERVICE, {}), 'request'],
    [
      'memory is above the free limit',
      (c) => c.updateReplicaScaling(SERVICE, { maxReplicaMemoryGb: 124 }),
      'maxReplicaMemoryGb',
    ],
    [
      'an idle timeout has no scaling to zero',
      (c) => c.updateReplicaScaling(SERVICE, { idleScaling: false, idleTimeoutMinutes: 10 }),
      'idleTimeoutMinutes',
    ],
    [
      'the period is too long',
      (c) => c.getUsageCost({ from_date: '2026-10-01', to_date: '2026-11-01' }),
      'to_date',
    ],
  ])('when %s', async ([, use, field]) => {
    const server = await serve(json(200, envelope({})));
    const cloud = client(server.url, { organization: { plan: 'free' } });
    const refused = { name: 'InvalidRequest', problems: [{ field }] };
    await expect(use(cloud)).rejects.toMatchObject(refused);
    expect(server.received).toHaveLength(0);
  });

  test('an organization id with path characters is refused', () => {
    expect(() => client('http://127.0.0.1:1', { organizationId: '../x' })).toThrow(
      'organizationId must be',
    );
  });
});
