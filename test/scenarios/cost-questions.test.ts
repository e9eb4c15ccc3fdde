import { expect, test } from 'vitest';
import { CLOUD_KEY, ORGANIZATION } from '../../sandbox/seed/organization.ts';
import { textOf } from '../harness/messages.ts';
import { changeIdOf, requestAndApprove } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, DORA } from '../harness/users.ts';

interface ReportRow {
  readonly serviceId: string | null;
  readonly metrics: Readonly<Record<string, number>>;
  readonly totalCredits: number;
}

/** The rows as the server reports them, without any code of the bot. */
async function report({ cloud }: TestSandbox, from: string, to: string): Promise<ReportRow[]> {
  const { id, secret } = CLOUD_KEY;
  const url = `${cloud.url}/v1/organizations/${ORGANIZATION.id}/usageCost?from_date=${from}&to_date=${to}`;
  const authorization = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
  const reply = await fetch(url, { headers: { authorization } });
  const body = (await reply.json()) as { result: { costs: ReportRow[] } };
  return body.result.costs;
}

/** The sum in whole ten-thousandths of a credit, which is how the server rounds. */
function sumOf(amounts: readonly number[]): number {
  return amounts.reduce((all, amount) => all + Math.round(amount * 10_000), 0) / 10_000;
}

/** The number as the bot writes it. */
function figure(credits: number): string {
  const digits = credits < 1 ? 2 : 1;
  const decimals = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return credits.toLocaleString('en-US', decimals);
}

const total = (rows: readonly ReportRow[]) => sumOf(rows.map(({ totalCredits }) => totalCredits));

/** The rows of a service. */
function ofService(rows: readonly ReportRow[], name: string): readonly ReportRow[] {
  const id = ORGANIZATION.services.find((one) => one.name === name)?.id;
  return rows.filter(({ serviceId }) => serviceId === id);
}

/** The sum of one metric. */
function metric(rows: readonly ReportRow[], name: string): number {
  return sumOf(rows.map(({ metrics }) => metrics[name] ?? 0));
}

test('which metrics of a service: every line is what the server reports', async () => {
  const sandbox = await startTestSandbox();
  const line = '/cost october analytics-prod by metric';
  const answer = await sandbox.answer(ANA, line, 'October 2026');
  const own = ofService(await report(sandbox, '2026-10-01', '2026-10-31'), 'analytics-prod');
  for (const [name, field] of [
    ['compute', 'computeCredits'],
    ['public data transfer', 'publicDataTransferCredits'],
    ['data transfer', 'dataTransferCredits'],
  ] as const) {
    const credits = figure(metric(own, field));
    expect(answer).toMatch(new RegExp(`"text":"${name}".*?"text":"${credits}"`));
  }
  expect(answer).toContain(`analytics-prod · October 2026 (UTC): ${figure(total(own))} credits`);
});

test('the month-end estimate is the same in /cost forecast and in /cost mtd', async () => {
  const sandbox = await startTestSandbox();
  const forecast = await sandbox.answer(ANA, '/cost forecast', 'November 2026: heading for');
  const [, expected = ''] = /heading for ([\d,]+) credits/.exec(forecast) ?? [];
  expect(forecast).toContain('About 80% sure, if usage does not change');
  const month = await sandbox.answer(ANA, '/cost mtd', ` · November heading for ${expected}`);
  expect(month).toContain('1–19 Nov (UTC)');

  // The same again from the report: what is reported of two weeks, for each day of the month.
  const weeks = await report(sandbox, '2026-10-26', '2026-11-08');
  const day = total(weeks) / 14;
  const estimate = numberIn(expected);
  expect(estimate / (30 * day)).toBeGreaterThan(0.85);
  expect(estimate / (30 * day)).toBeLessThan(1.15);
});

const numberIn = (text: string) => Number(text.replaceAll(',', '').replace('−', '-'));

test('why: a scale explains the largest change, and the changes add up to what the server reports', async () => {
  const sandbox = await startTestSandbox();
  sandbox.cloud.behave({ costLocking: { days: 3, batchDays: 1, stragglers: 0 } });
  await requestAndApprove(sandbox, '/service scale staging min=64 max=128 load run');
  const card = await sandbox.card('staging is scaling');
  sandbox.clock.now = new Date('2026-11-28T12:00Z');
  const answer = await sandbox.answer(DORA, '/cost why 7d', '21–27 Nov vs 14–20 Nov');
  expect(answer).toContain('Changes of these services, 14–27 Nov');
  expect(answer).toContain(`Scale staging · <@${ANA}> · ${changeIdOf(card)}`);

  const [before, now] = [
    await report(sandbox, '2026-11-14', '2026-11-18'),
    await report(sandbox, '2026-11-21', '2026-11-25'),
  ];
  const compute = (rows: readonly ReportRow[]) =>
    metric(ofService(rows, 'staging'), 'computeCredits');
  expect(answer).toContain(`Total: ${figure(total(before))} → ${figure(total(now))} credits`);
  const lines = answer.split('\n').filter((line) => /^• .* [+−][\d.,]+( \(.*\))?$/.test(line));
  expect(lines[0]).toBe(`• staging · compute +${figure(compute(now) - compute(before))} (×3.9)`);
  expect(lines.at(-1)).toMatch(/^• \d+ others? /);
  const changes = lines.map((line) => numberIn(/([+−][\d.,]+)( \(|$)/.exec(line)?.[1] ?? ''));
  const sum = changes.reduce((all, change) => all + change, total(before));
  // Each shown change is rounded to a tenth of a credit.
  expect(Math.abs(sum - total(now))).toBeLessThanOrEqual(0.05 * changes.length + 0.001);
});

test('the comparison of two periods has a button that asks why', async () => {
  const sandbox = await startTestSandbox();
  const answer = await sandbox.ask(ANA, '/cost 7d vs prev staging', 'staging · 13–19 Nov');
  expect(textOf(answer)).toContain(
    '"cost why 2026-11-13..2026-11-19 by service only staging vs prev"',
  );
  await sandbox.press(ANA, answer, 'command.1');
  const why = textOf(await sandbox.privateMessage(ANA, '13–19 Nov vs 6–12 Nov'));
  expect(why).toContain('staging · compute');
  expect(why).toContain('No change of these services ran in Signalbox (6–19 Nov).');
});
