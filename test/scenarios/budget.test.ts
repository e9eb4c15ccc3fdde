import { expect, test } from 'vitest';
import { CLOUD_KEY, ORGANIZATION } from '../../sandbox/seed/organization.ts';
import { textOf } from '../harness/messages.ts';
import { NO_MESSAGE } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { DORA } from '../harness/users.ts';
import { announced, scanAt, withSpike } from './anomaly-scan.ts';

const PROD = { name: 'production', on: { tags: ['prod'] }, notify: '#db-costs' };

function withBudget(monthlyCredits: number, more: object = {}) {
  return (file: object) => ({ ...file, budgets: [{ ...PROD, monthlyCredits, ...more }] });
}

async function spentOf(sandbox: TestSandbox): Promise<string> {
  await sandbox.slack.command(DORA, 'ops', '/cost budget');
  return textOf((await sandbox.privateMessage(DORA, 'Budgets ·')) ?? NO_MESSAGE);
}

test('/cost budget shows the bar, the plan and the forecast', async () => {
  const sandbox = await startTestSandbox({ yaml: withBudget(6_000) });
  const answer = await spentOf(sandbox);
  expect(answer).toMatch(/█+░* \d+%/);
  expect(answer).toContain('of 6,000');
  expect(answer).toContain('of it not final');
  expect(answer).toContain('if usage does not change');
});

interface CostRow {
  readonly date: string;
  readonly totalCredits: number;
}

/** The rows of `<first>/<last>` in the usage report of the simulator. */
async function reportOf({ cloud }: TestSandbox, span: string): Promise<readonly CostRow[]> {
  const [first, last] = span.split('/');
  const query = `from_date=${first}&to_date=${last}`;
  const url = `${cloud.url}/v1/organizations/${ORGANIZATION.id}/usageCost?${query}`;
  const key = Buffer.from(`${CLOUD_KEY.id}:${CLOUD_KEY.secret}`).toString('base64');
  const reply = await fetch(url, { headers: { authorization: `Basic ${key}` } });
  const { result } = (await reply.json()) as { result: { costs: readonly CostRow[] } };
  return result.costs;
}

const COMMITMENT = {
  name: 'contract',
  period: 'year',
  yearlyCredits: 30_000,
  start: '2026-09-01',
  notify: '#db-costs',
};

function withCommitment(more: object = {}) {
  return (file: object) => ({ ...file, budgets: [{ ...COMMITMENT, ...more }] });
}

test('“are we burning our commitment too fast?” has the pace, the burn rate and the end', async () => {
  const sandbox = await startTestSandbox({ yaml: withCommitment() });
  const lines = (await spentOf(sandbox)).split('\n');
  const line = (start: string) => lines.find((one) => one.startsWith(start));
  expect(line('⚠ contract')).toMatch(
    /^⚠ contract: heading for [\d,]+ of 30,000 \(×\d\.\d\), used up about 2\d Dec 2026, \d+ days early$/,
  );
  // The settled days, read from the API directly: the rate that lasts for the other days follows.
  const months = ['2026-09-01/2026-09-30', '2026-10-01/2026-10-31', '2026-11-01/2026-11-16'];
  const reports = await Promise.all(months.map((each) => reportOf(sandbox, each)));
  const settled = new Set(reports.flat().map(({ date }) => date)).size;
  const sum = reports.flat().reduce((all, { totalCredits }) => all + totalCredits, 0);
  expect(settled).toBe(76);
  const allowed = ((30_000 - sum) / (365 - settled)).toFixed(1);
  expect(line('Burn rate')).toContain(`; ${allowed} per day would last for the year`);
  expect(line('Elapsed')).toBe('Elapsed  22% · 80 of 365 days of 1 Sep 2026 – 31 Aug 2027');
  expect(line('Burn rate')).toMatch(
    /^Burn rate {2}2\d\d\.\d per day in the last 14 settled days; /,
  );
  expect(line('Expected end')).toMatch(/^Expected end {2}about 2\d Dec 2026, /);
});

test('a commitment is in the digest, first where it is heading over', async () => {
  const digests = [{ channel: '#db-costs', at: '09:00', days: 'daily' }];
  const sandbox = await startTestSandbox({
    yaml: (file: object) => ({ ...withCommitment()(file), digests }),
  });
  const { text } = (await sandbox.card('month heading for', 'db-costs')) ?? NO_MESSAGE;
  const [title, first] = text.split('\n');
  expect(title).toMatch(/ · budget contract heading over$/);
  expect(first).toMatch(/^⚠ Budget contract: heading for .* used up about 2\d Dec 2026, /);
});

test('a commitment notifies once per threshold and year, and not before it begins', async () => {
  const sandbox = await startTestSandbox({
    organization: withSpike(400),
    yaml: withCommitment({ start: '2026-11-21', yearlyCredits: 4_000 }),
  });
  const marks = () =>
    announced(sandbox, 'Budget "contract"')
      .map((message) => /past (\d+)%/.exec(textOf(message))?.[1])
      .filter((mark) => mark !== undefined);
  await scanAt(sandbox, '2026-11-20T12:02:00Z');
  expect(announced(sandbox, 'contract')).toEqual([]);
  for (const day of ['11-25', '11-29', '12-04', '12-08', '12-15']) {
    await scanAt(sandbox, `2026-${day}T07:00:00Z`);
  }
  await expect.poll(marks).toEqual(['50', '80', '100']);
});

test('without a budget the answer names the configuration file', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.slack.command(DORA, 'ops', '/cost budget');
  await sandbox.privateMessage(DORA, 'defines no budgets');
});

test('a budget notifies once per threshold and month', async () => {
  const thresholds = [50, 80, 100];
  const sandbox = await startTestSandbox({
    organization: withSpike(400),
    yaml: withBudget(5_200, { thresholds }),
  });
  const marks = () =>
    announced(sandbox, ': past ').map(({ text }) => /past (\d+)%/.exec(text)?.[1]);
  await scanAt(sandbox, '2026-11-20T12:02:00Z');
  for (let day = 21; day <= 30; day += 1) await scanAt(sandbox, `2026-11-${day}T07:00:00Z`);
  await expect.poll(marks).toEqual(['50', '80', '100']);
  for (const day of ['01', '18', '19']) await scanAt(sandbox, `2026-12-${day}T07:00:00Z`);
  await expect.poll(marks).toEqual(['50', '80', '100', '50']);
});

test('a forecast above the amount is announced once, not again the next day', async () => {
  const sandbox = await startTestSandbox({ organization: withSpike(400), yaml: withBudget(3_000) });
  await scanAt(sandbox, '2026-11-20T12:02:00Z');
  await scanAt(sandbox, '2026-11-21T07:00:00Z');
  await expect.poll(() => announced(sandbox, 'almost certainly over')).toHaveLength(1);
  await scanAt(sandbox, '2026-11-22T07:00:00Z');
  expect(announced(sandbox, 'almost certainly over')).toHaveLength(1);
});

test('while the report cannot be read no budget notifies', async () => {
  const sandbox = await startTestSandbox({ yaml: withBudget(100) });
  sandbox.cloud.injectFault({ operation: 'usage cost', fault: '403', times: 20 });
  sandbox.clock.now = new Date('2026-11-20T12:02:00Z');
  const before = sandbox.cloud.count('usage cost');
  sandbox.wake();
  await expect.poll(() => sandbox.cloud.count('usage cost')).toBeGreaterThan(before);
  expect(announced(sandbox, 'Budget')).toEqual([]);
});

test('a channel that is shared with another workspace gets no budget messages', async () => {
  const sandbox = await startTestSandbox({ yaml: withBudget(100, { notify: '#shared-partners' }) });
  await scanAt(sandbox, '2026-11-20T12:02:00Z');
  await scanAt(sandbox, '2026-11-21T07:00:00Z');
  expect(announced(sandbox, 'Budget', 'shared-partners')).toEqual([]);
});
