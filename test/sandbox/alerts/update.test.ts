import { expect, test } from 'vitest';
import type { AlertsProfile } from '../../../sandbox/alerts/profiles.ts';
import { alertsServer } from '../servers.ts';
import { IMPORT, LATENCY, NEEDED, RANGE, RATE, SEARCH, TILE } from './updates.ts';

const SERVERS: readonly AlertsProfile[] = ['code', 'code-2026-07', 'code-2026-01'];

test('each profile keeps or clears the stored fields that an update omits', async () => {
  const seen: string[] = [];
  for (const profile of SERVERS) {
    const { ask, alerts } = await alertsServer({ profile });
    await ask('PUT', `/${RATE}`, { ...NEEDED, ...SEARCH });
    await ask('PUT', `/${IMPORT}`, { ...NEEDED, ...TILE });
    await ask('PUT', `/${RANGE}`, { ...NEEDED, ...TILE });
    const [rate, converted] = [alerts.alert(RATE), alerts.alert(IMPORT)];
    expect([rate?.name, rate?.message, alerts.alert(RANGE)?.thresholdMax]).toEqual([
      null,
      null,
      900,
    ]);
    expect([rate?.state, Boolean(rate?.silenced)]).toEqual(['ALERT', true]);
    expect([converted?.executionErrors?.length, converted?.scheduleOffsetMinutes]).toEqual([1, 15]);
    const windows = `windows ${rate?.numConsecutiveWindows}, groups ${rate?.groupBy}`;
    const stale = `${rate?.channels.length} channels, stale search ${converted?.savedSearchId}`;
    seen.push(`${profile}: note ${rate?.note}, ${windows}, ${stale}`);
  }
  expect(seen.join('\n')).toMatchInlineSnapshot(`
    "code: note undefined, windows undefined, groups undefined, 1 channels, stale search undefined
    code-2026-07: note undefined, windows undefined, groups service, 2 channels, stale search a3109c8788cf6eef77971309
    code-2026-01: note Agreed with support: page only above this., windows 2, groups service, 2 channels, stale search a3109c8788cf6eef77971309"
  `);
});

test.for(SERVERS)('%s: an update with the values of the reply changes nothing', async (profile) => {
  const { ask, alerts } = await alertsServer({ profile });
  for (const id of [RATE, LATENCY, IMPORT]) {
    const before = alerts.alert(id);
    const { json } = await ask('GET', `/${id}`);
    const { dashboard, savedSearch, ...read } = json.data ?? {};
    const carried = Object.entries({ dashboardId: dashboard, savedSearchId: savedSearch, ...read });
    const body = Object.fromEntries(carried.filter(([, value]) => value !== null));
    const { status } = await ask('PUT', `/${id}`, { ...body, threshold: 7 });
    if (profile === 'code-2026-01' && id === IMPORT) {
      // Its type did not exist yet; a server takes back what it returned all the same.
      expect(before?.thresholdType).toBe('below_or_equal');
    }
    expect(status).toBe(200);
    const after = { ...alerts.alert(id), updatedAt: before?.updatedAt };
    expect(after).toEqual({ ...before, threshold: 7 });
  }
});

test('an update increases updatedAt even while the clock stands', async () => {
  const { ask, alerts } = await alertsServer();
  const put = async () => (await ask('PUT', `/${LATENCY}`, { ...NEEDED, ...TILE })).json.data;
  const first = await put();
  const second = await put();
  expect(first?.updatedAt).toBe('2026-11-20T12:00:00.000Z');
  expect(second?.updatedAt).toBe('2026-11-20T12:00:00.001Z');
  expect(alerts.effectCount('update alert', LATENCY)).toBe(2);
});

test('an update with a tile converts an alert of a saved search', async () => {
  const { ask } = await alertsServer();
  const { status, json } = await ask('PUT', `/${RATE}`, { ...NEEDED, ...TILE });
  expect(status).toBe(200);
  expect(json.data).toMatchObject({ source: 'tile', tileId: 'tile-latency' });
  expect(json.data).not.toHaveProperty('savedSearchId');
  expect(json.data).not.toHaveProperty('groupBy');
});

test('the documented server accepts each of the nine fields and clears only texts', async () => {
  const { ask, alerts } = await alertsServer({ profile: 'docs' });
  const before = alerts.alert(RATE);
  const { status, json } = await ask('PUT', `/${RATE}`, { threshold: 5, source: 'search' });
  expect(status).toBe(200);
  expect(json.data).toMatchObject({ threshold: 5, interval: '5m', groupBy: 'service' });
  const after = alerts.alert(RATE);
  const lost = { name: null, message: null, threshold: 5, updatedAt: after?.updatedAt };
  expect(after).toEqual({ ...before, ...lost });
});

test('the server of January accepts a negative threshold that is already stored', async () => {
  const { ask, alerts } = await alertsServer({ profile: 'code-2026-01' });
  alerts.editAlert(LATENCY, { threshold: -5 });
  const body = { ...NEEDED, ...TILE, threshold: -5, name: 'Latency' };
  expect((await ask('PUT', `/${LATENCY}`, body)).status).toBe(200);
});

test('the documented server converts an alert when the source is a tile', async () => {
  const { ask, alerts } = await alertsServer({ profile: 'docs' });
  const { dashboardId, tileId } = TILE;
  await ask('PUT', `/${RATE}`, { source: 'tile', dashboardId, tileId });
  const after = alerts.alert(RATE);
  expect(after).toMatchObject({ source: 'tile', dashboardId, tileId });
  expect([after?.savedSearchId, after?.groupBy]).toEqual([undefined, undefined]);
});

test('the documented server accepts an unknown type that is already stored', async () => {
  const { ask } = await alertsServer({ profile: 'docs' });
  const body = { thresholdType: 'between', threshold: 50 };
  expect((await ask('PUT', `/${RANGE}`, body)).status).toBe(200);
});

test('another user edits the alert between the read and the write', async () => {
  const { ask, alerts } = await alertsServer();
  alerts.before('update alert', () => alerts.editAlert(LATENCY, { state: 'ALERT', threshold: 1 }));
  await ask('GET', `/${LATENCY}`);
  expect(alerts.alert(LATENCY)?.threshold).toBe(850);
  const { json } = await ask('PUT', `/${LATENCY}`, { ...NEEDED, ...TILE });
  expect(json.data).toMatchObject({ state: 'ALERT', threshold: 250 });
  expect(alerts.effectCount('update alert')).toBe(1);
});

test.for([
  ['401', 401, 'text/plain'],
  ['429', 429, 'text/html'],
  ['500', 500, 'application/json'],
  ['504-after-effect', 504, 'text/html'],
] as const)('the fault %s has the format of the alerts API', async ([fault, status, type]) => {
  const { ask, alerts } = await alertsServer();
  alerts.injectFault({ operation: 'get alert', fault, times: 1 });
  const answer = await ask('GET', `/${LATENCY}`);
  expect(answer.status).toBe(status);
  expect(answer.headers['content-type']).toContain(type);
});

test('a list of null fields keeps the ids', async () => {
  const { ask, alerts } = await alertsServer();
  alerts.injectFault({ operation: 'list alerts', fault: 'nulls', times: 1 });
  const { json } = await ask('GET', '');
  expect(json.data?.[0]).toMatchObject({ id: expect.any(String), name: null, threshold: null });
});
