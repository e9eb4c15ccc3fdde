import { expect, test } from 'vitest';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA, DORA } from '../harness/users.ts';

const PRICES = [
  { perCredit: 0.32, currency: 'EUR', from: '2026-01-01' },
  { perCredit: 0.35, currency: 'EUR', from: '2026-11-04' },
];
const BUDGETS = [{ name: 'all', monthlyCredits: 9_000, notify: '#db-costs' }];

function withPrices(file: object): object {
  return { ...file, costs: { price: PRICES }, budgets: BUDGETS };
}

test.for<[string, RegExp]>([
  ['/cost forecast', /^November 2026: heading for .* · €[\d,]+$/m],
  ['/cost mtd', / credits \(€[\d,.]+\) so far · November heading for [\d,]+ \(€[\d,]+\)$/m],
  ['/cost forecast quarter', /^1 Oct – 31 Dec: heading for .* · €[\d,]+$/m],
  ['/cost budget', /Spent.* of 9,000 \(€[\d,]+\)/m],
  ['/cost digest preview', /^Yesterday.*: [\d,.]+ credits \(€[\d,.]+\)/m],
])('in money: the totals of %s have money beside them', async ([line, total]) => {
  const sandbox = await startTestSandbox({ yaml: withPrices });
  expect(await sandbox.answer(DORA, line, '€')).toMatch(total);
});

test('in money: a change shows its estimated cost, and Home shows yesterday', async () => {
  const sandbox = await startTestSandbox({ yaml: withPrices });
  const line = '/service stop analytics-prod nightly maintenance';
  const preview = await sandbox.ask(ANA, line, 'Stop analytics-prod?');
  expect(JSON.stringify(preview.blocks)).toMatch(
    /−[\d.]+ credits \(−€[\d.]+\) per day \(−[\d.]+ on quiet days, −[\d.]+ on busy days\)/,
  );
  await sandbox.answer(DORA, '/cost mtd', '1–19 Nov');
  await sandbox.slack.openHome({ as: ANA });
  const home = () => JSON.stringify(sandbox.slack.clientState(ANA).home ?? []);
  await expect.poll(home).toContain('Yesterday ');
  const [, credits, money] = /Yesterday ([\d.]+) credits \(€([\d.]+)\) so far/.exec(home()) ?? [];
  expect(Math.abs(Number(money) - Number(credits) * 0.35)).toBeLessThan(0.02);
});
