import { describe, expect, onTestFinished, test } from 'vitest';
import { Secret } from '../../src/base/errors.ts';
import { alertUpdate, createAlertsClient } from '../../src/servers/alerts.ts';
import {
  GATEWAY_PAGE,
  hangUp,
  json,
  type Respond,
  raw,
  serve,
  testClock,
} from '../base/loopback.ts';
import { contractTile, currentSearch, currentTile, TILE } from './alerts-replies.ts';

function client(baseUrl: string) {
  const clock = testClock();
  const alerts = createAlertsClient({
    baseUrl,
    token: new Secret('canary-token'),
    version: '0.1.0',
    clock,
  });
  onTestFinished(() => alerts.close());
  return { ...alerts, clock };
}

const numbered = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => ({ ...contractTile, id: `alert-${from + index}` }));

const BODY = { threshold: 5, interval: '5m', thresholdType: 'above', source: 'tile' };

describe('each operation has its method, path and body', () => {
  test.each(['', '/', '/api/v2/'])('with a base address that ends in "%s"', async (ending) => {
    const server = await serve(
      json(200, { data: [] }),
      json(200, { data: currentTile }),
      json(200, { data: currentTile }),
    );
    const alerts = client(server.url + ending);
    await alerts.listAlerts();
    await alerts.getAlert(TILE);
    await alerts.updateAlert(TILE, BODY);
    expect(server.received).toMatchObject([
      { method: 'GET', path: '/api/v2/alerts', query: {} },
      { method: 'GET', path: `/api/v2/alerts/${TILE}`, query: {} },
      { method: 'PUT', path: `/api/v2/alerts/${TILE}`, body: BODY },
    ]);
    for (const { headers } of server.received) {
      expect(headers.authorization).toBe('Bearer canary-token');
    }
  });

  test.each(['65b0c0ffee0000000000a001', 'abc', 'A_b-1'])(
    'the id %s is taken as it is, for nobody promises its form',
    async (id) => {
      const server = await serve(json(200, { data: { ...currentTile, id } }));
      await client(server.url).getAlert(id);
      expect(server.received[0]?.path).toBe(`/api/v2/alerts/${id}`);
    },
  );

  test.each(['', '..', 'a/b', 'a?b'])('the id %j is not sent', async (id) => {
    const server = await serve(json(200, { data: currentTile }));
    await expect(client(server.url).getAlert(id)).rejects.toMatchObject({ name: 'InvalidRequest' });
    await expect(client(server.url).updateAlert(id, BODY)).rejects.toMatchObject({
      name: 'InvalidRequest',
    });
    expect(server.received).toHaveLength(0);
  });
});

describe('the list', () => {
  test('of a server without pages is returned as sent', async () => {
    const server = await serve(json(200, { data: numbered(0, 1000) }));
    const { result } = await client(server.url).listAlerts();
    expect(result).toMatchObject({ total: null, complete: true });
    expect(result.alerts).toHaveLength(1000);
    expect(server.received).toHaveLength(1);
  });

  test('of a server with pages is read to the end', async () => {
    const pages: Respond = (response, received) => {
      const offset = Number(received.query.offset ?? 0);
      const data = numbered(offset, Math.min(1000, 2300 - offset));
      json(200, { data, meta: { total: 2300, limit: 1000, offset } })(response, received);
    };
    const server = await serve(pages);
    const { result } = await client(server.url).listAlerts();
    expect(result).toMatchObject({ total: 2300, complete: true });
    expect(result.alerts).toHaveLength(2300);
    expect(server.received.map(({ query }) => query)).toEqual([
      {},
      { limit: '1000', offset: '1000' },
      { limit: '1000', offset: '2000' },
    ]);
  });

  test('is read several pages at a time, and keeps the order of the server', async () => {
    const together = Promise.withResolvers<void>();
    const asked = new Set<number>();
    const pages: Respond = async (response, received) => {
      const offset = Number(received.query.offset ?? 0);
      if (offset > 0 && asked.add(offset).size === 3) together.resolve();
      // Each page except the first is sent only after the others were requested.
      if (offset > 0) await together.promise;
      const data = numbered(offset, Math.min(2, 7 - offset));
      json(200, { data, meta: { total: 7 } })(response, received);
    };
    const server = await serve(pages);
    const { result } = await client(server.url).listAlerts();
    expect(result.alerts.map(({ id }) => id)).toEqual(numbered(0, 7).map(({ id }) => id));
    expect(result).toMatchObject({ total: 7, complete: true });
  });

  test('requests at most five pages at a time', async () => {
    const clock = testClock();
    const under = { way: 0, most: 0 };
    // Each request sets a deadline when it is sent, before any of them arrives.
    const timeout = (ms: number) => {
      under.way += 1;
      return clock.timeout(ms);
    };
    const server = await serve((response, received) => {
      under.most = Math.max(under.most, under.way);
      const offset = Number(received.query.offset ?? 0);
      json(200, { data: numbered(offset, 1), meta: { total: 14 } })(response, received);
    });
    const alerts = createAlertsClient({
      baseUrl: server.url,
      token: new Secret('canary-token'),
      version: '0.1.0',
      clock: { ...clock, timeout },
      observe: () => {
        under.way -= 1;
      },
    });
    onTestFinished(() => alerts.close());
    expect((await alerts.listAlerts()).result.alerts).toHaveLength(14);
    expect(under.most).toBe(5);
  });

  test.for([
    ['null', null],
    ['a text', 'soon'],
    ['a list', []],
  ] as const)('with %s between its alerts keeps the others', async ([, odd]) => {
    const [first, ...rest] = numbered(0, 3);
    const data = [first, odd, ...rest];
    const server = await serve(json(200, { data, meta: { total: 4 } }));
    const { result } = await client(server.url).listAlerts();
    expect(result.alerts.map(({ id }) => id)).toEqual(['alert-0', 'alert-1', 'alert-2']);
    expect(result).toMatchObject({ total: 4, complete: false });
    expect(server.received).toHaveLength(1);
  });

  test('with null and without a total is incomplete', async () => {
    const server = await serve(json(200, { data: [null, ...numbered(0, 2)] }));
    const { result } = await client(server.url).listAlerts();
    expect(result).toMatchObject({ total: null, complete: false });
  });

  test('with null at the end of a page continues with the next page', async () => {
    const server = await serve((response, received) => {
      const offset = Number(received.query.offset ?? 0);
      const data = offset === 0 ? [...numbered(0, 2), null] : numbered(offset, 2);
      json(200, { data, meta: { total: 5 } })(response, received);
    });
    const { result } = await client(server.url).listAlerts();
    expect(result.alerts.map(({ id }) => id)).toEqual(['alert-0', 'alert-1', 'alert-3', 'alert-4']);
    expect(server.received.map(({ query }) => query.offset)).toEqual([undefined, '3']);
  });

  test('of a server that ignores the offset is not read forever', async () => {
    const server = await serve(json(200, { data: numbered(0, 3), meta: { total: 5 } }));
    const { result } = await client(server.url).listAlerts();
    expect(result.alerts).toHaveLength(3);
    expect(result).toMatchObject({ total: 5, complete: false });
    expect(server.received).toHaveLength(2);
  });

  test('has no duplicates when an alert was added between two pages', async () => {
    const server = await serve(
      json(200, { data: numbered(0, 2), meta: { total: 4 } }),
      json(200, { data: numbered(1, 2), meta: { total: 4 } }),
      json(200, { data: numbered(3, 1), meta: { total: 4 } }),
    );
    const { result } = await client(server.url).listAlerts();
    expect(result.alerts.map(({ id }) => id)).toEqual(['alert-0', 'alert-1', 'alert-2', 'alert-3']);
  });

  test('ends after twenty pages and says that there is more', async () => {
    const server = await serve((response, received) => {
      const data = numbered(Number(received.query.offset ?? 0), 1);
      json(200, { data, meta: { total: 50 } })(response, received);
    });
    const { result } = await client(server.url).listAlerts();
    expect(server.received).toHaveLength(20);
    expect(result).toMatchObject({ total: 50, complete: false });
  });

  test('has every alert, also malformed ones', async () => {
    const odd = { id: 'x', name: 5, threshold: '7', channel: 'none', silenced: [] };
    const server = await serve(json(200, { data: [currentTile, odd, {}, {}] }));
    const { result } = await client(server.url).listAlerts();
    expect(result.alerts).toHaveLength(4);
    expect(result.alerts[1]).toMatchObject({ id: 'x', name: null, threshold: 7, channels: [] });
  });

  test.for<[string, Respond, string]>([
    ['nothing', raw(200, ''), 'empty-reply'],
    ['an empty object', json(200, {}), 'empty-reply'],
    ['a null', json(200, { data: null }), 'empty-reply'],
    ['one alert', json(200, { data: currentTile }), 'unreadable-reply'],
    ['a page', raw(200, GATEWAY_PAGE), 'unreadable-reply'],
  ])('is an error when the reply is %s', async ([, answer, kind]) => {
    const server = await serve(answer);
    await expect(client(server.url).listAlerts()).rejects.toMatchObject({ kind });
  });
});

test('a reply about another alert is an error', async () => {
  const server = await serve(json(200, { data: currentSearch }));
  const alerts = client(server.url);
  await expect(alerts.getAlert(TILE)).rejects.toMatchObject({ kind: 'unreadable-reply' });
  const unknown = { kind: 'other-object', effect: 'unknown', status: 200 };
  await expect(alerts.updateAlert(TILE, BODY)).rejects.toMatchObject(unknown);
});

test('after the stop signal no list is read, but the alert of a running update is', async () => {
  const server = await serve(json(200, { data: currentTile }));
  const alerts = createAlertsClient({
    baseUrl: server.url,
    token: new Secret('canary-token'),
    version: '0.1.0',
    clock: testClock(),
    stopping: AbortSignal.abort(),
  });
  onTestFinished(() => alerts.close());
  await expect(alerts.listAlerts()).rejects.toMatchObject({ kind: 'stopping' });
  expect(server.received).toHaveLength(0);
  expect((await alerts.getAlert(TILE)).result.id).toBe(TILE);
});

describe('an update', () => {
  test('built from a fresh read keeps every field', async () => {
    const server = await serve(json(200, { data: currentSearch }));
    const alerts = client(server.url);
    const { result: read } = await alerts.getAlert(currentSearch.id);
    const update = alertUpdate(read, { threshold: 10 });
    if (!update.ok) throw new Error(update.refusal);
    await alerts.updateAlert(currentSearch.id, update.body);
    const { id, state, teamId, createdAt, updatedAt, ...kept } = currentSearch;
    expect(server.received[1]?.body).toEqual({ ...kept, threshold: 10 });
  });

  test.for<[string, Respond]>([
    ['an empty object', json(200, {})],
    ['null', json(200, { data: null })],
    ['nothing', raw(200, '')],
    ['half an object', raw(200, '{"data":{"id"')],
  ])('is accepted without details when the server answers 200 with %s', async ([, answer]) => {
    const server = await serve(answer);
    const reply = await client(server.url).updateAlert(TILE, BODY);
    expect(reply).toMatchObject({ status: 200, result: null });
  });

  test.for<[string, Respond]>([
    ['hangs up', hangUp],
    ['fails', json(500, { message: 'Something went wrong :(' })],
    ['sits behind a slow gateway', raw(504, GATEWAY_PAGE)],
    ['hides behind a page', raw(200, GATEWAY_PAGE)],
  ])('is not repeated when the server %s', async ([, answer]) => {
    const server = await serve(answer, json(200, { data: currentTile }));
    await expect(client(server.url).updateAlert(TILE, BODY)).rejects.toMatchObject({
      effect: 'unknown',
    });
    expect(server.received).toHaveLength(1);
  });

  test('that the server rejects is not repeated with fewer fields', async () => {
    const server = await serve(
      json(400, { message: 'Webhook not found' }),
      json(200, { data: currentTile }),
    );
    await expect(client(server.url).updateAlert(TILE, BODY)).rejects.toMatchObject({
      effect: 'refused',
      serverText: 'Webhook not found',
    });
    expect(server.received).toHaveLength(1);
  });

  test('with a null or a server-managed field is refused before sending', async () => {
    const server = await serve(json(200, { data: currentTile }));
    const body = { ...BODY, runbook: null, state: 'OK' };
    await expect(client(server.url).updateAlert(TILE, body)).rejects.toMatchObject({
      problems: [{ field: 'runbook' }, { field: 'state' }],
    });
    expect(server.received).toHaveLength(0);
  });
});

describe('an error', () => {
  test.for<[string, Respond, object]>([
    [
      'a wrong token, in plain text',
      raw(401, 'Unauthorized', { 'content-type': 'text/plain' }),
      { effect: 'refused', status: 401, serverText: 'Unauthorized' },
    ],
    [
      'no team',
      json(403, { message: 'Forbidden' }),
      { effect: 'refused', serverText: 'Forbidden' },
    ],
    [
      'an unknown alert',
      json(404, { message: 'Alert not found' }),
      { effect: 'refused', kind: 'answer', serverText: 'Alert not found' },
    ],
    [
      'an unknown alert on an older server, in plain text',
      raw(404, 'Not Found', { 'content-type': 'text/plain' }),
      { effect: 'refused', kind: 'answer', serverText: 'Not Found' },
    ],
    [
      'a wrong address, with the plain text of another server',
      raw(404, '404 page not found', { 'content-type': 'text/plain' }),
      { effect: 'refused', kind: 'wrong-address', serverText: '404 page not found' },
    ],
    [
      'a body that is refused by an older server',
      json(400, [{ type: 'Body', errors: { issues: [{ path: ['name'], message: 'Too short' }] } }]),
      { effect: 'refused', serverText: 'name: Too short' },
    ],
    [
      'a full window',
      raw(429, 'Too many requests, please try again later.', {
        'content-type': 'text/html',
        'ratelimit-reset': '31',
      }),
      { effect: 'not-sent', retryAfterMs: 31_000 },
    ],
    ['a full window that says nothing', raw(429, 'no'), { retryAfterMs: 60_000 }],
  ])('describes %s', async ([, answer, expected]) => {
    const server = await serve(answer);
    await expect(client(server.url).updateAlert(TILE, BODY)).rejects.toMatchObject(expected);
  });
});

test('the plain text of a missing route does not mean that the list is missing', async () => {
  const server = await serve(raw(404, 'Not Found', { 'content-type': 'text/plain' }));
  const { listAlerts, getAlert } = client(server.url);
  await expect(listAlerts()).rejects.toMatchObject({ kind: 'wrong-address' });
  await expect(getAlert(TILE)).rejects.toMatchObject({ kind: 'answer', status: 404 });
});

test.each(['', 'canary\n', 'two words', 'ümlaut'])('the token %j is refused', (token) => {
  const start = () =>
    createAlertsClient({ baseUrl: 'http://127.0.0.1', token: new Secret(token), version: '0' });
  expect(start).toThrow('configuration: token must be one word of printable ASCII characters');
});

test('seventy of a hundred places are for reads, and the next one starts a minute later', async () => {
  const server = await serve(json(200, { data: currentTile }));
  const { getAlert } = client(server.url);
  const rush = Array.from({ length: 71 }, () => getAlert(TILE));
  await expect(Promise.all(rush)).rejects.toMatchObject({
    effect: 'not-sent',
    kind: 'budget',
    retryAfterMs: 61_000,
  });
  await Promise.allSettled(rush);
  expect(server.received).toHaveLength(70);
});
