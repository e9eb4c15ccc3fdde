import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { sandboxYamlWithReports } from '../../sandbox/configuration.ts';
import { textOf } from '../harness/messages.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { DORA, NOON } from '../harness/users.ts';

test('the sandbox starts with a digest and budgets', async () => {
  const sandbox = await startTestSandbox({ yaml: () => parse(sandboxYamlWithReports({}, NOON)) });
  const digest = textOf(await sandbox.card('Yesterday, Thu 19 Nov: ', 'db-costs'));
  expect(digest).toMatch(/credits so far[\s\S]*November [\d,]+ of 9,000/);

  const answer = async (line: string, words: string) => {
    await sandbox.slack.command(DORA, 'ops', line);
    return (await sandbox.privateMessage(DORA, words))?.text;
  };
  expect(await answer('/cost digest list', '2 cost digests')).toContain('#db-costs');
  const budgets = await answer('/cost budget', 'Budgets · ');
  expect(budgets).toMatch(/^everything: within\nSpent/m);
  expect(budgets).toMatch(/^⚠ production: heading over\nSpent/m);
  expect(await answer('/cost anomalies', 'in 15 lines')).toContain('reported from');
});
