import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { readPolicyFile } from '../../src/cli/policy/read-files.ts';
import { replayRequests } from '../../src/cli/policy/replay.ts';
import { openReader } from '../../src/storage/engine/reader.ts';
import { type EditYaml, sandboxFile } from '../harness/config.ts';
import { requestAndApprove, requestChange } from '../harness/requests.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA, DORA, NOON } from '../harness/users.ts';
import { ENGINES, freshUrl } from '../storage/engines.ts';

/** Replays the last day of a running sandbox with its own file, edited. */
async function replayed(url: string, edit?: EditYaml) {
  const yaml = stringify(sandboxFile(edit));
  const file = readPolicyFile('other.yaml', () => yaml);
  if (!file.ok) throw new Error(JSON.stringify(file.problems));
  const since = new Date(NOON.getTime() - 86_400_000);
  const until = new Date(NOON.getTime() + 86_400_000);
  const reader = await openReader(url);
  let out = '';
  const write = async (text: string) => {
    out += text;
  };
  const isSame = await replayRequests(
    reader.db,
    { file: file.value, since, until, accept: [] },
    write,
  );
  await reader.close();
  return { out, isSame };
}

test.for(ENGINES)('the recorded requests of a running bot are replayed (%s)', async (engine) => {
  const databaseUrl = await freshUrl(engine);
  const sandbox = await startTestSandbox({ databaseUrl });
  await requestAndApprove(sandbox, '/service stop staging for=4h cleaning up');
  await sandbox.card('Start staging: planned');
  await requestChange(
    sandbox,
    ANA,
    '/service stop analytics-prod at=2026-11-21T20:00+01:00 upgrade',
  );
  await sandbox.slack.command(DORA, 'ops', '/service stop staging because');
  await sandbox.privateMessage(DORA, "You can't ");

  const own = await replayed(databaseUrl);
  expect(own.out).toContain('3 change requests since');
  expect(own.out).toContain('3 decided the same, 0 otherwise');
  expect(own.isSame).toBe(true);

  const other = await replayed(databaseUrl, (file) => ({
    ...file,
    never: [{ commands: ['service stop'], on: { tags: ['prod'] }, reason: 'the shop is open' }],
  }));
  expect(other.isSame).toBe(false);
  expect(other.out).toContain('service stop on analytics-prod');
  expect(other.out).toContain('denied: never (the shop is open)');
  expect(other.out).toContain('2 decided the same, 1 otherwise');
});
