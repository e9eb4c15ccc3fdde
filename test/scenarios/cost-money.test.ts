import { expect, test } from 'vitest';
import { CLOUD_KEY, ORGANIZATION } from '../../sandbox/seed/organization.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, DORA } from '../harness/users.ts';

const PRICES = [
  { perCredit: 0.32, currency: 'EUR', from: '2026-01-01' },
  { perCredit: 0.35, currency: 'EUR', from: '2026-11-04' },
];
const BUDGETS = [{ name: 'all', monthlyCredits: 9_000, notify: '#db-costs' }];

function withPrices(file: object): object {
  return { ...file, costs: { price: PRICES }, budgets: BUDGETS };
}

/**
 * The credits and the cents of the days as the server reports them, without any code of the bot: ten
 * thousandths of a credit times hundredths of the currency, as integers, rounded once.
 */
async function reported({ cloud }: TestSandbox, from: string, to: string) {
  const { id, secret } = CLOUD_KEY;
  const url = `${cloud.url}/v1/organizations/${ORGANIZATION.id}/usageCost?from_date=${from}&to_date=${to}`;
  const authorization = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
  const reply = await fetch(url, { headers: { authorization } });
  const { result } = (await reply.json()) as {
    result: { costs: readonly { date: string; totalCredits: number }[] };
  };
  let [credits, millionths] = [0, 0];
  for (const { date, totalCredits } of result.costs) {
    const parts = Math.round(totalCredits * 10_000);
    credits += parts;
    millionths += parts * (date < '2026-11-04' ? 32 : 35);
  }
  return { credits: credits / 10_000, cents: Math.round(millionths / 10_000) };
}

const decimals = (number: number, digits: number) =>
  number.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });

test('in money: a week is what the server reports, each day at its own price', async () => {
  const sandbox = await startTestSandbox({ yaml: withPrices });
  const answer = await sandbox.answer(DORA, '/cost 2026-11-01..2026-11-07', '1–7 Nov');
  const { credits, cents } = await reported(sandbox, '2026-11-01', '2026-11-07');
  const total = `${decimals(credits, 1)} credits (€${decimals(cents / 100, 2)})`;
  expect(answer).toContain(`1–7 Nov (UTC): ${total}\n`);
});

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
  const preview = await sandbox.ask(
    ANA,
    '/service stop analytics-prod nightly maintenance',
    'Stop analytics-prod?',
  );
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
