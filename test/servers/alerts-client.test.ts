import { describe, expect, test } from 'vitest';
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
import { alertsClient as client } from './clients.ts';

/** A page of alerts, from the one that was asked for. */
const page = (count: (offset: number) => number, total: number): Respond => {
  return (response, received) => {
    const offset = Number(received.query.offset ?? 0);
    json(200, { data: numbered(offset, count(offset)), meta: { total } })(response, received);
  };
};

const numbered = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => ({ ...contractTile, id: `alert-${from + index}` }));

const BODY = { threshold: 5, interval: '5m', thresholdType: 'above', source: 'tile' };

describe('each operation has its method, path and body', () => {
  test.each(['', '/', '/api/v2/'])('with a base address that ends in "%s"', async (ending) => {
    const server = await serve(json(200, { data: [] }), json(200, { data: currentTile }));
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
    const invalid = { name: 'InvalidRequest' };
    await expect(client(server.url).getAlert(id)).rejects.toMatchObject(invalid);
    await expect(client(server.url).updateAlert(id, BODY)).rejects.toMatchObject(invalid);
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
    const server = await serve(page((offset) => Math.min(1000, 2300 - offset), 2300));
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
    const pages = page((offset) => Math.min(2, 7 - offset), 7);
    const server = await serve(async (response, received) => {
      const offset = Number(received.query.offset ?? 0);
      if (offset > 0 && asked.add(offset).size === 3) together.resolve();
      // Each page except the first is sent only after the others were requested.
      if (offset > 0) await together.promise;
      pages(response, received);
    });
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
      page(() => 1, 14)(response, received);
    });
    const observe = () => {
      under.way -= 1;
    };
    const alerts = client(server.url, { clock: { ...clock, timeout }, observe });
    expect((await alerts.listAlerts()).result.alerts).toHaveLength(14);
    expect(under.most).toBe(5);
  });

  test.each([null, 'soon', []])('with %j between its alerts keeps the others', async (odd) => {
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
    const server = await serve(page(() => 1, 50));
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
    ['a page', raw(200, GATEWAY_PAGE), 'foreign-answer'],
  ])('is an error when the reply is %s', async ([, answer, kind]) => {
    const server = await serve(answer);
    await expect(client(server.url).listAlerts()).rejects.toMatchObject({ kind });
  });
});

test('a reply about another alert is an error', async () => {
  const server = await serve(json(200, { data: currentSearch }));
  const alerts = client(server.url);
  await expect(alerts.getAlert(TILE)).rejects.toMatchObject({ kind: 'other-object' });
  const unknown = { kind: 'other-object', effect: 'unknown', status: 200 };
  await expect(alerts.updateAlert(TILE, BODY)).rejects.toMatchObject(unknown);
});

test('after the stop signal no list is read, but the alert of a running update is', async () => {
  const server = await serve(json(200, { data: currentTile }));
  const alerts = client(server.url, { stopping: AbortSignal.abort() });
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
    const unknown = { effect: 'unknown' };
    await expect(client(server.url).updateAlert(TILE, BODY)).rejects.toMatchObject(unknown);
    expect(server.received).toHaveLength(1);
  });

  test('that the server rejects is not repeated with fewer fields', async () => {
    const server = await serve(json(400, { message: 'Webhook not found' }));
    const refused = { effect: 'refused', serverText: 'Webhook not found' };
    await expect(client(server.url).updateAlert(TILE, BODY)).rejects.toMatchObject(refused);
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

const text = (status: number, content: string) =>
  raw(status, content, { 'content-type': 'text/plain' });
const tooShort = [{ type: 'Body', errors: { issues: [{ path: ['name'], message: 'Too short' }] } }];

test.for<[string, Respond, string, object?]>([
  ['a wrong token, in plain text', text(401, 'Unauthorized'), 'Unauthorized', { status: 401 }],
  ['no team', json(403, { message: 'Forbidden' }), 'Forbidden'],
  [
    'an unknown alert',
    json(404, { message: 'Alert not found' }),
    'Alert not found',
    { kind: 'answer' },
  ],
  ['an unknown alert on an older server', text(404, 'Not Found'), 'Not Found', { kind: 'answer' }],
  [
    'a wrong address, with the plain text of another server',
    text(404, '404 page not found'),
    '404 page not found',
    { kind: 'wrong-address' },
  ],
  ['a body that an older server refuses', json(400, tooShort), 'name: Too short'],
])('a refusal describes %s', async ([, answer, serverText, more]) => {
  const server = await serve(answer);
  const refused = { effect: 'refused', serverText, ...more };
  await expect(client(server.url).updateAlert(TILE, BODY)).rejects.toMatchObject(refused);
});

test.for<[string, Respond, number]>([
  ['a full window', raw(429, 'Too many requests', { 'ratelimit-reset': '31' }), 31_000],
  ['a full window that says nothing', raw(429, 'no'), 60_000],
])('after %s nothing was sent', async ([, answer, retryAfterMs]) => {
  const server = await serve(answer);
  const full = { effect: 'not-sent', retryAfterMs };
  await expect(client(server.url).updateAlert(TILE, BODY)).rejects.toMatchObject(full);
});

test('the plain text of a missing route does not mean that the list is missing', async () => {
  const server = await serve(text(404, 'Not Found'));
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
  const late = { effect: 'not-sent', kind: 'budget', retryAfterMs: 61_000 };
  await expect(Promise.all(rush)).rejects.toMatchObject(late);
  await Promise.allSettled(rush);
  expect(server.received).toHaveLength(70);
});

test('webhooks are read to their total, also where the server leaves some of a page out', async () => {
  const server = await serve((response, received) => {
    const data = [{ id: `w${received.query.offset ?? 0}` }];
    json(200, { data, meta: { total: 5, limit: 2 } })(response, received);
  });
  const reads = { mode: 'extended', now: () => new Date(0), onOff: () => undefined } as const;
  const read = await client(server.url, { reads }).reads.webhooks();
  expect(read).toMatchObject({ value: [{ id: 'w0' }, { id: 'w2' }, { id: 'w4' }] });
  const pages = [
    { limit: '2', offset: '2' },
    { limit: '2', offset: '4' },
  ];
  expect(server.received.map(({ query }) => query)).toEqual([{}, ...pages]);
});
