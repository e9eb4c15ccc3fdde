import { expect, test } from 'vitest';
import { CLOUD_KEY, ORGANIZATION } from '../../sandbox/seed/organization.ts';
import { textOf } from '../harness/messages.ts';
import { changeIdOf } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, DORA } from '../harness/users.ts';

async function scaleStaging(sandbox: TestSandbox) {
  await sandbox.confirm(ANA, '/service scale staging min=64 max=128 load run', 'Scale staging?');
  const card = await sandbox.card('requests: scale staging');
  await sandbox.press(BEN, card, 'change.approve');
  return sandbox.card('staging is scaling');
}

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
  const body = (await (await fetch(url, { headers: { authorization } })).json()) as {
    result: { costs: ReportRow[] };
  };
  return body.result.costs;
}

/** The sum in whole ten-thousandths of a credit, which is how the server rounds. */
function sumOf(amounts: readonly number[]): number {
  return amounts.reduce((all, amount) => all + Math.round(amount * 10_000), 0) / 10_000;
}

const number = (text: string) => Number(text.replaceAll(',', '').replace('−', '-'));
const total = (rows: readonly ReportRow[]) => sumOf(rows.map(({ totalCredits }) => totalCredits));

test('why: a scale explains the largest change, and the changes add up to what the server reports', async () => {
  const sandbox = await startTestSandbox();
  sandbox.cloud.behave({ costLocking: { days: 3, batchDays: 1, stragglers: 0 } });
  const card = await scaleStaging(sandbox);
  sandbox.clock.now = new Date('2026-11-28T12:00Z');
  await sandbox.slack.command(DORA, 'ops', '/cost why 7d');
  const answer = textOf(await sandbox.privateMessage(DORA, '21–27 Nov vs 14–20 Nov'));
  expect(answer).toContain('Changes of these services, 14–27 Nov');
  expect(answer).toContain(`Scale staging · <@${ANA}> · ${changeIdOf(card)}`);

  const [before, now] = [
    await report(sandbox, '2026-11-14', '2026-11-18'),
    await report(sandbox, '2026-11-21', '2026-11-25'),
  ];
  const staging = ORGANIZATION.services.find(({ name }) => name === 'staging')?.id;
  const compute = (rows: readonly ReportRow[]) =>
    sumOf(
      rows
        .filter(({ serviceId }) => serviceId === staging)
        .map(({ metrics }) => metrics.computeCredits ?? 0),
    );
  expect(answer).toContain(`Total: ${figure(total(before))} → ${figure(total(now))} credits`);
  const lines = answer.split('\n').filter((line) => /^• .* [+−][\d.,]+( \(.*\))?$/.test(line));
  expect(lines[0]).toBe(`• staging · compute +${figure(compute(now) - compute(before))} (×3.9)`);
  expect(lines.at(-1)).toMatch(/^• \d+ others? /);
  const changes = lines.map((line) => number(/([+−][\d.,]+)( \(|$)/.exec(line)?.[1] ?? ''));
  const sum = changes.reduce((all, change) => all + change, total(before));
  // Each shown change is rounded to a tenth of a credit.
  expect(Math.abs(sum - total(now))).toBeLessThanOrEqual(0.05 * changes.length + 0.001);
});

function figure(credits: number): string {
  return credits.toLocaleString('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 });
}

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
