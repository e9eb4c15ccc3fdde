import { expect, test } from 'vitest';
import { eventsIn } from '../harness/read-log.ts';
import { requestChange, setTime, waitUntilIdle } from '../harness/requests.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN } from '../harness/users.ts';
import { emptyUrl } from '../storage/engines.ts';

const [OLD, NEW] = [7, 8].map((byte) => Buffer.alloc(32, byte)) as [Buffer, Buffer];
const variables = (current: Buffer, previous: Buffer | null) => ({
  SIGNALBOX_KEY: current.toString('base64'),
  SIGNALBOX_PREVIOUS_KEYS: previous?.toString('base64') ?? '',
});
const BEFORE = variables(OLD, NEW);
const AFTER = variables(NEW, OLD);

async function readyText(port: number): Promise<string> {
  return (await fetch(`http://127.0.0.1:${port}/readyz`)).text();
}

async function keyChanges(url: string): Promise<number> {
  return (await eventsIn(url, 'key-changed')).length;
}

test('open changes continue after all replicas were started with a new key', async () => {
  const url = await emptyUrl('postgres');
  const sandbox = await startTestSandbox({ databaseUrl: url, env: BEFORE });
  const second = await sandbox.replica();
  const stop = await requestChange(sandbox);
  await second.stop();
  await sandbox.down();

  sandbox.setEnv(AFTER);
  await sandbox.restart();
  const after = await sandbox.replica();
  // The four starts have used up what the key may send within ten seconds.
  setTime(sandbox, '12:01');
  await sandbox.press(BEN, stop, 'change.approve');
  await sandbox.card('staging is stopping');
  setTime(sandbox, '12:05');
  const start = await requestChange(sandbox, ANA, '/service start staging again');
  await sandbox.press(BEN, start, 'change.approve');
  await sandbox.card('staging is starting');

  expect(sandbox.cloud.count('set state')).toBe(2);
  await expect.poll(() => readyText(after.port)).toBe('ready\n');
  expect(await keyChanges(url)).toBe(1);
});

test('a replica with the earlier key writes nothing, and harms nothing', async () => {
  const url = await emptyUrl('postgres');
  const sandbox = await startTestSandbox({ databaseUrl: url, env: BEFORE });
  const card = await requestChange(sandbox);
  sandbox.setEnv(AFTER);
  const after = await sandbox.replica();
  await expect.poll(() => readyText(after.port)).toBe('ready\n');

  // Slack delivers to the first replica, whose key was replaced.
  await sandbox.press(BEN, card, 'change.approve');
  await waitUntilIdle(sandbox);
  expect(await eventsIn(url, 'approved', 'stale', 'denied')).toEqual([]);
  await expect
    .poll(() => readyText(Number(new URL(sandbox.url).port)))
    .toContain('The key of this process was replaced by a newer one');

  sandbox.slack.deliverTo(`http://127.0.0.1:${after.port}/slack/events`);
  await sandbox.press(BEN, card, 'change.approve');
  await sandbox.card('staging is stopping');
  expect(sandbox.cloud.count('set state')).toBe(1);
});

test('a start with only the new key is refused', async () => {
  const url = await emptyUrl('sqlite');
  const sandbox = await startTestSandbox({ databaseUrl: url, env: variables(OLD, null) });
  sandbox.setEnv(variables(NEW, null));
  await expect(sandbox.restart()).rejects.toThrow(
    'is signed with a key that this process does not have',
  );
  sandbox.setEnv(AFTER);
  await sandbox.restart();
  expect(await keyChanges(url)).toBe(1);
});
