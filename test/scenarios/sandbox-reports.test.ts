import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { sandboxYamlWithReports } from '../../sandbox/configuration.ts';
import { scanAt } from './anomaly-scan.ts';
import { empty } from './request.ts';
import { DORA, openStage, textOf } from './stage.ts';

test('the sandbox starts with a digest, budgets and an anomaly', async () => {
  const stage = await openStage({ yaml: () => parse(sandboxYamlWithReports()) });
  const digest = textOf((await stage.card('Cost · Tue 17 Nov', 'db-costs')) ?? empty);
  for (const budget of ['everything', 'production']) expect(digest).toContain(budget);

  const answer = async (line: string, words: string) => {
    await stage.slack.command(DORA, 'ops', line);
    return (await stage.privateWord(DORA, words))?.text;
  };
  expect(await answer('/cost digest list', '2 cost digests')).toContain('#db-costs');
  const budgets = await answer('/cost budget', 'Budgets · ');
  expect(budgets).toMatch(/everything\nSpent {2}.*of 9,000/);
  expect(budgets).toMatch(/production\nSpent {2}.*of 5,500/);

  await scanAt(stage, '2026-11-20T12:02:00.000Z');
  await stage.card('almost certainly over', 'db-costs');
  expect(await answer('/cost anomalies', 'Last scan')).toContain('analytics-dev · compute');
});
