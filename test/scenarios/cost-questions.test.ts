import { expect, test } from 'vitest';
import { CLOUD_KEY, ORGANIZATION } from '../../sandbox/seed/organization.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA } from '../harness/users.ts';

interface ReportRow {
  readonly date: string;
  readonly serviceId: string | null;
  readonly dataWarehouseId: string | null;
  readonly metrics: Readonly<Record<string, number>>;
  readonly totalCredits: number;
}

/** The rows as the server reports them, without any code of the bot. */
async function report(sandbox: TestSandbox, from: string, to: string): Promise<ReportRow[]> {
  const { id, secret } = CLOUD_KEY;
  const url = `${sandbox.cloud.url}/v1/organizations/${ORGANIZATION.id}/usageCost?from_date=${from}&to_date=${to}`;
  const authorization = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
  const reply = await fetch(url, { headers: { authorization } });
  const body = (await reply.json()) as { result: { costs: ReportRow[] } };
  return body.result.costs;
}

/** The sum as the bot writes it, from whole ten-thousandths of a credit. */
function creditsOf(amounts: readonly number[]): string {
  const sum = amounts.reduce((all, amount) => all + Math.round(amount * 10_000), 0) / 10_000;
  const decimals = sum < 1 ? 2 : 1;
  return sum.toLocaleString('en-US', {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
}

function idOf(name: string): string {
  return ORGANIZATION.services.find((one) => one.name === name)?.id ?? '';
}

test('which metrics of a service: every line is what the server reports', async () => {
  const sandbox = await startTestSandbox();
  const answer = await sandbox.answer(
    ANA,
    '/cost october analytics-prod by metric',
    'October 2026',
  );
  const rows = await report(sandbox, '2026-10-01', '2026-10-31');
  const own = rows.filter(({ serviceId }) => serviceId === idOf('analytics-prod'));
  const metric = (name: string) => creditsOf(own.map(({ metrics }) => metrics[name] ?? 0));
  const line = (...cells: string[]) => cells.map((text) => `"text":"${text}"`).join('.*?');
  const figures = [
    ['compute', metric('computeCredits')],
    ['public data transfer', metric('publicDataTransferCredits')],
    ['data transfer', metric('dataTransferCredits')],
  ];
  for (const [name = '', credits = ''] of figures) {
    expect(answer).toMatch(new RegExp(line(name, credits)));
  }
  const all = creditsOf(own.map(({ totalCredits }) => totalCredits));
  expect(answer).toContain(`analytics-prod · October 2026 (UTC): ${all} credits`);
});

test('the month-end estimate is the same in /cost forecast and in /cost mtd', async () => {
  const sandbox = await startTestSandbox();
  const forecast = await sandbox.answer(ANA, '/cost forecast', 'November 2026: heading for');
  const [, total = ''] = /heading for ([\d,]+) credits/.exec(forecast) ?? [];
  expect(forecast).toContain('About 80% sure, if usage does not change');
  expect(await sandbox.answer(ANA, '/cost mtd', ` · November heading for ${total}`)).toContain(
    '1–19 Nov (UTC)',
  );

  // The same again from the report: what is reported of two weeks, for each day of the month.
  const weeks = await report(sandbox, '2026-10-26', '2026-11-08');
  const day = weeks.reduce((sum, { totalCredits }) => sum + totalCredits, 0) / 14;
  const estimate = Number(total.replaceAll(',', ''));
  expect(estimate / (30 * day)).toBeGreaterThan(0.85);
  expect(estimate / (30 * day)).toBeLessThan(1.15);
});
