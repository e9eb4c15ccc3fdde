import { expect, test } from 'vitest';
import { buttonsOf, textOf } from '../harness/messages.ts';
import { NO_MESSAGE, waitUntilIdle } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, DORA, EMIL } from '../harness/users.ts';
import { emptyUrl } from '../storage/engines.ts';
import { announced, scanAt, WATCHED, withShift, withSpike } from './anomaly-scan.ts';

const MONDAY = -3;
const yaml = (file: object) => ({ ...file, digests: [WATCHED] });
const SPIKE = 'Unusual cost · analytics-dev';

async function spiked(): Promise<TestSandbox> {
  const sandbox = await startTestSandbox({ organization: withSpike(MONDAY), yaml });
  await scanAt(sandbox, '2026-11-20T12:02:00Z');
  return sandbox;
}

test('a spike is announced once, before its day is settled, and its end in the thread', async () => {
  const sandbox = await spiked();
  expect(announced(sandbox, 'analytics-dev')).toEqual([]);
  await scanAt(sandbox, '2026-11-24T07:00:00Z');
  await expect.poll(() => announced(sandbox, SPIKE)).toHaveLength(1);
  const [alert] = announced(sandbox, SPIKE);
  expect(textOf(alert ?? NO_MESSAGE)).toContain('not final yet');
  expect(buttonsOf(alert ?? NO_MESSAGE)).toEqual([
    'incident.expected',
    'incident.mute',
    'incident.details',
  ]);

  for (const day of ['25', '26', '27', '28', '29', '30']) {
    await scanAt(sandbox, `2026-11-${day}T07:00:00Z`);
  }
  await expect.poll(() => announced(sandbox, 'Back to usual · analytics-dev')).toHaveLength(1);
  expect(announced(sandbox, 'Back to usual · analytics-dev')[0]?.threadTs).toBe(alert?.ts);
  expect(announced(sandbox, SPIKE)).toHaveLength(1);
  await expect
    .poll(() => buttonsOf(announced(sandbox, SPIKE)[0] ?? NO_MESSAGE))
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
  const sandbox = await spiked();
  await scanAt(sandbox, '2026-11-24T07:00:00Z');
  await expect.poll(() => announced(sandbox, SPIKE)).toHaveLength(1);
  await sandbox.press(ANA, announced(sandbox, SPIKE)[0], button);
  await sandbox.privateMessage(ANA, words);
  await expect.poll(() => announced(sandbox, words)).toHaveLength(1);
  // The announcement is redrawn with the new state and the buttons that still have an effect.
  await expect.poll(() => textOf(announced(sandbox, SPIKE)[0] ?? NO_MESSAGE)).toContain(state);
  expect(buttonsOf(announced(sandbox, SPIKE)[0] ?? NO_MESSAGE)).toEqual(left);

  for (const day of ['25', '26', '27', '28', '29', '30']) {
    await scanAt(sandbox, `2026-11-${day}T07:00:00Z`);
  }
  expect(announced(sandbox, 'Back to usual')).toEqual([]);
  expect(announced(sandbox, SPIKE)).toHaveLength(1);
});

test('a shift is announced, then the new normal after seven days, then nothing', async () => {
  const sandbox = await startTestSandbox({ organization: withShift(MONDAY), yaml });
  await scanAt(sandbox, '2026-11-20T12:02:00Z');
  for (const day of ['24', '26', '28', '30']) await scanAt(sandbox, `2026-11-${day}T07:00:00Z`);
  for (const day of ['02', '04', '06']) await scanAt(sandbox, `2026-12-${day}T07:00:00Z`);
  await expect.poll(() => announced(sandbox, 'The new normal · analytics-dev')).toHaveLength(1);
  const [alert] = announced(sandbox, SPIKE);
  expect(announced(sandbox, 'The new normal · analytics-dev')[0]?.threadTs).toBe(alert?.ts);
  const before = announced(sandbox, 'analytics-dev').length;
  await scanAt(sandbox, '2026-12-09T07:00:00Z');
  expect(announced(sandbox, 'analytics-dev')).toHaveLength(before);
});

test('a click in the private list is noted in the thread of the announcement only', async () => {
  const sandbox = await spiked();
  await scanAt(sandbox, '2026-11-24T07:00:00Z');
  await expect.poll(() => announced(sandbox, SPIKE)).toHaveLength(1);
  // Slack shows the announcement before the bot knows its position.
  await waitUntilIdle(sandbox);
  await sandbox.press(
    DORA,
    await sandbox.privateMessage(DORA, 'unusual line'),
    'incident.expected',
  );
  await expect.poll(() => announced(sandbox, 'Noted as expected')).toHaveLength(1);
  expect(announced(sandbox, 'Noted as expected')[0]?.threadTs).toBe(
    announced(sandbox, SPIKE)[0]?.ts,
  );
  expect(announced(sandbox, 'Noted as expected', 'ops')).toEqual([]);
});

test('an answer that the response URL refuses is sent as a direct message', async () => {
  const sandbox = await spiked();
  await scanAt(sandbox, '2026-11-24T07:00:00Z');
  await expect.poll(() => announced(sandbox, SPIKE)).toHaveLength(1);
  sandbox.slack.failNext({ method: 'response_url', times: 5, how: { error: 'used_url' } });
  await sandbox.press(ANA, announced(sandbox, SPIKE)[0], 'incident.expected');
  const answer = await sandbox.privateMessage(ANA, 'Noted as expected');
  expect(answer?.channel).toBe('D0ANA00001');
});

test('users who may not list anomalies may not click, and nothing is noted', async () => {
  const sandbox = await spiked();
  await scanAt(sandbox, '2026-11-24T07:00:00Z');
  await expect.poll(() => announced(sandbox, SPIKE)).toHaveLength(1);
  await sandbox.press(EMIL, announced(sandbox, SPIKE)[0], 'incident.expected');
  await sandbox.privateMessage(EMIL, "You can't ");
  await sandbox.press(DORA, announced(sandbox, SPIKE)[0], 'incident.details');
  const details = textOf((await sandbox.privateMessage(DORA, 'Deviation')) ?? NO_MESSAGE);
  expect(details).toContain('since Mon 23 Nov');
  expect(details).toContain('incident.expected');
});

test('while the report cannot be read nothing is announced, and nothing is lost', async () => {
  const sandbox = await spiked();
  sandbox.cloud.injectFault({ operation: 'usage cost', fault: '403', times: 1 });
  sandbox.clock.now = new Date('2026-11-24T07:00:00Z');
  const before = sandbox.cloud.count('usage cost');
  sandbox.wake();
  await expect.poll(() => sandbox.cloud.count('usage cost')).toBeGreaterThan(before);
  expect(announced(sandbox, 'Unusual')).toEqual([]);

  await scanAt(sandbox, '2026-11-24T07:20:00Z');
  await expect.poll(() => announced(sandbox, SPIKE)).toHaveLength(1);
});

test('two replicas on one database announce it once', async () => {
  const databaseUrl = await emptyUrl('postgres');
  const organization = withSpike(MONDAY);
  const sandbox = await startTestSandbox({ databaseUrl, organization, yaml });
  const second = await sandbox.replica();
  await scanAt(sandbox, '2026-11-20T12:02:00Z');
  for (const day of ['24', '25']) {
    sandbox.clock.now = new Date(`2026-11-${day}T07:00:00Z`);
    second.wake();
    await scanAt(sandbox, `2026-11-${day}T07:00:00Z`);
  }
  await expect.poll(() => announced(sandbox, SPIKE)).toHaveLength(1);
});

test('the first scan finds past anomalies and announces none of them', async () => {
  const sandbox = await startTestSandbox({ yaml });
  await scanAt(sandbox, '2026-11-20T12:02:00Z');
  const list = textOf((await sandbox.privateMessage(DORA, 'Last scan')) ?? NO_MESSAGE);
  expect(list).toContain('analytics-dev · compute');
  expect(list).toContain('over, began Thu 12 Nov');
  expect(list).toContain('analytics-eu · compute');
  expect(list).toContain('the new normal since Tue 27 Oct');
  expect(announced(sandbox, 'Unusual')).toEqual([]);
});

test('the digest shows the anomalies and the state of each budget', async () => {
  const budget = { name: 'production', monthlyCredits: 5_200, notify: '#db-costs' };
  const sandbox = await startTestSandbox({
    organization: withSpike(MONDAY),
    yaml: (file: object) => ({ ...yaml(file), budgets: [budget] }),
  });
  await scanAt(sandbox, '2026-11-20T12:02:00Z');
  await scanAt(sandbox, '2026-11-24T07:00:00Z');
  await sandbox.slack.command(ANA, 'ops', '/cost digest preview #db-costs');
  const digest = textOf((await sandbox.privateMessage(ANA, '1 unusual cost')) ?? NO_MESSAGE);
  expect(digest).toContain('analytics-dev · compute');
  expect(digest).toContain('incident.expected');
  expect(digest).toMatch(
    /production █+░* \d+% · [\d,]+ of 5,200 spent, heading for [\d,]+ of 5,200/,
  );
});

test('after days without a scan the list shows its age, and the digest claims nothing', async () => {
  const sandbox = await startTestSandbox({ yaml });
  await scanAt(sandbox, '2026-11-20T12:02:00Z');
  sandbox.cloud.injectFault({ operation: 'usage cost', fault: '403', times: 50 });
  sandbox.clock.now = new Date('2026-11-23T12:02:00Z');
  await sandbox.slack.command(DORA, 'ops', '/cost anomalies');
  const words = 'Since then, the usage report could not be read';
  const answer = textOf((await sandbox.privateMessage(DORA, words)) ?? NO_MESSAGE);
  expect(answer).toContain('Last scan 2026-11-20 12:02 UTC');
  // Days are named as in the rest of the answer, in the table and in the menu.
  expect(answer).toContain(' · Wed 4 Nov · 0 credits · ');
  expect(answer).toContain('archive · compute, Wed 4 Nov');
  expect(answer).not.toContain('2026-11-04');
  expect(answer).toContain('Show details…');
  await sandbox.slack.command(ANA, 'ops', '/cost digest preview #db-costs');
  const digest = textOf((await sandbox.privateMessage(ANA, 'cannot be read now')) ?? NO_MESSAGE);
  expect(digest).not.toMatch(/nothing unusual|within budget/i);
});
