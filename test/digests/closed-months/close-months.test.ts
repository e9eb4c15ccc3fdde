import { expect, test } from 'vitest';
import type { ChannelId, UserId } from '../../../src/changes/change.ts';
import { digestReader } from '../../../src/config/digest-options.ts';
import { addDays } from '../../../src/costs/calendar/day.ts';
import type { CostReading } from '../../../src/costs/ledger/costs-read.ts';
import { dayStates } from '../../../src/costs/ledger/ledger.ts';
import type { CostRow } from '../../../src/costs/ledger/row.ts';
import { NO_SNAPSHOTS } from '../../../src/costs/locking/day-snapshots.ts';
import { createMonthClosing } from '../../../src/digests/closed-months/close-months.ts';
import { closingKey, closingName } from '../../../src/digests/closed-months/closing-channels.ts';
import { closingOfDigest } from '../../../src/digests/closed-months/closing-digest.ts';
import type { DigestContext } from '../../../src/digests/digest-context.ts';
import { recordSnapshots } from '../../../src/storage/tables/costs.ts';
import { permitDigest } from '../../../src/storage/tables/digests.ts';
import { readMeta, writeMeta } from '../../../src/storage/tables/meta.ts';
import { addSubscription } from '../../../src/storage/tables/subscriptions.ts';
import { row, warehouseRow } from '../../costs/rows.ts';
import { ENGINES, type Engine, freshDatabase } from '../../storage/engines.ts';
import { digest } from '../facts.ts';

const ORGANIZATION = '2f7c9d34-5f0e-4f0a-8f58-0f6f0b1c2d3e';
const STAGING = { name: 'staging', id: 's-2', tags: ['dev'], warehouse: 'main', team: null };
const UNKNOWN = { aliases: [], pipes: [], source: 'configuration' as const, lastSeen: null };
const readOptions = digestReader([STAGING]);

function digestOf(options: object) {
  const reading = readOptions({ channel: '#costs', ...options });
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
  return reading.value;
}

/** `#costs` and `C0COSTS` are one channel. */
const idOf = (name: string) => `C0${name.replace(/^(#|C0)/, '').toUpperCase()}` as ChannelId;

/** October: 10, 3 and 1 credits per day of two services and their warehouse, times `share`. */
function october(share = 1, locked = true): readonly CostRow[] {
  return Array.from({ length: 31 }, (_, index) => addDays('2026-10-01', index)).flatMap((day) => [
    row({ day, locked, credits: 10 * share }),
    row({ day, locked, entityId: 's-2', entityName: 'staging', credits: 3 * share }),
    warehouseRow({ day, locked, credits: 1 }),
  ]);
}

/** A loop over a database; `at` runs it at a time in November. */
async function closing(digests: readonly object[] = [{}], engine: Engine = 'sqlite') {
  const database = await freshDatabase(engine);
  const stage = {
    now: new Date('2026-10-31T12:00Z'),
    read: reading(october(0.9, false)),
    lookup: 'ok' as 'ok' | 'lookup-failed',
    reads: 0,
    errors: [] as string[],
  };
  // Everything that this loop uses; any other use throws.
  const context = {
    database,
    configured: digests.map(digestOf),
    readOptions,
    organizationId: ORGANIZATION,
    messenger: {
      findChannels: async (wanted: readonly string[]) =>
        new Map(
          wanted.map((name) => [
            name,
            stage.lookup === 'ok'
              ? { ok: true, room: { id: idOf(name), name, outside: false, joined: true } }
              : { ok: false, why: stage.lookup },
          ]),
        ),
    },
    costs: async () => {
      stage.reads += 1;
      return { fetchedAt: stage.now, ...stage.read };
    },
    services: () => [{ ...STAGING, ...UNKNOWN }],
    budgets: [],
    log: { error: (_: object, text: string) => void stage.errors.push(text) },
    now: () => stage.now,
  } as unknown as DigestContext;
  const loops = [createMonthClosing(context), createMonthClosing(context)] as const;
  const at = async (time: string, loop: 0 | 1 = 0) => {
    stage.now = new Date(`2026-${time}Z`);
    return loops[loop]();
  };
  const messages = async () => {
    const rows = await database.db
      .selectFrom('outbox')
      .select('body')
      .where('kind', '=', 'report')
      .orderBy('id')
      .execute();
    return rows.map(({ body }) => textOf(JSON.parse(body ?? '')));
  };
  return { database, stage, at, messages };
}

function reading(rows: readonly CostRow[], more: Partial<CostReading> = {}) {
  return { rows, problems: [], gaps: [], lockAge: null, ...more };
}

function textOf({
  channel,
  answer,
}: {
  channel: string;
  answer: { title: string; parts: readonly { text?: string }[] };
}) {
  return [`${channel} ${answer.title}`, ...answer.parts.flatMap(({ text }) => text ?? [])].join(
    '\n',
  );
}

const FINAL = reading(october(), { isFinal: true });

test.for(ENGINES)(
  'a month is announced once when it is final, by two loops on %s',
  async (engine) => {
    const { stage, at, messages } = await closing([{}, { period: 'week' }], engine);
    await at('11-01T06:30');
    await at('11-12T12:00');
    expect(await messages()).toEqual([]);
    stage.read = FINAL;
    await Promise.all([at('11-13T12:00', 0), at('11-13T12:00', 1)]);
    for (const time of ['11-13T12:20', '11-14T12:00', '12-31T12:00']) await at(time);
    // 31 days of 9 + 2.7 + 1 credits, and then of 10 + 3 + 1.
    expect(await messages()).toEqual([
      [
        '#costs October 2026 is final: 434.0 credits',
        '+40.3 (+10%) since the first report: 393.7 credits on 2026-11-01 06:30 UTC.',
        '• analytics-prod +31.0',
        '• staging +9.3',
        'All days (UTC) are final',
      ].join('\n'),
    ]);
  },
);

test('the first report is that of six hours after the month, also if it is final', async () => {
  const { stage, at, messages } = await closing();
  stage.read = reading(october(0.5, false));
  await at('11-01T05:59');
  stage.read = reading(october(0.9, false));
  await at('11-01T06:20');
  stage.read = reading(october(0.7, false));
  await at('11-01T07:00');
  stage.read = FINAL;
  await at('11-13T12:00');
  expect((await messages())[0]).toContain('393.7 credits on 2026-11-01 06:20 UTC');
});

test('a copy from before that time is not the first report', async () => {
  const { stage, at, messages } = await closing();
  const early = { fetchedAt: new Date('2026-11-01T05:59Z') };
  stage.read = reading(october(0.5, false), early);
  await at('11-01T06:10');
  stage.read = reading(october(0.9, false));
  await at('11-01T06:30');
  stage.read = FINAL;
  await at('11-13T12:00');
  expect((await messages())[0]).toContain('393.7 credits on 2026-11-01 06:30 UTC');
});

test('a month that was final before Signalbox first read it is not announced', async () => {
  const { stage, at, messages } = await closing();
  stage.read = FINAL;
  await at('11-20T12:00');
  stage.reads = 0;
  await at('11-20T13:00');
  expect(await messages()).toEqual([]);
  expect(stage.reads).toBe(0);
});

test('a month that is final at its first report is announced as unchanged', async () => {
  const { database, stage, at, messages } = await closing();
  const seen = { day: '2026-10-30', fetchedAt: stage.now, total: 1, final: false };
  await database.transaction((tx) => recordSnapshots(tx, ORGANIZATION, [seen]));
  stage.read = FINAL;
  await at('11-01T06:30');
  await at('11-01T06:50');
  expect(await messages()).toEqual([
    [
      '#costs October 2026 is final: 434.0 credits',
      'Unchanged since the first report (2026-11-01 06:30 UTC).',
      'All days (UTC) are final',
    ].join('\n'),
  ]);
});

test('each scope of a channel has an announcement with its own figures', async () => {
  const { stage, at, messages } = await closing([{}, { on: { tags: ['dev'] }, period: 'week' }]);
  await at('11-01T06:30');
  stage.read = FINAL;
  await at('11-13T12:00');
  const [all, dev] = await messages();
  expect(all).toContain('#costs October 2026 is final: 434.0 credits');
  // 31 days of 3 credits, and of 2.7 at first.
  expect(dev).toContain('#costs tag dev · October 2026 is final: 93.0 credits');
  expect(dev).toContain('+9.3 (+11%) since the first report: 83.7 credits');
  expect(dev).toContain('1 service left out: not in signalbox.yaml');
});

test('money has the prices of its days', async () => {
  const { stage, at, messages } = await closing();
  const prices = [
    { from: '2026-01-01', perCredit: 300_000, currency: 'EUR' },
    { from: '2026-10-16', perCredit: 400_000, currency: 'EUR' },
  ];
  const [low, high] = prices;
  if (!low || !high) throw new Error('There are two prices');
  const priced = (rows: readonly CostRow[]) =>
    rows.map((each) => ({ ...each, price: each.day < high.from ? low : high }));
  stage.read = reading(priced(october(0.9, false)), { prices });
  await at('11-01T06:30');
  stage.read = reading(priced(october()), { isFinal: true, prices });
  await at('11-13T12:00');
  const [text = ''] = await messages();
  // 15 days at 0.30 and 16 days at 0.40: 14 · 10.90 EUR, and 12.7 · 10.90 EUR at first.
  expect(text).toContain('is final: 434.0 credits (€152.60)');
  expect(text).toContain('+40.3 (+€14.17, +10%) since the first report: 393.7 credits (€138.43)');
  expect(text).toContain('• analytics-prod +31.0 (+€10.90)');
});

const OCTOBER = { month: '2026-10', organizationId: ORGANIZATION };
const MONTHLY = { period: 'month' };
const digestPost = { channel: '#costs|month' as ChannelId, owner: 'one' };

test('a monthly digest that is still to come announces the month, at most a day later', async () => {
  const { stage, at, messages } = await closing([{}, MONTHLY]);
  await at('11-01T06:30');
  stage.read = reading(october(), { isFinal: true, fetchedAt: new Date('2026-11-13T12:00Z') });
  await at('11-13T12:00');
  await at('11-14T11:50');
  expect(await messages()).toEqual([]);
  await at('11-14T12:10');
  expect(await messages()).toHaveLength(1);
});

test('other channels do not wait for a monthly digest, and are announced once', async () => {
  const { stage, at, messages } = await closing([MONTHLY, { channel: '#other' }]);
  await at('11-01T06:30');
  stage.read = reading(october(), { isFinal: true, fetchedAt: new Date('2026-11-13T12:00Z') });
  for (const time of ['11-13T12:00', '11-13T12:20', '11-14T12:10', '11-14T12:30']) await at(time);
  const channels = (await messages()).map((text) => text.split(' ')[0]);
  expect(channels).toEqual(['#other', '#costs']);
});

test('after a monthly digest that was not final, the final month is announced at once', async () => {
  const { database, stage, at, messages } = await closing([MONTHLY]);
  await at('11-01T06:30');
  const post = { ...digestPost, day: '2026-11-10', at: new Date('2026-11-10T09:30Z') };
  await database.transaction((tx) => permitDigest(tx, post));
  stage.read = FINAL;
  await at('11-13T12:00');
  expect(await messages()).toHaveLength(1);
});

test.for<[string, readonly object[]]>([
  ['no digest', []],
  ['a muted digest', [{ mutedUntil: '2026-11-14T00:00:00Z' }]],
])('a channel with %s gets no announcement', async ([, digests]) => {
  const { stage, at, messages } = await closing(digests);
  await at('11-01T06:30');
  stage.read = FINAL;
  await at('11-13T12:00');
  await at('11-20T12:00');
  expect(await messages()).toEqual([]);
});

test.for<[string, boolean, number]>([
  ['added in Slack and in the file', false, 1],
  ['only paused in Slack', true, 0],
])('a channel with digests %s gets one announcement or none', async ([, paused, expected]) => {
  const { database, stage, at, messages } = await closing(paused ? [] : [{}]);
  const added = { id: 'K3M9QD', channel: idOf('#costs'), options: {}, paused };
  const origin = { createdBy: 'U0ANA00001' as UserId, createdAt: stage.now };
  await database.transaction((tx) => addSubscription(tx, { ...added, ...origin }));
  await at('11-01T06:30');
  stage.read = FINAL;
  await at('11-13T12:00');
  expect(await messages()).toHaveLength(expected);
});

test('while Slack does not answer the channel lookup, the announcement waits', async () => {
  const { stage, at, messages } = await closing();
  await at('11-01T06:30');
  Object.assign(stage, { read: FINAL, lookup: 'lookup-failed' });
  await at('11-13T12:00');
  expect(await messages()).toEqual([]);
  stage.lookup = 'ok';
  await at('11-13T12:20');
  expect(await messages()).toHaveLength(1);
});

test('a month that cannot be read completely is neither stored nor announced', async () => {
  const { stage, at, messages } = await closing();
  const gaps = [{ month: '2026-10', why: 'no connection', denied: false, from: null }];
  stage.read = reading(october(0.5, false), { gaps });
  await at('11-01T06:30');
  stage.read = reading([]);
  await at('11-01T07:30');
  stage.read = reading(october(0.9, false));
  await at('11-01T08:30');
  stage.read = FINAL;
  await at('11-13T12:00');
  expect((await messages())[0]).toContain('393.7 credits on 2026-11-01 08:30 UTC');
});

test('an unreadable record stops no other month, and old records are deleted', async () => {
  const { database, stage, at, messages } = await closing();
  const [broken, old] = [`closing/2026-09/${ORGANIZATION}`, `closing/2026-06/${ORGANIZATION}`];
  await database.transaction(async (tx) => {
    await writeMeta(tx, broken, '{}');
    await writeMeta(tx, old, '{}');
  });
  await at('11-01T06:30');
  stage.read = FINAL;
  await at('11-13T12:00');
  expect(await messages()).toHaveLength(1);
  expect(stage.errors).toHaveLength(2);
  expect(await readMeta(database.db, broken)).toBe('{}');
  expect(await readMeta(database.db, old)).toBeNull();
});

test('a monthly digest announces its month only if all days are final', async () => {
  const { database, stage, at } = await closing();
  await at('11-01T06:30');
  const covers = { first: '2026-10-01', last: '2026-10-31' };
  const closingOf = (rows: readonly CostRow[], period = 'month') => {
    const one = { ...digest({ period }), channel: '#costs' };
    const read = { ...stage.read, rows, fetchedAt: stage.now };
    const data = { today: '2026-11-13', read, states: dayStates(rows, covers), services: [] };
    const post = {
      covers,
      channel: idOf('#costs'),
      data: { ...data, snapshots: NO_SNAPSHOTS, changes: [], budgets: [] },
    };
    return closingOfDigest({ database, organizationId: ORGANIZATION }, one, post);
  };
  expect(await closingOf(october())).toEqual({
    key: closingKey(OCTOBER, closingName('C0COSTS', null)),
    lines: [
      'October 2026 is final.',
      '+40.3 (+10%) since the first report: 393.7 credits on 2026-11-01 06:30 UTC.',
      '• analytics-prod +31.0',
      '• staging +9.3',
    ],
  });
  expect(await closingOf(october(1, false))).toBeNull();
  expect(await closingOf(october().slice(3))).toBeNull();
  expect(await closingOf(october(), 'week')).toBeNull();
});

test('the key of an announcement names organization, month, channel and scope', () => {
  expect(closingKey(OCTOBER, closingName('C1', null))).toBe(
    `final-month ${ORGANIZATION} 2026-10 ["C1",null]`,
  );
  const { on } = digestOf({ on: { tags: ['dev'] } });
  expect(closingName('C1', on)).not.toBe(closingName('C1', null));
});
