import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { sandboxYaml } from '../../sandbox/configuration.ts';
import { ORGANIZATION, otherOrganization } from '../../sandbox/seed/organization.ts';
import { textOf } from '../harness/messages.ts';
import { NO_MESSAGE, waitUntilIdle } from '../harness/requests.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { DORA } from '../harness/users.ts';

const US = otherOrganization();
const OF_US = { organizations: ['prod-us'] };

/** prod-eu and prod-us: a digest of both and one of prod-us, a budget of both and one of prod-eu. */
function withReports() {
  const digest = { at: '09:30', timezone: 'Europe/Berlin', days: 'daily' };
  const budget = { notify: '#db-costs', monthlyCredits: 50_000 };
  return {
    ...parse(sandboxYaml([ORGANIZATION, US])),
    digests: [
      { channel: '#db-costs', ...digest },
      { channel: '#ops', ...digest, on: OF_US },
    ],
    budgets: [
      { name: 'both', ...budget },
      { name: 'europe', ...budget, on: { organizations: ['prod-eu'] } },
    ],
  };
}

async function started() {
  const sandbox = await startTestSandbox({ other: US, yaml: withReports as never });
  const { other } = sandbox;
  if (!sandbox.started.ok || !other) throw new Error('The two organizations did not start');
  const at = async (time: string) => {
    sandbox.clock.now = new Date(time);
    sandbox.wake();
    await waitUntilIdle(sandbox);
  };
  const posted = (channel: string) =>
    sandbox.slack
      .messages(channel)
      .filter((one) => one.threadTs === null && textOf(one).includes('Yesterday'));
  const ask = async (line: string, words: string) => {
    await sandbox.slack.command(DORA, 'ops', line);
    return textOf(await sandbox.privateMessage(DORA, words));
  };
  return { sandbox, other, at, posted, ask };
}

const figure = (text: string, of: RegExp) => Number(of.exec(text)?.[1]?.replaceAll(',', ''));

test('costs of two organizations: in total, of each, and in digests and budgets', async () => {
  const { posted, ask } = await started();
  await expect
    .poll(() => [posted('db-costs'), posted('ops')].map(({ length }) => length))
    .toEqual([1, 1]);
  const [both] = posted('db-costs').map(textOf);
  expect(both).toMatch(/^Yesterday, Thu 19 Nov: [\d,]+ credits/);
  const total = figure(both ?? '', /Thu 19 Nov: ([\d,]+) credits/);
  const [eu, us] = [/prod-eu: ([\d,]+) credits/, /prod-us: ([\d,]+) credits/].map((of) =>
    figure(both ?? '', of),
  );
  expect(Math.abs((eu ?? 0) + (us ?? 0) - total)).toBeLessThanOrEqual(1);
  expect(posted('ops').map(textOf)[0]).toMatch(
    new RegExp(`^prod-us: Yesterday, Thu 19 Nov: ${us} credits`),
  );

  expect(await ask('/cost yesterday by organization', 'Thu 19 Nov (UTC)')).toMatch(
    /prod-eu[\s\S]*prod-us|prod-us[\s\S]*prod-eu/,
  );
  const lines = await ask('/cost 7d', '13–19 Nov (UTC)');
  expect(lines).toContain('prod-eu/analytics-prod');
  expect(lines).toContain('prod-us/analytics-prod');
  const one = await ask('/cost mtd prod-us', 'prod-us · 1–19 Nov (UTC)');
  expect(one).not.toContain('prod-eu');
  expect(one).toContain('November heading for');
  const preview = await ask('/cost digest preview service=prod-us/staging', 'prod-us/staging: ');
  expect(preview).toContain('Yesterday');
  await ask('/cost digest preview service=staging', 'names no service: “staging”');
  const budgets = await ask('/cost budget', 'Budgets · ');
  const [all, europe] = budgets
    .split('europe:')
    .map((text) => figure(text, /· ([\d,]+) of 50,000/));
  expect(europe).toBeGreaterThan(0);
  expect(all).toBeGreaterThan(europe ?? 0);
});

test('one organization down: the others go on, and what is without it says so', async () => {
  const { sandbox, other, at, posted, ask } = await started();
  await expect.poll(() => posted('db-costs').length).toBe(1);
  other.injectFault({ operation: 'usage cost', fault: '403', times: 999 });
  await at('2026-11-21T08:30:30Z');
  await expect.poll(() => posted('db-costs').length).toBe(2);
  const digest = textOf(posted('db-costs')[1] ?? NO_MESSAGE);
  expect(digest).toMatch(/^Yesterday(, Fri 20 Nov)?: [\d,]+ credits so far without prod-us/);
  expect(digest).toContain('prod-us: not known');
  expect(digest).toMatch(/Figures of prod-us are missing/);
  expect(digest).toContain('November not known');
  const answer = await ask('/cost mtd', 'without prod-us · 1–20 Nov (UTC)');
  expect(answer).not.toContain('heading for');
  expect(await ask('/cost mtd prod-eu', 'prod-eu · 1–20 Nov')).toContain('November heading for');
  const budgets = await ask('/cost budget', 'Budgets · ');
  expect(budgets).toContain('both: not known');
  expect(budgets).toContain('europe: within');
  expect(sandbox.cloud.count('usage cost')).toBeGreaterThan(0);
});
