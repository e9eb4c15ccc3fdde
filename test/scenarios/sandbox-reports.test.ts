import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { sandboxYamlWithReports } from '../../sandbox/configuration.ts';
import { textOf } from '../harness/messages.ts';
import { NO_MESSAGE } from '../harness/requests.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { DORA, NOON } from '../harness/users.ts';
import { scanAt } from './anomaly-scan.ts';

test('the sandbox starts with a digest, budgets and an anomaly', async () => {
  const sandbox = await startTestSandbox({ yaml: () => parse(sandboxYamlWithReports({}, NOON)) });
  const digest = textOf((await sandbox.card('Mon 16 Nov: ', 'db-costs')) ?? NO_MESSAGE);
  expect(digest).toMatch(/month heading for [\d,]+ of 9,000 · budget production heading over/);
  expect(digest).toMatch(/⚠ Budget production: heading for [\d,]+ of 5,500 \(\+\d+%\)/);

  const answer = async (line: string, words: string) => {
    await sandbox.slack.command(DORA, 'ops', line);
    return (await sandbox.privateMessage(DORA, words))?.text;
  };
  expect(await answer('/cost digest list', '2 cost digests')).toContain('#db-costs');
  const budgets = await answer('/cost budget', 'Budgets · ');
  expect(budgets).toMatch(/^everything: heading for [\d,]+ of 9,000 \(−\d+%\)\nSpent/m);
  expect(budgets).toMatch(/^⚠ production: heading for [\d,]+ of 5,500 \(\+\d+%\)\nSpent/m);

  await scanAt(sandbox, '2026-11-20T12:02:00.000Z');
  await sandbox.card('almost certainly over', 'db-costs');
  expect(await answer('/cost anomalies', 'Last scan')).toContain('analytics-dev · compute');
});
