import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { EXAMPLE } from './fixtures.ts';

/** The path of the example configuration with a retention. */
export function configFile(retention: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-config-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'signalbox.yaml');
  writeFileSync(path, `${EXAMPLE}\n${retention}\n`);
  return path;
}
