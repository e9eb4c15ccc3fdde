import { expect, test } from 'vitest';
import { listEvents } from '../../src/log/old/append.ts';
import { verifyChain } from '../../src/log/old/verify-chain.ts';
import { openReader } from '../../src/storage/old/reader.ts';
import { requestChange, setTime } from '../harness/requests.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN } from '../harness/users.ts';
import { ENGINES, emptyUrl } from '../storage/engines.ts';

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

async function countOfKind(url: string, kind: string): Promise<number> {
  const { db, close } = await openReader(url);
  const events = await listEvents(db, { afterSeq: 0, limit: 1_000 });
  expect(await verifyChain(db, { current: NEW, previous: [OLD] })).toMatchObject({ ok: true });
  await close();
  return events.filter((event) => event.kind === kind).length;
}

test('three replicas get a new key one by one, and open changes continue', async () => {
  const url = await emptyUrl('postgres');
  const sandbox = await startTestSandbox({ databaseUrl: url, env: BEFORE });
  const second = await sandbox.replica();
  const third = await sandbox.replica();
  const stop = await requestChange(sandbox);

  sandbox.setEnv(AFTER);
  await second.stop();
  const secondAfter = await sandbox.replica();
  setTime(sandbox, '12:01');
  // The first replica has the old key as its current one, and the change has events of both.
  await sandbox.press(BEN, stop, 'change.approve');
  await sandbox.card('staging is stopping');
  setTime(sandbox, '12:05');
  const start = await requestChange(sandbox, ANA, '/service start staging again');
  await third.stop();
  const thirdAfter = await sandbox.replica();
  setTime(sandbox, '12:06');
  await sandbox.restart();
  await sandbox.press(BEN, start, 'change.approve');
  await sandbox.card('staging is starting');

  expect(sandbox.cloud.count('set state')).toBe(2);
  for (const { port } of [secondAfter, thirdAfter]) expect(await readyText(port)).toBe('ready\n');
  expect(await countOfKind(url, 'key-changed')).toBe(1);
});

test.for(ENGINES)('a start with only the new key is refused on %s', async (engine) => {
  const url = await emptyUrl(engine);
  const sandbox = await startTestSandbox({ databaseUrl: url, env: variables(OLD, null) });
  sandbox.setEnv(variables(NEW, null));
  await expect(sandbox.restart()).rejects.toThrow(
    'is not the key of the audit trail in this database',
  );
  sandbox.setEnv(AFTER);
  await sandbox.restart();
  expect(await countOfKind(url, 'key-changed')).toBe(1);
});
