import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { checkDiskSpace } from '../../src/storage/errors.ts';
import { openStore } from '../../src/storage/index.ts';
import { SIGNALBOX } from '../harness/programs.ts';
import { runOnFullDisk } from '../harness/run-limited.ts';

const DATABASE = new URL('../../src/storage/index.ts', import.meta.url).href;
const CHECKS = new URL('../../src/app-start.ts', import.meta.url).href;

function pathForTest(): string {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-full-disk-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'x.db');
}

test('a start on a full disk names the disk, passes later, and reports no other process', async () => {
  const path = pathForTest();
  await (await openStore(`file:${path}`)).close();
  const script = `
    const { openStore } = await import('${DATABASE}');
    const { refusedStart } = await import('${CHECKS}');
    const error = await openStore('file:${path}').catch((reason) => reason);
    const { problems, lasting } = refusedStart(error);
    console.log(JSON.stringify({ problems, lasting }));`;
  const { out, err } = await runOnFullDisk(1, ['--input-type=module', '--eval', script]);
  expect(err).toBe('');
  expect(JSON.parse(out)).toEqual({
    problems: [
      {
        where: 'DATABASE_URL',
        problem: expect.stringMatching(`^the disk /.* has less than 1 MiB free for ${path} `),
        hint: expect.stringContaining('a running Signalbox then continues'),
      },
    ],
    lasting: false,
  });
});

test.for([
  ['audit', 'verify'],
  ['audit', 'export'],
  ['backup', '/does/not/exist/copy'],
])('on a full disk, %s %s names the disk', async (words) => {
  const path = pathForTest();
  await (await openStore(`file:${path}`)).close();
  const command = [SIGNALBOX, ...words];
  const { err, code } = await runOnFullDisk(1, command, { DATABASE_URL: `file:${path}` });
  expect(err).toContain(` has less than 1 MiB free for ${path} `);
  expect(code).toBe(1);
});

test('the test of the disk keeps a file of another process', async () => {
  const path = pathForTest();
  const other = `${path}.disk-test-${process.pid}`;
  writeFileSync(other, 'of another process');
  await checkDiskSpace(path);
  expect(readFileSync(other, 'utf8')).toBe('of another process');
});
