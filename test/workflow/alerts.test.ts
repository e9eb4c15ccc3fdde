import { expect, onTestFinished, test } from 'vitest';
import type { Answer } from '../../src/domain/answer.ts';
import { evolvePost } from '../../src/domain/log-events.ts';
import { openLog } from '../../src/log/index.ts';
import type { AlertReport } from '../../src/servers/alert-webhook.ts';
import {
  claimJobs,
  endJob,
  openStore,
  reading,
  sql,
  transaction,
} from '../../src/storage/index.ts';
import { drawAlerts, receiveAlert } from '../../src/workflow/alerts.ts';
import { KEYS } from '../log/logs.ts';
import { ENGINES, emptyUrl, onEngines } from '../storage/engines.ts';
import { createTestContext, NOON, STAGING } from './context.ts';

const MINUTE = 60_000;
const selection = { services: null, tags: null, warehouses: null, teams: null };
const CHANNELS = [
  { channel: '#staging', on: { ...selection, services: [{ name: 'staging', id: STAGING.id }] } },
  { channel: '#search', on: { ...selection, teams: ['search'] } },
  { channel: '#alerts', on: null },
];
const SEARCH = { ...STAGING, id: 's2', name: 'search', aliases: ['find'], team: 'search' };
const BATCH = { ...STAGING, id: 's3', name: 'batch' };

const REPORT: AlertReport = {
  ...{ id: 'a1', alert: 'a1', name: '5xx rate', state: 'firing', value: '512' },
  ...{ threshold: 'above 100', group: null, service: 'staging', at: NOON.getTime() },
};
const OK = { state: 'ok', value: '3' } as const;

/** Two replicas on one database, each with its own connection where the database has several. */
async function replicas(engine: (typeof ENGINES)[number]) {
  const url = await emptyUrl(engine);
  const clock = { now: NOON };
  const services = () => [STAGING, SEARCH, BATCH];
  const { context } = await createTestContext({ services, now: () => clock.now });
  const store = await openStore(url, { now: () => clock.now.getTime() });
  onTestFinished(() => store.close());
  const first = { ...context, store, events: await openLog(store, KEYS) };
  const other = engine === 'sqlite' ? store : await openStore(url);
  if (other !== store) onTestFinished(() => other.close());
  const second = { ...context, store: other, events: await openLog(other, KEYS) };
  const pass = (ms: number) => {
    clock.now = new Date(clock.now.getTime() + ms);
  };
  const report = (changes: Partial<AlertReport> = {}, on = first) =>
    receiveAlert(on, CHANNELS, { ...REPORT, ...changes });
  /** Draws all messages that are due, and returns what each of them says. */
  const draw = async (on = first) => {
    pass(3_000);
    const claim = { owner: 'test', now: clock.now.getTime(), leaseMs: 1 };
    const jobs = await transaction(on.store, (tx) =>
      claimJobs(tx, { ...claim, lanes: [{ most: 50, kinds: ['alert'] }] }),
    );
    for (const job of jobs) {
      await drawAlerts(on, job.key);
      await transaction(on.store, (tx) => endJob(tx, job));
    }
    const posts = await on.events.loadAll('post', evolvePost);
    return [...posts.values()].map(({ state }) => ({
      channel: state?.announced?.channel,
      // Composed by the job above.
      answer: state?.announced?.answer as unknown as Answer,
      version: state?.announced?.version,
    }));
  };
  const titles = async (on = first) => (await draw(on)).map(({ answer }) => answer.title);
  return { first, second, report, draw, titles, pass };
}

onEngines('one message says that an alert fires, and follows it to ok', async (engine) => {
  const { report, draw, second } = await replicas(engine);
  expect(await report()).toBe('accepted');
  const [message] = await draw();
  expect(message).toMatchObject({
    channel: '#staging',
    answer: {
      title: '⚠ 5xx rate is firing: 512, threshold above 100',
      parts: [
        { kind: 'lines', lines: [['staging · ', 'since ', { at: NOON }]] },
        {
          kind: 'offers',
          offers: [
            { label: 'Edit threshold…', line: 'alert edit a1' },
            { label: 'Show service', line: 'service show staging' },
            { label: 'Scale…', line: 'service scale staging' },
          ],
        },
      ],
    },
  });
  // Another replica receives the end.
  expect(await report({ ...OK, at: NOON.getTime() + MINUTE }, second)).toBe('accepted');
  const after = await draw(second);
  expect(after).toMatchObject([{ version: 2 }]);
  expect(after[0]?.answer.title).toBe('● 5xx rate is ok again: 3, threshold above 100');
});

onEngines('a delivery that arrives again changes nothing', async (engine) => {
  const { report, draw, second } = await replicas(engine);
  const both = await Promise.all([report(), report({}, second)]);
  expect(both.toSorted()).toEqual(['accepted', 'ignored']);
  expect(await draw()).toHaveLength(1);
  const ok = { ...OK, at: NOON.getTime() + MINUTE };
  expect(await report(ok)).toBe('accepted');
  for (const again of [ok, {}]) expect(await report(again)).toBe('ignored');
  expect(await draw()).toMatchObject([{ version: 2 }]);
  expect(await draw()).toMatchObject([{ version: 2 }]);
});

const later = NOON.getTime() + MINUTE;

test.for<[string, readonly Partial<AlertReport>[], readonly string[]]>([
  ['ok before the firing that it ends', [{ ...OK, at: later }, {}], []],
  ['ok at the time of the firing', [{}, OK], ['● 5xx rate is ok again: 3, threshold above 100']],
  ['the same the other way round', [OK, {}], []],
  [
    'an old firing after ok',
    [{}, { ...OK, at: later }, { at: later - 1 }],
    [expect.stringMatching('^●')],
  ],
  ['ok without a firing', [OK], []],
  ['no data without a firing', [{ state: 'no data' }], []],
  [
    'no data while it fires',
    [{}, { state: 'no data', value: null, at: later }],
    ['⚠ 5xx rate has no data: threshold above 100'],
  ],
  ['a new value while it fires', [{}, { value: '900', at: later }], [expect.stringMatching('512')]],
])('%s', async ([, reports, expected]) => {
  const { report, titles } = await replicas(ENGINES[0] ?? 'sqlite');
  const shown: string[] = [];
  for (const each of reports) {
    await report(each);
    shown.splice(0, shown.length, ...(await titles()));
  }
  expect(shown).toEqual(expected);
});

test('alerts of one service within ten minutes share a message with a list', async () => {
  const { report, draw, pass } = await replicas(ENGINES[0] ?? 'sqlite');
  for (let number = 1; number <= 12; number += 1) {
    pass(30_000);
    await report({ id: `a${number}`, alert: `a${number}`, name: `Alert ${number}` });
  }
  await report({ id: 'a2', alert: 'a2', name: 'Alert 2', ...OK, at: later });
  const [message, ...others] = await draw();
  expect(others).toEqual([]);
  expect(message?.answer.title).toBe('⚠ staging: 11 of 12 alerts firing');
  const [lines, more, offers, menu] = message?.answer.parts ?? [];
  expect(lines).toMatchObject({
    lines: { length: 10, 0: [expect.stringMatching(/^⚠ Alert 1 /), 'since ', {}] },
  });
  expect(more).toEqual({ kind: 'note', text: 'and 2 more' });
  expect(offers).toMatchObject({ offers: [{ label: 'Show service' }, { label: 'Scale…' }] });
  expect(menu).toMatchObject({ kind: 'menu', offers: { length: 12 } });
  pass(10 * MINUTE);
  await report({ id: 'b1', alert: 'b1', name: 'Later' });
  expect(await draw()).toHaveLength(2);
});

test('the groups of an alert without a service share a message, other alerts do not', async () => {
  const { report, titles } = await replicas(ENGINES[0] ?? 'sqlite');
  for (const group of ['one', 'two']) await report({ service: null, group });
  await report({ service: null, id: 'a9', name: 'Disk' });
  expect((await titles()).toSorted()).toEqual([
    ...['⚠ 5xx rate: 2 of 2 alerts firing', '⚠ Disk is firing: 512, threshold above 100'],
  ]);
});

test.for<[string, Partial<AlertReport>, string, string]>([
  ['names it', { service: 'staging' }, '#staging', 'staging · '],
  ['has its alias', { service: 'find' }, '#search', 'search · '],
  ['has its name in the title', { service: null, name: 'batch is slow' }, '#alerts', 'batch · '],
  ['has its name as the group', { service: null, group: 'search' }, '#search', 'search · '],
  ['has two names', { service: null, name: 'batch or search' }, '#alerts', 'since '],
  ['has a part of a name', { service: null, name: 'batches are slow' }, '#alerts', 'since '],
  ['names an unknown one', { service: 'nowhere', name: 'batch' }, '#alerts', 'since '],
])(
  'a report that %s is posted in the channel of its service',
  async ([, changes, channel, first]) => {
    const { report, draw } = await replicas(ENGINES[0] ?? 'sqlite');
    await report(changes);
    const [message] = await draw();
    expect(message?.channel).toBe(channel);
    expect(message?.answer.parts[0]).toMatchObject({ lines: [{ 0: first }] });
  },
);

onEngines('without what is stored, no message is posted twice', async (engine) => {
  const { report, draw, first } = await replicas(engine);
  await report();
  await draw();
  await transaction(first.store, (tx) => sql`delete from alert_report`.execute(tx));
  expect(await report({ ...OK, at: later })).toBe('ignored');
  expect(await draw()).toHaveLength(1);
  const stored = await reading(first.store, (reader) =>
    reader.selectFrom('alert_report').select('card').execute(),
  );
  expect(stored).toEqual([{ card: '' }]);
});
