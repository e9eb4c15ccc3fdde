import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../src/storage/engine/database.ts';
import { readMeta, writeMeta } from '../../src/storage/tables/meta.ts';

test('the documented backup command works while the bot runs and copies every commit', async () => {
  const [command = ''] =
    readFileSync('docs/shipping.md', 'utf8').match(/^node -e .*backup.*$/m) ?? [];
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-backup-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const running = await openDatabase(`file:${join(folder, 'signalbox.db')}`);
  onTestFinished(() => running.close());
  await running.transaction((tx) => writeMeta(tx, 'last-probe', 'before the backup'));

  execFileSync('sh', ['-c', command], { cwd: folder });

  expect(existsSync(join(folder, 'copy.db'))).toBe(true);
  await running.transaction((tx) => writeMeta(tx, 'last-probe', 'after the backup'));
  const restored = await openDatabase(`file:${join(folder, 'copy.db')}`);
  onTestFinished(() => restored.close());
  expect(await readMeta(restored.db, 'last-probe')).toBe('before the backup');
});
