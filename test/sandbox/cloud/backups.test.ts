import { expect, test } from 'vitest';
import { cloudServer, serviceId } from '../servers.ts';

const FULL = '53837fde-9e4f-4c3d-b63e-8c949cf4822f';
const RUNNING = 'a562f066-16fd-4cd4-ab2c-8fc1f92d2fde';
const path = (service: string, backup: string) =>
  `/services/${serviceId(service)}/backups/${backup}`;

test('a backup in progress grows, has no end time, and then is done', async () => {
  const { ask, clock } = await cloudServer();
  const read = async () => (await ask('GET', path('analytics-prod', RUNNING))).json.result;
  const first = await read();
  expect(first).toMatchObject({ status: 'in_progress', durationInSeconds: 720.437 });
  expect(first).not.toHaveProperty('finishedAt');
  clock.advance(60_000);
  const second = await read();
  expect(second?.durationInSeconds).toBe(780.437);
  expect(Number(second?.sizeInBytes)).toBeGreaterThan(Number(first?.sizeInBytes));
  clock.advance(32 * 60_000);
  expect(await read()).toMatchObject({
    status: 'done',
    durationInSeconds: 2_700.437,
    finishedAt: '2026-11-20T12:33:00.000Z',
  });
});

const ROLE = {
  ...{ bucketProvider: 'AWS', bucketPath: 'company-backups/analytics-prod' },
  ...{ iamRoleArn: 'arn:example:role/backups', iamRoleSessionName: 'backups' },
};
const KEY = {
  ...{ bucketProvider: 'GCP', bucketPath: 'company-backups/reporting' },
  accessKeyId: 'EXAMPLE-ACCESS-KEY-ID',
};
const CONTAINER = { bucketProvider: 'AZURE', containerName: 'company-backups' };

test.for<[string, string, string, unknown]>([
  ['a path and a role', 'analytics-prod', FULL, ROLE],
  ['a path and a key', 'reporting-core', '226ca770-b6ad-4efb-b0a6-3e704a59a649', KEY],
  ['a container', 'lab-core', 'bc084d52-9d01-4bf4-88e9-0bed3b7ff7d7', CONTAINER],
  ['no bucket of its own', 'analytics-prod', 'c6a20eb7-42fe-4995-b901-d32fb4f1fa9e', undefined],
])('the reply of a backup with %s', async ([, service, id, bucket]) => {
  const { ask } = await cloudServer();
  const { status, json } = await ask('GET', path(service, id));
  expect(status).toBe(200);
  expect(json.result).toMatchObject({ id, serviceId: serviceId(service), status: 'done' });
  expect(json.result?.bucket).toEqual(bucket);
});

test('a backup of the contract has no status, no type, and one format of bucket', async () => {
  const { ask } = await cloudServer({ profile: 'contract' });
  const { json } = await ask('GET', path('analytics-prod', FULL));
  expect(json.result).not.toHaveProperty('status');
  expect(json.result).not.toHaveProperty('type');
  expect(Object.keys(json.result?.bucket ?? {})).toEqual([
    'bucketPath',
    'iamRoleArn',
    'iamRoleSessionName',
  ]);
});

test.for<[string, string, string, number]>([
  ['an expired backup', 'analytics-prod', '52fbfd64-6063-4304-8ab1-e62736ca833c', 404],
  ['a backup asked of a secondary', 'staging', 'bc084d52-9d01-4bf4-88e9-0bed3b7ff7d7', 404],
  ["another service's backup", 'reporting-core', FULL, 404],
  ['an id that is no uuid', 'analytics-prod', 'yesterday', 400],
])('%s is not found', async ([, service, id, status]) => {
  const { ask } = await cloudServer();
  expect((await ask('GET', path(service, id))).status).toBe(status);
});
