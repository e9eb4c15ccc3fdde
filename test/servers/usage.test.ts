import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { Backup, backupStatus, UsageCosts } from '../../src/servers/cloud-replies.ts';
import { GATEWAY_PAGE, json, type Respond, raw, serve } from '../base/loopback.ts';
import { cloudClient as client } from './clients.ts';
import { backup, envelope, ORGANIZATION, serviceRow, warehouseRow } from './cloud-replies.ts';

const OCTOBER = { from_date: '2026-10-01', to_date: '2026-10-31' };
const NOVEMBER = { from_date: '2026-11-01', to_date: '2026-11-30' };
const INSTANTS = { from_date: '2026-10-01T00:00:00Z', to_date: '2026-10-31T00:00:00Z' };
const COSTS = json(200, envelope({ grandTotalCredits: 0, costs: [] }));

function refuseInstants(field: string): Respond {
  return (response, received) => {
    const value = received.query[field] ?? '';
    const refused = json(400, { status: 400, error: `BAD_REQUEST: ${value}` });
    return (value.includes('T') ? refused : COSTS)(response, received);
  };
}

describe('the days of a report', () => {
  test('are date-times as in the contract as long as the server accepts them', async () => {
    const server = await serve(COSTS);
    const cloud = client(server.url);
    await cloud.getUsageCost(OCTOBER);
    await cloud.getUsageCost(OCTOBER);
    expect(server.received.map(({ query }) => query)).toEqual([INSTANTS, INSTANTS]);
  });

  test.each(['from_date', 'to_date'])(
    'are sent as dates once the server quotes %s back, and from then on',
    async (field) => {
      const server = await serve(refuseInstants(field));
      const cloud = client(server.url);
      await cloud.getUsageCost(OCTOBER);
      await cloud.getUsageCost(NOVEMBER);
      expect(server.received.map(({ query }) => query)).toEqual([INSTANTS, OCTOBER, NOVEMBER]);
    },
  );

  test('the learned format is not shared between clients', async () => {
    const server = await serve(refuseInstants('from_date'));
    await client(server.url).getUsageCost(OCTOBER);
    await client(server.url).getUsageCost(OCTOBER);
    expect(server.received).toHaveLength(4);
  });

  test('are repeated in the other format once only', async () => {
    const server = await serve((response, received) =>
      json(400, { error: `BAD_REQUEST: ${received.query.from_date}` })(response, received),
    );
    const refused = { status: 400, serverText: 'BAD_REQUEST: 2026-10-01' };
    await expect(client(server.url).getUsageCost(OCTOBER)).rejects.toMatchObject(refused);
    expect(server.received).toHaveLength(2);
  });

  test('stay date-times when the plain date is rejected as well', async () => {
    const server = await serve(
      json(400, { error: 'BAD_REQUEST: 2026-10-01T00:00:00Z is too early' }),
      json(400, { error: 'BAD_REQUEST: 2026-10-01 is too early' }),
      COSTS,
    );
    const cloud = client(server.url);
    await expect(cloud.getUsageCost(OCTOBER)).rejects.toThrow('too early');
    await cloud.getUsageCost(OCTOBER);
    expect(server.received[2]?.query).toEqual(INSTANTS);
  });

  const refusing = (status: number, error: unknown) => json(status, { error });
  test.for<[string, Respond]>([
    ['a 400 that quotes the day', refusing(400, 'BAD_REQUEST: 2026-10-01T00:00:00Z')],
    ['a 422 that quotes the day', refusing(422, 'UNPROCESSABLE_ENTITY: 2026-10-01T00:00:00Z')],
    ['a 400 that names no date', refusing(400, 'BAD_REQUEST: must match format')],
    ['no text', json(400, {})],
    ['an empty body', raw(400, '')],
    ['a page', raw(400, GATEWAY_PAGE)],
  ])('are sent in the other form after %s', async ([, refusal]) => {
    const server = await serve(refusal, COSTS);
    const cloud = client(server.url);
    await cloud.getUsageCost(OCTOBER);
    await cloud.getUsageCost(NOVEMBER);
    expect(server.received.map(({ query }) => query)).toEqual([INSTANTS, OCTOBER, NOVEMBER]);
  });

  test.for<[string, Respond]>([
    ['a 404 without a reason', json(404, {})],
    ['a 403 that quotes the day', json(403, { error: 'FORBIDDEN: 2026-10-01T00:00:00Z' })],
  ])('are not repeated after %s', async ([, answer]) => {
    const server = await serve(answer);
    const refused = { effect: 'refused' };
    await expect(client(server.url).getUsageCost(OCTOBER)).rejects.toMatchObject(refused);
    expect(server.received).toHaveLength(1);
  });

  test('keep the reason of the form that succeeded before', async () => {
    const tooLong = refusing(400, 'BAD_REQUEST: Time period queried exceeds 31 days');
    const server = await serve(COSTS, tooLong, refusing(400, 'BAD_REQUEST: 2026-11-01'));
    const cloud = client(server.url);
    await cloud.getUsageCost(OCTOBER);
    await expect(cloud.getUsageCost(NOVEMBER)).rejects.toThrow('exceeds 31 days');
  });
});

describe('costs become a list', () => {
  const row = { entityName: 'analytics-prod' };

  test.for<[string, unknown, unknown[]]>([
    ['from a list', [serviceRow, warehouseRow], [row, { entityName: 'main' }]],
    ['from one object', serviceRow, [row]],
    ['from an object with one field that we know', { totalCredits: 1 }, [{ totalCredits: 1 }]],
    ['from a list with an empty place', [serviceRow, null], [row, { date: null }]],
    ['from nothing', undefined, []],
    ['from null', null, []],
    ['from an empty list', [], []],
    ['from an empty object', {}, []],
    ['from an object that is no cost', { note: 'soon' }, []],
  ])('%s', ([, costs, rows]) => {
    const report = UsageCosts.parse({ grandTotalCredits: 22, costs });
    expect(report.costs).toHaveLength(rows.length);
    expect(report).toMatchObject({ grandTotalCredits: 22, costs: rows });
  });

  test.each(['none', [['none']]])('but not from the word or list of words %j', (costs) => {
    expect(UsageCosts.safeParse({ costs }).success).toBe(false);
  });
});

describe('a row of costs', () => {
  const read = (row: object) => UsageCosts.parse({ costs: [row] }).costs[0];

  test('of a warehouse has no service, and its numbers may be strings', () => {
    expect(read(warehouseRow)).toMatchObject({
      serviceId: null,
      totalCredits: 3.2,
      locked: false,
      metrics: { storageCredits: 3.2, backupCredits: null },
    });
  });

  test('has null instead of zero where the server sent nothing', () => {
    const row = read({ date: '2026-11-18' });
    expect(row).toMatchObject({ totalCredits: null, locked: null, entityType: null });
    expect(Object.values(row?.metrics ?? {})).toEqual(Array(10).fill(null));
  });

  test.each([null, 'none', 5])('may have unreadable metrics: %j', (metrics) => {
    expect(read({ ...serviceRow, metrics })?.metrics.computeCredits).toBeNull();
  });

  test.each(['', 'soon', '1,5', 'Infinity', true, {}, NaN])(
    '%j is no number of credits, which is not the same as none',
    (totalCredits) => {
      expect(read({ ...serviceRow, totalCredits })?.totalCredits).toBeNaN();
    },
  );

  test('keeps the sign and the size of small numbers', () => {
    expect(read({ ...serviceRow, totalCredits: '-1.5e-7' })?.totalCredits).toBe(-1.5e-7);
  });

  test('keeps an unknown field', () => {
    expect(read({ ...serviceRow, tags: ['prod'] })).toMatchObject({ tags: ['prod'] });
  });
});

describe('the status of a backup', () => {
  test.for<[string, object, string]>([
    ['is the reported one', { status: 'in_progress', finishedAt: null }, 'in_progress'],
    ['is the reported one, even unheard of', { status: 'archived' }, 'archived'],
    ['follows from an end', { status: undefined }, 'finished'],
    ['is not guessed', { status: undefined, finishedAt: undefined }, 'not finished or unknown'],
  ])('%s', ([, fields, status]) => {
    expect(backupStatus(Backup.parse({ ...backup, ...fields }))).toBe(status);
  });
});

describe('a large report', () => {
  const report = (count: number, last: unknown = serviceRow) => {
    const rows = Array.from({ length: count }, (_, index) => ({ entityId: `s-${index}` }));
    const costs = rows.map((row) => ({ ...serviceRow, ...row }));
    return envelope({ grandTotalCredits: 22, costs: [...costs, last] });
  };
  const text = JSON.stringify(report(3_000));
  const unreadable = { kind: 'unreadable-reply' };

  test('counts once if the first attempt breaks off', async () => {
    const half: Respond = (response) => {
      response.writeHead(200, { 'content-length': text.length });
      response.write(text.slice(0, text.length - 9), () => response.socket?.destroy());
    };
    const server = await serve(half, json(200, report(3_000)));
    const { result } = await client(server.url).getUsageCost(OCTOBER);
    expect(server.received).toHaveLength(2);
    expect(result.costs).toHaveLength(3_001);
  });

  test('is read from a gzip archive', async () => {
    const server = await serve(raw(200, gzipSync(text)));
    const { result } = await client(server.url).getUsageCost(OCTOBER);
    expect(result.costs).toHaveLength(3_001);
  });

  test('may be larger than any other answer', async () => {
    const server = await serve(raw(200, text.padEnd(17 * 1024 * 1024)));
    const cloud = client(server.url);
    expect((await cloud.getUsageCost(OCTOBER)).result.costs).toHaveLength(3_001);
    await expect(cloud.getBackup(ORGANIZATION, ORGANIZATION)).rejects.toMatchObject(unreadable);
  });

  test.for<[string, Respond]>([
    ['has more than 48 MiB', raw(200, gzipSync(text.padEnd(49 * 1024 * 1024)))],
    ['has a word in place of a row', json(200, report(3_000, 'none'))],
    ['has a word among the first rows', raw(200, text.replace('},{', '},"x",{'))],
    ['breaks off as text', raw(200, text.slice(0, -9))],
    ['lacks a comma between two rows', raw(200, text.replace('},{', '}{'))],
    ['breaks off as an archive', raw(200, gzipSync(text).subarray(0, 900))],
  ])('is unreadable if it %s', async ([, answer]) => {
    const server = await serve(answer);
    await expect(client(server.url).getUsageCost(OCTOBER)).rejects.toMatchObject(unreadable);
  });
});
