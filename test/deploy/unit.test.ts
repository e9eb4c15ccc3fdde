import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { secretValues, unknownVariables } from './known-variables.ts';

const UNITS = ['signalbox.service', 'signalbox-prune.service'] as const;

/** The lines that are no comments. */
function linesOf(unit: string): readonly string[] {
  return readFileSync(`deploy/${unit}`, 'utf8')
    .split('\n')
    .filter((line) => /^[^#]/.test(line));
}

function valuesOf(key: string, unit = 'signalbox.service'): readonly string[] {
  return linesOf(unit)
    .filter((line) => line.startsWith(`${key}=`))
    .map((line) => line.slice(key.length + 1));
}

test('the unit allows enough time to stop and gives no root privileges', () => {
  expect(valuesOf('TimeoutStopSec')).toEqual(['60']);
  expect(valuesOf('KillSignal')).toEqual(['SIGTERM']);
  expect(valuesOf('DynamicUser')).toEqual(['yes']);
  expect(valuesOf('ProtectSystem')).toEqual(['strict']);
  expect(valuesOf('StateDirectory')).toEqual(['signalbox']);
});

test('the unit starts the bundle, and refuses a release without it', () => {
  expect(valuesOf('AssertPathExists')).toEqual(['/opt/signalbox/current/dist/main.js']);
  expect(valuesOf('ExecStart')).toEqual(['/opt/signalbox/current/bin/signalbox start']);
});

test('systemd restarts a crashed process without a limit', () => {
  expect(valuesOf('Restart')).toEqual(['on-failure']);
  expect(valuesOf('StartLimitIntervalSec')).toEqual(['0']);
  expect(valuesOf('StartLimitBurst')).toEqual([]);
});

test.for(UNITS)('a crash writes no core dump (%s)', (unit) => {
  expect(valuesOf('LimitCORE', unit)).toEqual(['0']);
  const scripts = JSON.stringify([linesOf(unit), readFileSync('package.json', 'utf8')]);
  expect(scripts).not.toMatch(/--report|--heapsnapshot|--abort-on-uncaught/);
});

test('systemd does not retry a configuration error', () => {
  expect(valuesOf('RestartPreventExitStatus')).toEqual(['78']);
  const source = globSync('src/**/*.ts').map((file) => readFileSync(file, 'utf8'));
  const codes = source.flatMap((text) => text.match(/\bEX_CONFIG = \d+/g) ?? []);
  expect(codes).toEqual(['EX_CONFIG = 78']);
});

test.for(UNITS)('each credential of %s is loaded, named by a variable, and read', (unit) => {
  const loaded = valuesOf('LoadCredential', unit).map((value) => value.split(':')[0]);
  const variables = valuesOf('Environment', unit).map(
    (value) => value.split('=') as [string, string],
  );
  const fromFiles = variables.filter(([name]) => name.endsWith('_FILE'));
  expect(fromFiles.map(([, path]) => path.replace('%d/', ''))).toEqual(loaded);
  const names = variables.map(([name]) => name);
  // This one is for the runtime; npm start sets it as well.
  expect(unknownVariables(names.filter((name) => name !== 'NODE_COMPILE_CACHE'))).toEqual([]);
  expect(secretValues(names)).toEqual(['DATABASE_URL']);
  const url = 'file:/var/lib/signalbox/signalbox.db';
  expect(variables).toContainEqual(['DATABASE_URL', url]);
});

const PRUNE = 'signalbox-prune.service';
const DESCRIPTION =
  /^(\[|Description|Documentation|After|Wants|Type|Exec|Environment|LoadCredential)/;
const OF_THE_BOT =
  /^(StartLimit|AssertPathExists|WorkingDirectory|Restart|TimeoutStop|KillSignal|StateDirectory=|CacheDirectory|WantedBy)/;

test('the retention has the user, the limits and the folder of the bot', () => {
  const limits = linesOf('signalbox.service').filter((line) => !DESCRIPTION.test(line));
  const shared = limits.filter((line) => !OF_THE_BOT.test(line));
  expect(linesOf(PRUNE).filter((line) => shared.includes(line))).toEqual(shared);
  expect(valuesOf('User', PRUNE)).toEqual(['signalbox']);
  const [folders = '', ...more] = valuesOf('StateDirectory', PRUNE);
  expect(more).toEqual([]);
  expect(folders.split(' ')).toEqual([...valuesOf('StateDirectory'), 'signalbox-exports']);
  expect(valuesOf('ExecStart', PRUNE)).toEqual([
    '/opt/signalbox/current/bin/signalbox audit prune --export /var/lib/signalbox-exports',
  ]);
});

test('a run that the machine missed follows at the next boot', () => {
  const timer = 'signalbox-prune.timer';
  expect(valuesOf('Persistent', timer)).toEqual(['true']);
  expect(valuesOf('OnCalendar', timer)).toEqual(['*-*-01 03:47 UTC']);
  expect(valuesOf('WantedBy', timer)).toEqual(['timers.target']);
  expect(valuesOf('After', PRUNE)).toEqual(['signalbox.service']);
});
