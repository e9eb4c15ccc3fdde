import { expect, test } from 'vitest';
import { buttonsOf, textOf } from '../harness/messages.ts';
import { REFUSED } from '../harness/refused.ts';
import { changeIdOf } from '../harness/requests.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, CLEO } from '../harness/users.ts';
import { emptyUrl, onEngines } from '../storage/engines.ts';

const ANALYTICS = '2f7c9d34-5f0e-4f0a-8f58-0f6f0b1c2d3e';

onEngines('a stop is previewed, confirmed, approved twice and sent once', async (engine) => {
  const sandbox = await startTestSandbox({ databaseUrl: await emptyUrl(engine) });
  const { slack, cloud } = sandbox;

  const typed = await slack.command(ANA, 'ops', '/service stop analytics-prod nightly maintenance');
  expect(typed.error).toBeNull();
  const preview = await sandbox.privateMessage(ANA, 'Stop analytics-prod?');
  expect(textOf(preview ?? { text: '', blocks: [] })).toContain('nightly maintenance');
  expect(slack.messages('db-approvals')).toHaveLength(0);

  await sandbox.press(ANA, preview, 'change.confirm');
  const card = await sandbox.card('requests: ');
  await sandbox.press(BEN, card, 'change.approve');
  await sandbox.card('1 of 2');
  expect(cloud.count('set state')).toBe(0);

  await sandbox.press(CLEO, card, 'change.approve');
  const ended = await sandbox.card('analytics-prod is stopping');
  expect(textOf(ended ?? { text: '', blocks: [] })).toContain('stopping');
  expect(buttonsOf(ended ?? { text: '', blocks: [] })).toEqual(['change.undo', 'change.details']);

  expect(cloud.effectCount('set state', ANALYTICS)).toBe(1);
  const request = cloud.requests().find(({ operation }) => operation === 'set state');
  expect(request).toMatchObject({ method: 'PATCH', body: { command: 'stop' }, status: 200 });
  // The note before the request, and the ending.
  await expect
    .poll(() => slack.messages('db-approvals').filter(({ threadTs }) => threadTs === card?.ts))
    .toHaveLength(2);
});

test('each press on a waiting card is answered: by whom, what is needed, and what is too late', async () => {
  const sandbox = await startTestSandbox();
  const line = '/service stop analytics-prod nightly maintenance';
  await sandbox.confirm(ANA, line, 'analytics-prod?');
  const card = await sandbox.card('requests: ');

  await sandbox.press(ANA, card, 'change.approve');
  const own = await sandbox.privateMessage(ANA, 'someone else must approve it: ');
  expect(own?.text).toMatch(/approve it: (<@U\w+>(, | or )?){3}\.$/);

  await sandbox.press(BEN, card, 'change.approve');
  await sandbox.privateMessage(BEN, 'Approved. 1 more approval from @db-leads is needed.');
  await sandbox.press(BEN, card, 'change.approve');
  await sandbox.privateMessage(BEN, `${REFUSED.alreadyApproved}, `);
  expect(sandbox.cloud.count('set state')).toBe(0);

  await sandbox.press(CLEO, card, 'change.approve');
  await sandbox.card('analytics-prod is stopping');
  await sandbox.ask(
    ANA,
    `/change cancel ${changeIdOf(card)}`,
    'Too late to cancel: it was accepted.',
  );
  const answers = sandbox.slack.clientState(CLEO).messages.map(({ text }) => text);
  expect(answers.filter((text) => text.startsWith('Approved.'))).toEqual([]);
});
