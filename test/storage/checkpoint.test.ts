import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openCheckpoint } from '../../src/storage/old/checkpoint.ts';

const HASH = 'ab'.repeat(32);

function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'signalbox-checkpoint-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

test('a checkpoint keeps the latest head, and ignores an older one', () => {
  const dir = folder();
  const path = join(dir, 'signalbox.db');
  const checkpoint = openCheckpoint(path);
  checkpoint.write({ seq: 0, hash: HASH });
  expect(checkpoint.read()).toEqual({ seq: 0, hash: HASH });
  checkpoint.write({ seq: 12, hash: HASH });
  checkpoint.write({ seq: 11, hash: HASH });
  checkpoint.write({ seq: 12, hash: '0'.repeat(64) });
  expect(checkpoint.read()).toEqual({ seq: 12, hash: HASH });
  expect(openCheckpoint(path).read()).toEqual({ seq: 12, hash: HASH });
  // Nothing is left of the file that replaced it.
  expect(readdirSync(dir)).toEqual(['signalbox.db.head']);
});

test.for([
  `12 ${HASH}`,
  `x12 ${HASH}\n`,
  `12 ${HASH}\n\n`,
  `12 ${HASH}0\n`,
  `1234567890123456 ${HASH}\n`,
  `12 ${'X'.repeat(64)}\n`,
  '',
])('a damaged checkpoint is an error with the next step: %j', (text) => {
  const path = join(folder(), 'signalbox.db');
  writeFileSync(`${path}.head`, text);
  expect(() => openCheckpoint(path).read()).toThrow(
    `${path}.head cannot be read. If the database was restored, run signalbox audit restored; ` +
      'then delete that file.',
  );
  expect(readFileSync(`${path}.head`, 'utf8')).toBe(text);
});

test('a checkpoint that the system cannot read is not a missing one', () => {
  const path = join(folder(), 'signalbox.db');
  expect(openCheckpoint(path).read()).toBeNull();
  mkdirSync(`${path}.head`);
  expect(() => openCheckpoint(path).read()).toThrow('EISDIR');
});
