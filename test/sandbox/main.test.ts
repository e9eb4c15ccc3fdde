import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

const sandbox = (...options: string[]) =>
  spawnSync(process.execPath, ['sandbox/main.ts', ...options], { encoding: 'utf8' });

test('--help lists the options and starts nothing', () => {
  const { status, stdout } = sandbox('--help');
  expect(status).toBe(0);
  for (const option of ['--port', '--at', '--socket', '--hard-limits', '--large', '--help']) {
    expect(stdout).toContain(`  ${option}`);
  }
});

test.for([
  ['--prot', '4100'],
  ['--port', 'four'],
  ['--port', '70000'],
  ['--at', 'tomorrow'],
  ['--at', '2026-11-27T16:00'],
])('the options %s %s are refused with the list of options', (options) => {
  const { status, stderr } = sandbox(...options);
  expect(status).toBe(2);
  expect(stderr).toContain(options[0]);
  expect(stderr).toContain('npm run sandbox -- [options]');
});
