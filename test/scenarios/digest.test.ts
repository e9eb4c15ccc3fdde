import { expect, test } from 'vitest';
import { sandboxWorkspace } from '../../sandbox/slack/workspace/sandbox-workspace.ts';
import { append, openLog, readKeys } from '../../src/log/index.ts';
import { openStore } from '../../src/storage/index.ts';
import { textOf } from '../harness/messages.ts';
import { waitUntilIdle } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { emptyUrl } from '../storage/engines.ts';

type File = Record<string, unknown>;

/** The configuration file with these digests. */
function withDigests(...digests: readonly File[]) {
  return (file: File) => ({ ...file, digests });
}

const berlin = { channel: '#db-costs', at: '09:30', timezone: 'Europe/Berlin', days: 'weekdays' };

function posted(sandbox: TestSandbox, channel = 'db-costs') {
  return sandbox.slack.messages(channel).filter(({ threadTs }) => threadTs === null);
}

/** Sets the clock, and waits until all due work is done. */
async function at(sandbox: TestSandbox, time: string): Promise<void> {
  sandbox.clock.now = new Date(time);
  sandbox.wake();
  await waitUntilIdle(sandbox);
}

test('a digest on weekdays is posted once per day, and names the weekend on Monday', async () => {
  const databaseUrl = await emptyUrl('sqlite');
  const sandbox = await startTestSandbox({ databaseUrl, yaml: withDigests(berlin) });
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
  const sandbox = await startTestSandbox({ databaseUrl, yaml: withDigests(berlin) });
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
  const sandbox = await startTestSandbox({ databaseUrl, yaml: withDigests(berlin) });
  const other = await sandbox.replica();
  await expect.poll(() => posted(sandbox).length).toBe(1);
  sandbox.clock.now = new Date('2026-11-23T08:31Z');
  sandbox.wake();
  other.wake();
  await expect.poll(() => posted(sandbox).length).toBe(2);
  await waitUntilIdle(sandbox);
  expect(posted(sandbox)).toHaveLength(2);
});

test('nothing is posted to a channel that is shared with another workspace, and the operators are notified', async () => {
  const shared = { ...berlin, channel: '#shared-partners' };
  const sandbox = await startTestSandbox({ yaml: withDigests(shared) });
  const audit = () =>
    sandbox.slack
      .messages('db-audit')
      .map(textOf)
      .filter((text) => !text.includes('Audit trail on'));
  await expect.poll(() => audit().join()).toContain('shared with another workspace');
  expect(posted(sandbox, 'shared-partners')).toEqual([]);
  await at(sandbox, '2026-11-20T12:40Z');
  expect(audit()).toHaveLength(1);
});

test('a channel that is archived at run time gets no digest, and the operators are notified once', async () => {
  const sandbox = await startTestSandbox({ yaml: withDigests({ ...berlin, at: '14:00' }) });
  await waitUntilIdle(sandbox);
  sandbox.slack.admin.archive('db-costs');
  await at(sandbox, '2026-11-20T13:01Z');
  await at(sandbox, '2026-11-20T19:05Z');
  await at(sandbox, '2026-11-20T20:00Z');
  expect(posted(sandbox)).toEqual([]);
  const audit = sandbox.slack.messages('db-audit').map(textOf);
  expect(audit.filter((text) => text.includes('#db-costs'))).toHaveLength(1);
});

test('a digest waits while the channel lookup fails, and is posted later', async () => {
  const sandbox = await startTestSandbox({ yaml: withDigests({ ...berlin, at: '14:00' }) });
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
  const digest = { ...berlin, at: '14:00' };
  const sandbox = await startTestSandbox({ databaseUrl, yaml: withDigests(digest) });
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

test('a crash before a post is reported once, and nothing is posted', async () => {
  const databaseUrl = await emptyUrl('sqlite');
  const digest = { ...berlin, at: '14:00' };
  const sandbox = await startTestSandbox({ databaseUrl, yaml: withDigests(digest) });
  await waitUntilIdle(sandbox);
  await sandbox.down();
  const crashedAt = Date.parse('2026-11-20T13:00Z');
  const store = await openStore(databaseUrl, { now: () => crashedAt });
  const { key, previousKeys: previous } = sandbox.config;
  const log = await openLog(store, readKeys({ databaseUrl, key, previous }));
  const event = { type: 'posting', nonce: 'crashed', until: crashedAt + 600_000 } as const;
  const stream = 'digest/#db-costs/2026-11-20' as const;
  await append(log, async () => ({ events: [{ stream, event }], result: null }));
  await store.close();

  sandbox.clock.now = new Date('2026-11-20T13:05Z');
  await sandbox.restart();
  const missed = () =>
    sandbox.slack
      .messages('db-audit')
      .map(textOf)
      .filter((text) => text.includes('Fri 20 Nov was not posted: Signalbox stopped'));
  await waitUntilIdle(sandbox);
  expect(missed()).toEqual([]);
  await at(sandbox, '2026-11-20T13:36Z');
  await at(sandbox, '2026-11-20T14:07Z');
  await expect.poll(missed).toHaveLength(1);
  expect(posted(sandbox)).toEqual([]);
});

test('a digest without a current usage report shows the error and the age of its figures', async () => {
  const sandbox = await startTestSandbox({ yaml: withDigests(berlin) });
  await expect.poll(() => posted(sandbox).length).toBe(1);
  sandbox.cloud.injectFault({ operation: 'usage cost', fault: '403', times: 50 });
  await at(sandbox, '2026-11-23T08:31Z');
  await expect.poll(() => posted(sandbox).length).toBe(2);
  const text = textOf(posted(sandbox)[1] ?? { text: '', blocks: [] });
  expect(text).toContain('These figures are from 2026-11-20 12:00 UTC');
  expect(text).toContain('FORBIDDEN');
  expect(text).not.toMatch(/[^.\d]0 credits/);
});

test('digests for 60 channels at the same time fetch each month once', async () => {
  const names = Array.from({ length: 60 }, (_, index) => `team-${index + 1}`);
  const [first] = sandboxWorkspace.channels;
  const rooms = names.map((name, index) => ({
    ...(first ?? expect.fail('there is no channel')),
    id: `C0TEAM${String(index).padStart(5, '0')}`,
    name,
    members: [sandboxWorkspace.botUserId],
  }));
  const workspace = { ...sandboxWorkspace, channels: [...sandboxWorkspace.channels, ...rooms] };
  const digests = names.map((name) => ({ ...berlin, at: '14:00', channel: `#${name}` }));
  const sandbox = await startTestSandbox({
    workspace,
    rateLimits: 'hard',
    yaml: withDigests(...digests),
  });
  const reads = () =>
    sandbox.cloud.requests().filter(({ operation }) => operation === 'usage cost');
  // The first read finds the form of dates that the server accepts; another form needs a second request.
  await expect.poll(() => reads().some(({ status }) => status === 200)).toBe(true);
  await waitUntilIdle(sandbox);
  const before = reads().length;
  const heads = () => names.filter((name) => posted(sandbox, name).length > 0);
  await at(sandbox, '2026-11-20T13:01Z');
  // Slack lets an app read 50 channels per minute, and each is read before its post.
  const later = async () => {
    await at(sandbox, new Date(sandbox.clock.now.getTime() + 10_000).toISOString());
    return heads().length;
  };
  for (const most of [50, 60]) await expect.poll(later).toBeGreaterThanOrEqual(most);
  const windows = reads()
    .slice(before)
    .map(({ path }) => path);
  expect(windows).toEqual([...new Set(windows)]);
  expect(windows.length).toBeLessThan(6);
  expect(names.filter((name) => posted(sandbox, name).length > 1)).toEqual([]);
  // One list for all of them, and not one lookup for each.
  expect(sandbox.slack.calls('conversations.info').length).toBeLessThan(20);
});
