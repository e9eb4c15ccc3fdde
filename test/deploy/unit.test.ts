import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { FROM_FILES, NAMES } from '../../src/config/variables.ts';

const lines = readFileSync('deploy/signalbox.service', 'utf8').split('\n');

function valuesOf(key: string): readonly string[] {
  return lines
    .filter((line) => line.startsWith(`${key}=`))
    .map((line) => line.slice(key.length + 1));
}

test('the unit allows enough time to stop and gives no root privileges', () => {
  expect(valuesOf('TimeoutStopSec')).toEqual(['25']);
  expect(valuesOf('KillSignal')).toEqual(['SIGTERM']);
  expect(valuesOf('DynamicUser')).toEqual(['yes']);
  expect(valuesOf('ProtectSystem')).toEqual(['strict']);
  expect(valuesOf('StateDirectory')).toEqual(['signalbox']);
});

test('systemd restarts a crashed process without a limit', () => {
  expect(valuesOf('Restart')).toEqual(['on-failure']);
  expect(valuesOf('StartLimitIntervalSec')).toEqual(['0']);
  expect(valuesOf('StartLimitBurst')).toEqual([]);
});

test('a crash writes no core dump', () => {
  expect(valuesOf('LimitCORE')).toEqual(['0']);
  const scripts = JSON.stringify([lines, readFileSync('package.json', 'utf8')]);
  expect(scripts).not.toMatch(/--report|--heapsnapshot|--abort-on-uncaught/);
});

test('systemd does not retry a configuration error', () => {
  expect(valuesOf('RestartPreventExitStatus')).toEqual(['78']);
  expect(readFileSync('src/main.ts', 'utf8')).toContain('EX_CONFIG = 78');
});

test('each credential is loaded, named by a variable, and read by the bot', () => {
  const loaded = valuesOf('LoadCredential').map((value) => value.split(':')[0]);
  const variables = valuesOf('Environment').map((value) => value.split('=') as [string, string]);
  const fromFiles = variables.filter(([name]) => name.endsWith('_FILE'));
  expect(fromFiles.map(([, path]) => path.replace('%d/', ''))).toEqual(loaded);
  // The first variable is for the runtime; npm start sets it as well.
  const known = ['NODE_COMPILE_CACHE', ...NAMES, ...FROM_FILES.map((name) => `${name}_FILE`)];
  expect(variables.filter(([name]) => !known.includes(name))).toEqual([]);
  expect(variables.filter(([name]) => FROM_FILES.includes(name))).toEqual([
    ['DATABASE_URL', 'file:/var/lib/signalbox/signalbox.db'],
  ]);
});
