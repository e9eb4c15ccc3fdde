import { expect, test } from 'vitest';
import { textOf } from '../harness/messages.ts';
import { waitUntilIdle } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { emptyUrl } from '../storage/engines.ts';

/** The configuration file with this digest. */
function withDigest(digest: object) {
  return (file: object) => ({ ...file, digests: [digest] });
}

const berlin = { channel: '#db-costs', at: '09:30', timezone: 'Europe/Berlin', days: 'weekdays' };

function posted(sandbox: TestSandbox) {
  return sandbox.slack.messages('db-costs').filter(({ threadTs }) => threadTs === null);
}

/** Sets the clock, and waits until all due work is done. */
async function at(sandbox: TestSandbox, time: string): Promise<void> {
  sandbox.clock.now = new Date(time);
  sandbox.wake();
  await waitUntilIdle(sandbox);
}

test('a digest on weekdays is posted once per day, and names the weekend on Monday', async () => {
  const databaseUrl = await emptyUrl('sqlite');
  const sandbox = await startTestSandbox({ databaseUrl, yaml: withDigest(berlin) });
  await expect.poll(() => posted(sandbox).length).toBe(1);
  for (const time of ['2026-11-20T20:00Z', '2026-11-21T09:00Z', '2026-11-23T08:29Z']) {
    await at(sandbox, time);
  }
  expect(posted(sandbox)).toHaveLength(1);
  await at(sandbox, '2026-11-23T08:30:30Z');
  await expect.poll(() => posted(sandbox).length).toBe(2);
  const [friday, monday] = posted(sandbox).map(textOf);
  expect(friday).toContain('Yesterday, Thu 19 Nov: ');
  expect(friday).toContain('data_visualization');
  expect(monday).toContain('Yesterday, Sun 22 Nov: ');
  for (const day of ['Fri 20 Nov', 'Sat 21 Nov', 'Sun 22 Nov']) expect(monday).toContain(day);
  await sandbox.restart();
  await at(sandbox, '2026-11-23T12:00Z');
  expect(posted(sandbox)).toHaveLength(2);
  const threads = sandbox.slack.messages('db-costs').filter(({ threadTs }) => threadTs !== null);
  expect(threads.map(textOf)[1]).toContain('analytics-prod');
});

test('a digest that is six hours late is skipped, and the operators are notified once', async () => {
  const databaseUrl = await emptyUrl('sqlite');
  const sandbox = await startTestSandbox({ databaseUrl, yaml: withDigest(berlin) });
  await expect.poll(() => posted(sandbox).length).toBe(1);
  await at(sandbox, '2026-11-23T14:31Z');
  await at(sandbox, '2026-11-23T16:00Z');
  expect(posted(sandbox)).toHaveLength(1);
  const missed = 'Mon 23 Nov was not posted: six hours passed since its time;';
  const notices = () =>
    sandbox.slack.messages('db-audit').filter((one) => textOf(one).includes(missed)).length;
  await expect.poll(notices).toBe(1);
  await at(sandbox, '2026-11-24T08:31Z');
  await expect.poll(() => posted(sandbox).length).toBe(2);
  expect(posted(sandbox).map(textOf)[1]).toContain('not reported before: Fri 20 Nov ');
  expect(notices()).toBe(1);
});

test('with two replicas on one PostgreSQL database one of them posts', async () => {
  const databaseUrl = await emptyUrl('postgres');
  const sandbox = await startTestSandbox({ databaseUrl, yaml: withDigest(berlin) });
  const other = await sandbox.replica();
  await expect.poll(() => posted(sandbox).length).toBe(1);
  sandbox.clock.now = new Date('2026-11-23T08:31Z');
  sandbox.wake();
  other.wake();
  await expect.poll(() => posted(sandbox).length).toBe(2);
  await waitUntilIdle(sandbox);
  expect(posted(sandbox)).toHaveLength(2);
});

test('a digest waits while the channel lookup fails, and is posted later', async () => {
  const sandbox = await startTestSandbox({ yaml: withDigest({ ...berlin, at: '14:00' }) });
  await waitUntilIdle(sandbox);
  sandbox.slack.failNext({ method: 'conversations.info', times: 2, how: 'server-error' });
  await at(sandbox, '2026-11-20T13:01Z');
  expect(posted(sandbox)).toEqual([]);
  // The time of the next attempt is stored after Slack has counted the call.
  const later = async () => {
    await at(sandbox, new Date(sandbox.clock.now.getTime() + 60_000).toISOString());
    return posted(sandbox).length;
  };
  await expect.poll(later).toBe(1);
});

test('a post without an answer is found in the channel: it is neither repeated nor reported', async () => {
  const databaseUrl = await emptyUrl('sqlite');
  const yaml = withDigest({ ...berlin, at: '14:00' });
  const sandbox = await startTestSandbox({ databaseUrl, yaml });
  await waitUntilIdle(sandbox);
  sandbox.slack.failNext({ method: 'chat.postMessage', times: 1, how: 'reply-lost' });
  for (const time of ['13:01', '13:32', '15:00']) await at(sandbox, `2026-11-20T${time}Z`);
  expect(posted(sandbox)).toHaveLength(1);
  await sandbox.restart();
  await at(sandbox, '2026-11-20T16:00Z');
  expect(posted(sandbox)).toHaveLength(1);
  const audit = sandbox.slack.messages('db-audit').map(textOf);
  expect(audit.filter((text) => text.includes('#db-costs'))).toEqual([]);
});
