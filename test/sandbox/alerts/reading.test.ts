import { expect, test } from 'vitest';
import type { AlertsProfile } from '../../../sandbox/alerts/profiles.ts';
import { ALERTS, type AlertSeed } from '../../../sandbox/seed/alerts.ts';
import { ALERTS_TOKEN } from '../../../sandbox/seed/organization.ts';
import { alertsServer, type Reading } from '../servers.ts';

const RATE = '357fc488efc4a66bb2a8f81a';
const NAMELESS = 'c73d35b92fd596bbf7ff2ace';
const WAS_SILENCED = '82c055db838be224ebfd0e64';
const NO_CHANNEL = '0f67f70fcf8a1afd7deb33cb';
const FLAPPING = 'ea84733aafcb2f7276f5eddb';
const NULL_GROUP = 'c0f1a3fe1f28c282d2da8858';
const RANGE = '8ef29342507d91666304c181';

const keys = (data: Reading | undefined) => Object.keys(data ?? {});

test('the latest server returns the new field names', async () => {
  const { ask } = await alertsServer();
  const { json } = await ask('GET', `/${RATE}`);
  expect(json.data).toMatchObject({
    ...{ id: RATE, name: '5xx rate', source: 'saved_search', state: 'ALERT', groupBy: 'service' },
    ...{ teamId: expect.any(String), savedSearchId: expect.any(String), numConsecutiveWindows: 2 },
    silenced: { until: '2026-11-23T12:00:00.000Z' },
  });
  expect(json.data?.channels).toHaveLength(2);
  expect(json.data?.channel).toEqual(json.data?.channels?.[0]);
  expect(keys(json.data)).not.toContain('savedSearch');
});

test('the documented server returns the fields and values of the contract', async () => {
  const { ask } = await alertsServer({ profile: 'docs' });
  const { json } = await ask('GET', `/${RATE}`);
  expect(json.data).toMatchObject({ source: 'search', state: 'active', silenced: true });
  expect(keys(json.data).join(' ')).toBe(
    'id name message threshold interval thresholdType source state silenced channel team ' +
      'savedSearch groupBy createdAt updatedAt',
  );
});

test("the server of January returns the contract's names with its own values", async () => {
  const { ask, alerts } = await alertsServer({ profile: 'code-2026-01' });
  const { json } = await ask('GET', `/${RATE}`);
  expect(json.data).toMatchObject({ source: 'saved_search', state: 'ALERT' });
  expect(json.data?.silenced).toHaveProperty('_id');
  expect(keys(json.data)).toContain('savedSearch');
  expect(keys(json.data)).not.toContain('note');
  // The one of July has notes, and one channel.
  alerts.profile('code-2026-07');
  const july = keys((await ask('GET', `/${RATE}`)).json.data);
  expect([july.includes('note'), july.includes('channels')]).toEqual([true, false]);
});

const ENDED = expect.objectContaining({ until: '2026-11-20T10:30:00.000Z' });

test.for<[AlertsProfile, string, string, unknown]>([
  ['code', NAMELESS, 'name', null],
  ['docs', NAMELESS, 'name', undefined],
  ['docs', WAS_SILENCED, 'silenced', false],
  ['code', WAS_SILENCED, 'silenced', ENDED],
  ['code', NO_CHANNEL, 'channel', undefined],
  ['code', NO_CHANNEL, 'channels', undefined],
  ['docs', FLAPPING, 'state', 'FLAPPING'],
  ['code', NULL_GROUP, 'groupBy', undefined],
  ['code-2026-07', NULL_GROUP, 'groupBy', null],
  ['code', RANGE, 'thresholdMax', 900],
  ['docs', RANGE, 'thresholdMax', undefined],
])('the profile %s returns for alert %s the field %s', async ([profile, id, field, value]) => {
  const { ask } = await alertsServer({ profile });
  const { json } = await ask('GET', `/${id}`);
  expect(json.data?.[field]).toEqual(value);
});

test('a silence ends at its time', async () => {
  const { ask, clock } = await alertsServer({ profile: 'docs' });
  clock.advance(241 * 60_000);
  expect((await ask('GET', `/${NULL_GROUP}`)).json.data?.silenced).toBe(false);
});

const awkward: readonly [string, (alert: AlertSeed) => boolean][] = [
  ['an unknown threshold type', ({ thresholdType }) => thresholdType === 'deviates_by'],
  ['an unknown channel', ({ channels }) => channels[0]?.type === 'pager'],
  ['a name that mentions everyone', ({ name }) => /<!channel>.*&/.test(name ?? '')],
];

test.for(awkward)('the seed has an alert with %s', ([, has]) => {
  expect(ALERTS.some(has)).toBe(true);
});

test('fourteen alerts are returned in the order of their ids, with the total', async () => {
  const { ask } = await alertsServer();
  const { json, headers } = await ask('GET', '');
  expect(json.meta).toEqual({ total: 14, limit: 1_000, offset: 0 });
  expect(headers['x-total-count']).toBe('14');
  // The contract's list: an array of alerts.
  const ids = (json.data as unknown as { id: string }[]).map(({ id }) => id);
  expect(ids).toEqual(ALERTS.map(({ id }) => id).toSorted());
});

test.for<[AlertsProfile]>([['docs'], ['code-2026-01']])(
  '%s ignores pages and sends everything again',
  async ([profile]) => {
    const { ask, alerts } = await alertsServer({ profile });
    alerts.addAlerts(1_000);
    const { json } = await ask('GET', '?limit=10&offset=1000');
    expect(json.data).toHaveLength(1_014);
    expect(json).not.toHaveProperty('meta');
  },
);

test.for([
  ['limit=1001', 'limit: Number must be less than or equal to 1000'],
  ['limit=0', 'limit: Number must be greater than or equal to 1'],
  ['limit=all', 'limit: Expected number, received nan'],
  ['offset=-1', 'offset: Number must be greater than or equal to 0'],
])('a list with %s is refused', async ([query, text]) => {
  const { ask } = await alertsServer();
  const { status, json } = await ask('GET', `?${query}`);
  expect([status, json.message]).toEqual([400, `Query validation failed: ${text}`]);
});

test.for<[AlertsProfile, string, number, string]>([
  ['code', 'abc', 400, '{"message":"Params validation failed: id: Invalid ObjectId"}'],
  ['code', 'twelve-chars', 404, '{"message":"Alert not found"}'],
  ['code', '000000000000000000000000', 404, '{"message":"Alert not found"}'],
  ['docs', 'abc', 404, 'Not Found'],
  ['code-2026-01', '000000000000000000000000', 404, 'Not Found'],
])('the profile %s replies to the alert id “%s” with %i', async ([profile, id, status, text]) => {
  const { ask } = await alertsServer({ profile });
  const answer = await ask('GET', `/${id}`);
  expect([answer.status, answer.text]).toEqual([status, text]);
});

test('the server of January returns its issues in an array', async () => {
  const { ask } = await alertsServer({ profile: 'code-2026-01' });
  const { json } = await ask('GET', '/abc');
  const issues = [{ path: ['id'], message: 'Invalid ObjectId' }];
  expect(json).toEqual([{ type: 'Params', errors: { issues } }]);
});

test.for([
  ['no token', ''],
  ['another token', 'Bearer other'],
  ['a scheme in lower case', `bearer ${ALERTS_TOKEN}`],
])('%s is refused in plain text', async ([, authorization = '']) => {
  const { ask } = await alertsServer();
  const { status, text, headers } = await ask('GET', '', undefined, { authorization });
  expect([status, text]).toEqual([401, 'Unauthorized']);
  expect(headers['content-type']).toContain('text/plain');
});

test('the tokens of a person without a team and of a removed person are refused', async () => {
  const { ask, alerts } = await alertsServer();
  alerts.setToken(ALERTS_TOKEN, { hasTeam: false });
  const forbidden = await ask('GET', '');
  expect([forbidden.status, forbidden.json]).toEqual([403, { message: 'Forbidden' }]);
  alerts.removeToken(ALERTS_TOKEN);
  expect((await ask('GET', '')).status).toBe(401);
});

test('the rate limit applies before the token check and replies with HTML', async () => {
  const { ask, clock } = await alertsServer({ rateLimit: { requests: 2, perMs: 60_000 } });
  const unknownToken = { authorization: 'Bearer other' };
  await ask('GET', '', undefined, unknownToken);
  await ask('GET', '', undefined, unknownToken);
  const { status, headers, text } = await ask('GET', '', undefined, unknownToken);
  expect([status, headers['retry-after'], headers['ratelimit-limit']]).toEqual([429, '60', '2']);
  expect(headers['content-type']).toContain('text/html');
  expect(text).toContain('Too many requests, please try again later.');
  expect((await ask('GET', '')).status).toBe(200);
  clock.advance(60_000);
  expect((await ask('GET', '', undefined, unknownToken)).status).toBe(401);
});

test.for([
  ['POST', ''],
  ['DELETE', `/${RATE}`],
  ['GET', `/${RATE}/history`],
])('%s %s is not one of the three operations', async ([method = '', path = '']) => {
  const { ask } = await alertsServer();
  const { status, headers } = await ask(method, path);
  expect(status).toBe(404);
  expect(headers['content-type']).toContain('text/html');
});
