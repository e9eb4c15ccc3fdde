import { expect } from 'vitest';
import { textOf } from '../harness/messages.ts';
import { ANALYTICS } from '../harness/requests.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, CLEO, GUS } from '../harness/users.ts';
import { emptyUrl, onEngines } from '../storage/engines.ts';

onEngines('a hundred presses by three approvers send one request', async (engine) => {
  const sandbox = await startTestSandbox({ databaseUrl: await emptyUrl(engine) });
  await sandbox.confirm(
    ANA,
    '/service stop analytics-prod nightly maintenance',
    'Stop analytics-prod?',
  );
  const card = await sandbox.card('requests: ');

  const approvers = [BEN, CLEO, GUS];
  const presses = Array.from({ length: 100 }, (_, index) =>
    sandbox.press(approvers[index % 3] ?? BEN, card, 'change.approve'),
  );
  await Promise.all(presses);
  const ended = await sandbox.card('analytics-prod is stopping');
  expect(textOf(ended ?? { text: '', blocks: [] })).toContain('(2 of 2)');
  expect(sandbox.cloud.count('set state')).toBe(1);
  expect(sandbox.cloud.effectCount('set state', ANALYTICS)).toBe(1);
});
