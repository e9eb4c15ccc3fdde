import { expect, test } from 'vitest';
import { startExtended } from '../harness/following.ts';
import { buttonsOf, textOf } from '../harness/messages.ts';
import { cardAfterRetries, requestChange, STAGING } from '../harness/requests.ts';
import type { TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, FINN } from '../harness/users.ts';

async function approved(sandbox: TestSandbox, line: string) {
  const card = await requestChange(sandbox, ANA, line);
  // The window of the request budget passes.
  sandbox.pass(11_000);
  return () => sandbox.press(BEN, card, 'change.approve');
}

test('what has no effect is not requested: the opposite and the facts are offered', async () => {
  const sandbox = await startExtended();
  const stopped = 'archive is already stopped (checked just now)';
  const answer = await sandbox.answer(ANA, '/service stop archive', stopped);
  for (const words of ['Start it…', 'Show it']) expect(answer).toContain(words);
  expect(answer).not.toContain('change.confirm');
});

test('a refused read leaves the command usable, and the preview says why', async () => {
  const sandbox = await startExtended();
  sandbox.cloud.injectFault({ operation: 'get service', fault: '403', times: 9 });
  const preview = await sandbox.ask(ANA, '/service stop staging', 'Stop staging?');
  const unknown = 'Current state unknown: the API key has no permission to read it (403)';
  expect(preview.text).toContain(unknown);
  expect(preview.text).toContain('never seen');
});

test('a read that gets no answer is dropped after 10 s', async () => {
  const sandbox = await startExtended();
  sandbox.cloud.injectFault({ operation: 'get service', fault: 'hang', times: 9 });
  await sandbox.slack.command(ANA, 'ops', '/service stop staging');
  const texts = () => {
    sandbox.elapse(10_000);
    return sandbox.slack.clientState(ANA).messages.map(textOf).join('\n');
  };
  await expect.poll(texts).toContain('Current state unknown: ');
});

test('a stop of a service that someone stopped is not sent, and can be requested again', async () => {
  const sandbox = await startExtended();
  const approve = await approved(sandbox, '/service stop staging for the night');
  sandbox.cloud.setServiceState(STAGING, 'stopped');
  await approve();
  const stale = await cardAfterRetries(sandbox, 'not run: the target changed since the preview');
  expect(stale?.text).toContain('State  was running, is now stopped');
  expect(buttonsOf(stale)).toContain('change.request-again');
  expect(sandbox.cloud.count('set state')).toBe(0);

  sandbox.cloud.setServiceState(STAGING, 'running');
  sandbox.pass(11_000);
  await sandbox.press(FINN, stale, 'change.request-again');
  const again = await sandbox.privateMessage(FINN, 'Stop staging?');
  expect(again?.text).toContain('for the night');
});

test('the card names the later change that explains the difference', async () => {
  const sandbox = await startExtended();
  const first = await approved(sandbox, '/service scale staging max=64');
  const preview = await sandbox.ask(FINN, '/service scale staging min=16 max=48', 'Scale staging?');
  await sandbox.press(FINN, preview, 'change.confirm');
  const second = await sandbox.card(`<@${FINN}> requests: `);
  sandbox.pass(11_000);
  await sandbox.press(BEN, second, 'change.approve');
  await cardAfterRetries(sandbox, 'staging is scaling');
  await first();
  const stale = await cardAfterRetries(sandbox, 'not run: the target changed since the preview');
  expect(stale?.text).toMatch(
    new RegExp(`was 8–32 GB, is now 16–48 GB \\(<@${FINN}>, .*, [0-9A-Z]{6}\\)`),
  );
});

test('a read that fails is repeated for two minutes, then the change is sent unverified', async () => {
  const sandbox = await startExtended();
  const approve = await approved(sandbox, '/service stop staging for the night');
  const reads = sandbox.cloud.count('get service');
  const before = sandbox.clock.now.getTime();
  sandbox.cloud.injectFault({ operation: 'get service', fault: '504', times: 999 });
  await approve();
  const sent = await cardAfterRetries(sandbox, 'staging is stopping');
  expect(sent?.text).toContain('State not verified before sending: ');
  expect(sandbox.clock.now.getTime() - before).toBeGreaterThanOrEqual(120_000);
  expect(sandbox.cloud.count('get service') - reads).toBeGreaterThan(3);
  expect(sandbox.cloud.effectCount('set state', STAGING)).toBe(1);
});

test('a conflict after which the service is as it was is a failure, not an unknown outcome', async () => {
  const sandbox = await startExtended();
  const approve = await approved(sandbox, '/service stop staging for the night');
  sandbox.cloud.setServiceState(STAGING, 'starting');
  await approve();
  const card = await cardAfterRetries(sandbox, 'Stop staging: rejected by the server');
  expect(card?.text).toContain('409');
  expect(card?.text).toContain('Nothing was changed.');
  // Nothing is locked.
  sandbox.cloud.setServiceState(STAGING, 'running');
  const again = await sandbox.ask(ANA, '/service stop staging again', 'Stop staging?');
  expect(again?.text).not.toContain('outcome unknown');
});

test('a revert is not sent if the size was changed in the console meanwhile', async () => {
  const sandbox = await startExtended();
  // The reply to the read right after the change can still have the previous size.
  const approve = await approved(sandbox, '/service scale staging max=64 for=2h');
  await approve();
  await cardAfterRetries(sandbox, 'Scale staging: planned');
  sandbox.cloud.scaleInConsole(STAGING, { maxReplicaMemoryGb: 128 }, 'a person');
  sandbox.pass(2 * 3_600_000);
  const stale = await cardAfterRetries(sandbox, 'not run: the target changed since the preview');
  expect(stale?.text).toContain('was 8–64 GB, is now 8–128 GB');
  expect(sandbox.cloud.effectCount('scale', STAGING)).toBe(1);
});
