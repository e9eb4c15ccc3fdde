import { describe, expect, test } from 'vitest';
import { WEBHOOKS } from '../../sandbox/seed/alert-references.ts';
import { CLOUD_KEY, ORGANIZATION } from '../../sandbox/seed/organization.ts';
import type { OptionalRead, ReadOptions } from '../../src/servers/optional-reads.ts';
import { openReadingClients, type ReadingClients, serviceId } from './reading-clients.ts';

const STAGING = serviceId('staging');
const PROD = serviceId('analytics-prod');
const BUSY = serviceId('bi-readonly');
const DAYS = { from_date: '2026-11-14', to_date: '2026-11-20' };
const ENDPOINT = '00000000-0000-4000-8000-00000000abcd';

type Reads = ReadingClients['reads'];
type Read = (reads: Reads, how?: ReadOptions) => Promise<OptionalRead<unknown>>;

interface Case {
  /** The simulator's name of the request. */
  readonly operation: string;
  readonly api: 'cloud' | 'alerts';
  readonly read: Read;
  /** Whether a refusal or a missing object concerns one service only. */
  readonly isOfService: boolean;
}

type ReadOf<Api extends 'cloud' | 'alerts'> = (
  reads: Reads[Api],
  how?: ReadOptions,
) => Promise<OptionalRead<unknown>>;

const ofCloud = (operation: string, read: ReadOf<'cloud'>, isOfService = false): Case => ({
  ...{ api: 'cloud', operation, isOfService },
  read: ({ cloud }, how) => read(cloud, how),
});
const ofService = (operation: string, read: ReadOf<'cloud'>) => ofCloud(operation, read, true);
const ofAlerts = (operation: string, read: ReadOf<'alerts'>): Case => ({
  ...{ api: 'alerts', operation, isOfService: false },
  read: ({ alerts }, how) => read(alerts, how),
});

/** Every optional read of the client. */
const READS: Readonly<Record<string, Case>> = {
  services: ofCloud('list services', (reads, how) => reads.services(how)),
  service: ofService('get service', (reads, how) => reads.service(STAGING, how)),
  schedule: ofService('scaling schedule', (reads, how) => reads.schedule(BUSY, how)),
  backups: ofService('list backups', (reads, how) => reads.backups(PROD, how)),
  pipes: ofService('list pipes', (reads, how) => reads.pipes(PROD, how)),
  endpoints: ofService('list endpoints', (reads, how) => reads.endpoints(PROD, how)),
  activities: ofCloud('list activities', (reads, how) => reads.activities(DAYS, how)),
  key: ofCloud('get key', (reads, how) => reads.key(how)),
  organizations: ofCloud('list organizations', (reads, how) => reads.organizations(how)),
  webhooks: ofAlerts('list webhooks', (reads, how) => reads.webhooks(how)),
  savedSearches: ofAlerts('list saved searches', (reads, how) => reads.savedSearches(how)),
  dashboards: ofAlerts('list dashboards', (reads, how) => reads.dashboards(how)),
};
const NAMES = Object.keys(READS);
const caseOf = (name: string): Case => {
  const found = READS[name];
  if (!found) throw new Error(`no read ${name}`);
  return found;
};

async function valueIn<T>(read: Promise<OptionalRead<T>>): Promise<T> {
  const result = await read;
  if (!result.known) throw new Error(result.why);
  return result.value;
}

test('with cloud.reads: contract no read sends a request', async () => {
  const { reads, requests, off } = await openReadingClients('contract');
  for (const { read } of Object.values(READS)) {
    expect(await read(reads, { fresh: true, waiting: true })).toMatchObject({ gap: 'off' });
  }
  expect(await reads.cloud.endpoint(PROD, ENDPOINT)).toMatchObject({ gap: 'off' });
  expect([requests(), off]).toEqual([[], []]);
});

describe('a server without optional reads', () => {
  test.for(NAMES)('switches %s off after one request', async (name) => {
    const { cloud, alerts, reads, requests, off } = await openReadingClients();
    cloud.profile('contract');
    alerts.profile('docs');
    const { read } = caseOf(name);
    for (let time = 0; time < 3; time += 1) {
      const result = await read(reads, { fresh: true });
      const later = time === 0 ? '' : '; off until Signalbox starts again';
      const why = `the server does not have this read (404)${later}`;
      expect(result).toEqual({ known: false, gap: 'no-route', status: 404, why });
    }
    expect(requests()).toHaveLength(1);
    expect(off).toMatchObject([{ gap: 'no-route', status: 404 }]);
  });
});

test('a live server answers every read, each with the time at which it was read', async () => {
  const { reads, requests, off, time } = await openReadingClients();
  for (const { read } of Object.values(READS)) {
    time.pass(11_000);
    expect(await read(reads)).toMatchObject({ known: true, readAt: time.now() });
  }
  expect(requests().map(({ method }) => method)).toEqual(NAMES.map(() => 'GET'));
  expect(off).toEqual([]);
});

test('a service has its state, both sizes, its schedule and its tags', async () => {
  const { reads, cloud } = await openReadingClients();
  const scaling = { minReplicaMemoryGb: 16, maxReplicaMemoryGb: 96 };
  cloud.scaleInConsole(STAGING, scaling, 'Mara');
  const service = await valueIn(reads.cloud.service(STAGING));
  expect(service).toMatchObject({
    ...{ id: STAGING, name: 'staging', state: 'running', provider: 'aws', region: 'eu-west-1' },
    ...{ ...scaling, numReplicas: 2, idleScaling: true, idleTimeoutMinutes: 15 },
    baseline: { minMemoryGb: 16, maxMemoryGb: 96, isApproximate: false },
    currentScaling: {
      ...{ effectiveAutoscalingMode: 'vertical', effectiveMaxReplicas: 2 },
      ...{ effectiveMinReplicaMemoryGb: 8, effectiveMaxReplicaMemoryGb: 32 },
    },
    scalingSchedule: null,
    tags: [{ key: 'env', value: 'staging' }],
    ipAccessList: [{ source: '10.20.0.0/16', description: 'office' }],
  });
  const busy = await valueIn(reads.cloud.service(BUSY));
  expect(busy).toMatchObject({
    baseline: { maxMemoryGb: 32 },
    currentScaling: { effectiveMaxReplicaMemoryGb: 64 },
    scalingSchedule: { entries: [{ name: 'Business hours', isActiveNow: true, endHourUtc: 18 }] },
  });
  expect(busy.currentScaling?.activeEntryId).toBe(busy.scalingSchedule?.entries[0]?.id);
});

const VERTICAL = { minMemoryGb: 8, maxMemoryGb: 32 };
const RANGE = { effectiveAutoscalingMode: 'horizontal', effectiveMinReplicas: 2 };

test.for<[string, 2 | 3 | 4, string, object, unknown]>([
  ['the newest server', 4, 'ml-features', { minMemoryGb: 16 }, expect.objectContaining(RANGE)],
  ['one before ranges of replicas', 3, 'staging', VERTICAL, expect.anything()],
  ['one before applied values', 2, 'staging', { ...VERTICAL, isApproximate: false }, null],
])('the size on %s', async ([, serviceGeneration, name, baseline, currentScaling]) => {
  const { reads, cloud } = await openReadingClients();
  cloud.behave({ serviceGeneration });
  const service = await valueIn(reads.cloud.service(serviceId(name)));
  expect(service).toMatchObject({ baseline, currentScaling });
});

test('no credential or personal address leaves the client, and role and addresses only with one service', async () => {
  const { reads, cloud, time } = await openReadingClients();
  cloud.scaleInConsole(STAGING, { numReplicas: 3 }, 'Mara');
  time.pass(60_000);
  const values: OptionalRead<unknown>[] = [];
  for (const { read } of Object.values(READS)) {
    time.pass(11_000);
    values.push(await read(reads));
  }
  expect(values.map(({ known }) => known)).not.toContain(false);
  const text = JSON.stringify(values.filter((_, index) => NAMES[index] !== 'service'));
  const hidden = [
    ...['role-', '.db.example', '10.20.0.0', '203.0.113', 'hooks.example.com', 'secret-of'],
    ...['b-1.stream.example', 's3://', 'pg.example', 'company-backups', 'arn:', 'usr-'],
  ];
  expect(hidden.filter((part) => text.includes(part))).toEqual([]);
  const one = JSON.stringify(await reads.cloud.service(STAGING));
  const shown = [...hidden, '"default"'].filter((part) => one.includes(part));
  expect(shown).toEqual(['role-', '.db.example', '10.20.0.0', '"default"']);
});

test('lists have what a person chooses from', async () => {
  const { reads } = await openReadingClients();
  const activities = await valueIn(reads.cloud.activities(DAYS));
  expect(activities.map(({ type, actorType }) => [type, actorType])).toEqual([
    ['service_update_autoscaling_memory', 'user'],
    ['service_idle', 'system'],
    ['key_create', 'user'],
  ]);
  const webhooks = await valueIn(reads.alerts.webhooks());
  expect(webhooks.map(({ id, name }) => [id, name])).toEqual([
    [WEBHOOKS.paging, 'Paging'],
    [WEBHOOKS.operations, 'Production alerts'],
  ]);
  const boards = await valueIn(reads.alerts.dashboards());
  expect(boards.map(({ name, tiles }) => [name, tiles?.[0]?.name])).toEqual([
    ['Platform', 'Disk'],
    ['Checkout', 'Latency'],
  ]);
  const key = await valueIn(reads.cloud.key());
  expect(key).toMatchObject({ roles: ['Admin'], expireAt: null });
  expect(await valueIn(reads.cloud.organizations())).toEqual([ORGANIZATION.id]);
});

/** A write with the key of Signalbox. */
function write({ cloud }: ReadingClients, method: string, path: string, body: object) {
  const basic = Buffer.from(`${CLOUD_KEY.id}:${CLOUD_KEY.secret}`).toString('base64');
  const headers = { authorization: `Basic ${basic}`, 'content-type': 'application/json' };
  const url = `${cloud.url}/v1/organizations/${ORGANIZATION.id}/services/${path}`;
  return fetch(url, { method, headers, body: JSON.stringify(body) });
}

test('an entry of the audit log names requests with the own key', async () => {
  const clients = await openReadingClients();
  const { reads, time } = clients;
  await write(clients, 'PATCH', `${STAGING}/state`, { command: 'stop' });
  time.pass(30_000);
  const [first, second] = await valueIn(reads.cloud.activities(DAYS));
  expect([first?.type, first?.isOwnKey, first?.serviceId]).toEqual(['service_stop', true, STAGING]);
  expect(second?.isOwnKey).toBe(false);
});

test('a server that wants date-times in the audit log is asked once more, and then at once', async () => {
  const { reads, cloud } = await openReadingClients();
  cloud.behave({ activityDates: 'date-time' });
  for (let time = 0; time < 2; time += 1) {
    expect((await reads.cloud.activities(DAYS, { fresh: true })).known).toBe(true);
  }
  expect(cloud.requests().map(({ status }) => status)).toEqual([400, 200, 200]);
});

test('pages of a list end at the total, not at a short page', async () => {
  const { reads, alerts } = await openReadingClients();
  await reads.alerts.webhooks();
  expect(alerts.count('list webhooks')).toBe(1);
  const [page] = alerts.requests();
  expect(page?.reply).toMatchObject({ meta: { total: 3 } });
});

test('a service without a schedule has the value null', async () => {
  const { reads, off } = await openReadingClients();
  expect(await valueIn(reads.cloud.schedule(STAGING))).toBeNull();
  expect(off).toEqual([]);
});

test('an endpoint is followed until its owner has accepted it', async () => {
  const clients = await openReadingClients();
  const { reads, cloud, time } = clients;
  const body = { type: 'VPC_ENDPOINT_SERVICE', vpcEndpointServiceName: 'svc' };
  await write(clients, 'POST', `${PROD}/pipesReversePrivateEndpoints`, body);
  const id = String(cloud.endpoints()[0]?.id);
  const seen: (string | null)[] = [];
  for (let minute = 0; minute < 7; minute += 1) {
    seen.push((await valueIn(reads.cloud.endpoint(PROD, id))).status);
    time.pass(60_000);
  }
  expect([...new Set(seen)]).toEqual(['Provisioning', 'PendingAcceptance', 'Ready']);
  expect(await reads.cloud.endpoint(PROD, ENDPOINT)).toMatchObject({ gap: 'not-found' });
  expect((await valueIn(reads.cloud.endpoints(PROD))).map((one) => one.id)).toEqual([id]);
});

interface FaultCase {
  readonly fault: string;
  readonly gap: string;
  /** Whether the capability is switched off, for reads of a service and for all others. */
  readonly off: boolean | 'of all only';
  readonly why: RegExp;
}

const FAULTS: readonly FaultCase[] = [
  { fault: '403', gap: 'refused', off: 'of all only', why: /no permission to read it \(403\)/ },
  { fault: '404-html', gap: 'no-route', off: true, why: /does not have this read \(404\)/ },
  { fault: 'read-404', gap: 'not-found', off: 'of all only', why: /may not see it \(404\)/ },
  { fault: 'read-405', gap: 'no-route', off: true, why: /does not have this read \(405\)/ },
  { fault: '401', gap: 'key-rejected', off: false, why: /rejects the API key \(401\)/ },
  { fault: '429', gap: 'no-answer', off: false, why: /the rate limit of the server is reached/ },
  { fault: '503', gap: 'no-answer', off: false, why: /the server returned an error/ },
  { fault: 'reset', gap: 'no-answer', off: false, why: /the connection broke/ },
  { fault: 'delay-20s', gap: 'no-answer', off: false, why: /did not answer in time/ },
  { fault: 'read-wrong-shape', gap: 'unreadable', off: false, why: /is not readable/ },
  { fault: 'empty-object', gap: 'unreadable', off: false, why: /has no result/ },
  { fault: 'null-result', gap: 'unreadable', off: false, why: /has no result/ },
  { fault: 'html-200', gap: 'unreadable', off: false, why: /page of a proxy/ },
];

describe.for(FAULTS)('the fault $fault', ({ fault, gap, off: expected, why }) => {
  test.for(NAMES)('in %s', async (name) => {
    const { api, operation, read, isOfService } = caseOf(name);
    const clients = await openReadingClients();
    const { reads, off, time } = clients;
    clients[api].injectFault({ operation, fault, times: 9 });
    // The server finds no schedule where there is none: that is an answer.
    const isAnswer = name === 'schedule' && fault === 'read-404';
    const before = time.now().getTime();
    const result = await read(reads, { waiting: true });
    expect(time.now().getTime() - before).toBeLessThanOrEqual(20_000);
    if (isAnswer) return expect(result).toMatchObject({ known: true, value: null });
    expect(result).toMatchObject({ known: false, gap, why: expect.stringMatching(why) });
    const isOff = expected === 'of all only' ? !isOfService : expected;
    expect(off).toHaveLength(isOff ? 1 : 0);

    clients[api].clearFaults();
    time.pass(700_000);
    expect((await read(reads)).known).toBe(!isOff);
  });
});

test.for(NAMES.filter((name) => caseOf(name).api === 'cloud'))(
  'the fault read-424 in %s leaves the state of the service',
  async (name) => {
    const { operation, read } = caseOf(name);
    const { cloud, reads, off } = await openReadingClients();
    cloud.injectFault({ operation, fault: 'read-424', times: 1 });
    const why = expect.stringMatching(/does not run \(424\); its state is stopped$/);
    expect(await read(reads)).toMatchObject({ gap: 'not-running', why });
    expect((await read(reads)).known).toBe(true);
    expect(off).toEqual([]);
  },
);

test.for(NAMES)('%s survives replies with nulls, additions and missing fields', async (name) => {
  const { api, operation, read } = caseOf(name);
  const faults = ['nulls', 'extra-field', 'missing-field', 'number-as-string', 'unknown-enum'];
  for (const fault of faults) {
    const clients = await openReadingClients();
    clients[api].injectFault({ operation, fault, times: 1 });
    const result = await read(clients.reads);
    expect([fault, result.known]).toEqual([fault, true]);
  }
});

test('a reply about another service is not used', async () => {
  const { cloud, reads } = await openReadingClients();
  cloud.injectFault({ operation: 'get service', fault: 'wrong-object', times: 1 });
  expect(await reads.cloud.service(STAGING)).toMatchObject({ gap: 'unreadable' });
});

test('an id that no path may contain is not sent', async () => {
  const { reads, requests } = await openReadingClients();
  expect(await reads.cloud.service('../keys')).toMatchObject({ gap: 'not-found' });
  expect(await reads.cloud.endpoint(PROD, '..')).toMatchObject({ gap: 'not-found' });
  expect(requests()).toEqual([]);
});
