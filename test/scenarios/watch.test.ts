import { expect, test } from 'vitest';
import { freshUrl, openForTest } from '../storage/engines.ts';
import { announced, scanAt, WATCHED, withShift, withSpike } from './anomaly-scan.ts';
import { empty } from './request.ts';
import { ANA, buttonsOf, DORA, EMIL, openStage, type Stage, textOf } from './stage.ts';

const MONDAY = -3;
const yaml = (file: object) => ({ ...file, digests: [WATCHED] });
const SPIKE = 'Unusual cost · analytics-dev';

async function spiked(): Promise<Stage> {
  const stage = await openStage({ organization: withSpike(MONDAY), yaml });
  await scanAt(stage, '2026-11-20T12:02:00Z');
  return stage;
}

test('a spike is announced once, before its day is final, and its end in the thread', async () => {
  const stage = await spiked();
  expect(announced(stage, 'analytics-dev')).toEqual([]);
  await scanAt(stage, '2026-11-24T07:00:00Z');
  await expect.poll(() => announced(stage, SPIKE)).toHaveLength(1);
  const [alert] = announced(stage, SPIKE);
  expect(textOf(alert ?? empty)).toContain('not final yet');
  expect(buttonsOf(alert ?? empty)).toEqual([
    'incident.expected',
    'incident.mute',
    'incident.details',
  ]);

  for (const day of ['25', '26', '27', '28']) await scanAt(stage, `2026-11-${day}T07:00:00Z`);
  await expect.poll(() => announced(stage, 'Back to usual · analytics-dev')).toHaveLength(1);
  expect(announced(stage, 'Back to usual · analytics-dev')[0]?.threadTs).toBe(alert?.ts);
  expect(announced(stage, SPIKE)).toHaveLength(1);
  await expect
    .poll(() => buttonsOf(announced(stage, SPIKE)[0] ?? empty))
    .toEqual(['incident.details']);
});

test.for<[string, string, string, readonly string[]]>([
  ['incident.expected', 'Noted as expected', 'expected since', ['incident.details']],
  [
    'incident.mute',
    'Muted',
    'muted until Tue 1 Dec since',
    ['incident.expected', 'incident.mute', 'incident.details'],
  ],
])('the button %s stops announcements for everyone', async ([button, words, state, left]) => {
  const stage = await spiked();
  await scanAt(stage, '2026-11-24T07:00:00Z');
  await expect.poll(() => announced(stage, SPIKE)).toHaveLength(1);
  await stage.press(ANA, announced(stage, SPIKE)[0], button);
  await stage.privateWord(ANA, words);
  await expect.poll(() => announced(stage, words)).toHaveLength(1);
  // The announcement is redrawn with the new state and the buttons that still have an effect.
  await expect.poll(() => textOf(announced(stage, SPIKE)[0] ?? empty)).toContain(state);
  expect(buttonsOf(announced(stage, SPIKE)[0] ?? empty)).toEqual(left);

  for (const day of ['25', '26', '27', '28']) await scanAt(stage, `2026-11-${day}T07:00:00Z`);
  expect(announced(stage, 'Back to usual')).toEqual([]);
  expect(announced(stage, SPIKE)).toHaveLength(1);
});

test('a shift is announced, then the new normal after seven days, then nothing', async () => {
  const stage = await openStage({ organization: withShift(MONDAY), yaml });
  await scanAt(stage, '2026-11-20T12:02:00Z');
  for (const day of ['24', '26', '28', '30']) await scanAt(stage, `2026-11-${day}T07:00:00Z`);
  for (const day of ['02', '04', '06']) await scanAt(stage, `2026-12-${day}T07:00:00Z`);
  await expect.poll(() => announced(stage, 'The new normal · analytics-dev')).toHaveLength(1);
  const [alert] = announced(stage, SPIKE);
  expect(announced(stage, 'The new normal · analytics-dev')[0]?.threadTs).toBe(alert?.ts);
  const before = announced(stage, 'analytics-dev').length;
  await scanAt(stage, '2026-12-09T07:00:00Z');
  expect(announced(stage, 'analytics-dev')).toHaveLength(before);
});

test('a click in the private list is noted in the thread of the announcement only', async () => {
  const stage = await spiked();
  await scanAt(stage, '2026-11-24T07:00:00Z');
  await expect.poll(() => announced(stage, SPIKE)).toHaveLength(1);
  await stage.press(DORA, await stage.privateWord(DORA, 'unusual line'), 'incident.expected');
  await expect.poll(() => announced(stage, 'Noted as expected')).toHaveLength(1);
  expect(announced(stage, 'Noted as expected')[0]?.threadTs).toBe(announced(stage, SPIKE)[0]?.ts);
  expect(announced(stage, 'Noted as expected', 'ops')).toEqual([]);
});

test('a click is stored before Slack gets its answer, and handled once', async () => {
  const databaseUrl = await freshUrl('postgres');
  const stage = await openStage({ databaseUrl, organization: withSpike(MONDAY), yaml });
  await scanAt(stage, '2026-11-20T12:02:00Z');
  await scanAt(stage, '2026-11-24T07:00:00Z');
  await expect.poll(() => announced(stage, SPIKE)).toHaveLength(1);
  const database = await openForTest(databaseUrl);
  // A lock on the state of the watch delays the decision, but not the storage of the click.
  let letGo = () => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const holding = database.transaction(async (tx) => {
    await tx.selectFrom('meta').selectAll().where('key', '=', 'cost-watch').forUpdate().execute();
    await held;
  });
  await stage.press(ANA, announced(stage, SPIKE)[0], 'incident.expected');
  const pressed = await database.db.selectFrom('inbox').selectAll().execute();
  expect(pressed.map(({ kind, handled_at }) => [kind, handled_at])).toEqual([['incident', null]]);
  letGo();
  await holding;
  await expect.poll(() => announced(stage, 'Noted as expected')).toHaveLength(1);
  const [row] = await database.db.selectFrom('inbox').selectAll().execute();
  expect(row?.handled_at).not.toBeNull();
});

test('users who may not list anomalies may not click, and nothing is noted', async () => {
  const stage = await spiked();
  await scanAt(stage, '2026-11-24T07:00:00Z');
  await expect.poll(() => announced(stage, SPIKE)).toHaveLength(1);
  await stage.press(EMIL, announced(stage, SPIKE)[0], 'incident.expected');
  await stage.privateWord(EMIL, 'You can’t use');
  await stage.press(DORA, announced(stage, SPIKE)[0], 'incident.details');
  const details = textOf((await stage.privateWord(DORA, 'Deviation')) ?? empty);
  expect(details).toContain('since Mon 23 Nov');
  expect(details).toContain('incident.expected');
});

test('while the report cannot be read nothing is announced, and nothing is lost', async () => {
  const stage = await spiked();
  stage.cloud.injectFault({ operation: 'usage cost', fault: '403', times: 1 });
  stage.clock.now = new Date('2026-11-24T07:00:00Z');
  const before = stage.cloud.count('usage cost');
  stage.wake();
  await expect.poll(() => stage.cloud.count('usage cost')).toBeGreaterThan(before);
  expect(announced(stage, 'Unusual')).toEqual([]);

  await scanAt(stage, '2026-11-24T07:20:00Z');
  await expect.poll(() => announced(stage, SPIKE)).toHaveLength(1);
});

test('two replicas on one database announce it once', async () => {
  const databaseUrl = await freshUrl('postgres');
  const organization = withSpike(MONDAY);
  const stage = await openStage({ databaseUrl, organization, yaml });
  const second = await stage.replica();
  await scanAt(stage, '2026-11-20T12:02:00Z');
  for (const day of ['24', '25']) {
    stage.clock.now = new Date(`2026-11-${day}T07:00:00Z`);
    second.wake();
    await scanAt(stage, `2026-11-${day}T07:00:00Z`);
  }
  await expect.poll(() => announced(stage, SPIKE)).toHaveLength(1);
});

test('the first scan finds past anomalies and announces none of them', async () => {
  const stage = await openStage({ yaml });
  await scanAt(stage, '2026-11-20T12:02:00Z');
  const list = textOf((await stage.privateWord(DORA, 'Last scan')) ?? empty);
  expect(list).toContain('analytics-dev · compute');
  expect(list).toContain('over, began Thu 12 Nov');
  expect(list).toContain('analytics-eu · compute');
  expect(list).toContain('the new normal since Tue 27 Oct');
  expect(announced(stage, 'Unusual')).toEqual([]);
});

test('a backtest shows how often it would have posted', async () => {
  const stage = await openStage();
  await stage.slack.command(DORA, 'ops', '/cost anomalies backtest 30d');
  const answer = textOf((await stage.privateWord(DORA, 'Would have posted')) ?? empty);
  expect(answer).toContain('in 30 days');
  expect(answer).toContain('analytics-dev · compute · back to usual');
  expect(answer).not.toMatch(/new-normal|resolved|opened/);
  await stage.slack.command(DORA, 'ops', '/cost anomalies backtest 999d');
  await stage.privateWord(DORA, 'at most 200 days');
});

test('the digest shows the anomalies and the state of each budget', async () => {
  const budget = { name: 'production', monthlyCredits: 5_200, notify: '#db-costs' };
  const stage = await openStage({
    organization: withSpike(MONDAY),
    yaml: (file: object) => ({ ...yaml(file), budgets: [budget] }),
  });
  await scanAt(stage, '2026-11-20T12:02:00Z');
  await scanAt(stage, '2026-11-24T07:00:00Z');
  await stage.slack.command(ANA, 'ops', '/cost digest preview #db-costs');
  const digest = textOf((await stage.privateWord(ANA, 'Unusual:')) ?? empty);
  expect(digest).toContain('analytics-dev · compute');
  expect(digest).toContain('incident.expected');
  expect(digest).toMatch(/production █+░* \d+% · heading for [\d,]+ of 5,200/);
});

test('after days without a scan the list shows its age, and the digest claims nothing', async () => {
  const stage = await openStage({ yaml });
  await scanAt(stage, '2026-11-20T12:02:00Z');
  stage.cloud.injectFault({ operation: 'usage cost', fault: '403', times: 50 });
  stage.clock.now = new Date('2026-11-23T12:02:00Z');
  await stage.slack.command(DORA, 'ops', '/cost anomalies');
  const words = 'Since then, the usage report could not be read';
  const answer = textOf((await stage.privateWord(DORA, words)) ?? empty);
  expect(answer).toContain('Last scan 2026-11-20 12:02 UTC');
  await stage.slack.command(ANA, 'ops', '/cost digest preview #db-costs');
  const digest = textOf((await stage.privateWord(ANA, 'cannot be read now')) ?? empty);
  expect(digest).not.toContain('Nothing unusual');
});
