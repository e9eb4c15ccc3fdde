import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };

const SCRIPT = 'deploy/install-packages.mjs';
const OWN = { version: '1.0.0' };
const LOCKED = { '': OWN, 'node_modules/zod': { version: '4.6.7', integrity: 'sha512-a' } };
const FOREIGN = { 'node_modules/other-platform': { version: '1.0.0', optional: true } };
const WIDER = { ...LOCKED, ...FOREIGN };
const { '': _, ...INSTALLED } = LOCKED;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'signalbox-install-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

interface Project {
  readonly wanted?: object;
  readonly installed?: object;
  readonly npmExitCode?: number;
  readonly runtime?: boolean;
  /** What npm says of itself and of the Node that runs it. */
  readonly agent?: string;
}

/** Runs the script in a project whose npm only prints what it is started with. */
function run(project: Project) {
  const { wanted = LOCKED, installed, npmExitCode = 0, runtime = true, agent } = project;
  const write = (file: string, packages: object) =>
    writeFileSync(join(folder, file), JSON.stringify({ packages }));
  write('package-lock.json', wanted);
  const bin = join(folder, 'node_modules/.bin');
  mkdirSync(bin, { recursive: true });
  if (runtime) writeFileSync(join(bin, 'node'), '');
  if (installed) write('node_modules/.package-lock.json', installed);
  const npm = join(folder, 'npm.cjs');
  const print = 'process.stderr.write("npm " + process.argv.slice(2).join(" ") + "\\n")';
  writeFileSync(npm, `${print}; process.exit(${npmExitCode});`);
  const env = {
    ...{ ...process.env, npm_node_execpath: process.execPath, npm_execpath: npm },
    npm_config_user_agent: agent ?? `npm/11.0.0 node/${process.version} linux x64`,
  };
  const options = { cwd: folder, env, encoding: 'utf8' } as const;
  return spawnSync(process.execPath, [resolve(SCRIPT)], options);
}

test.for(['presandbox', 'pretest'] as const)('%s installs missing packages', (script) => {
  expect(packageJson.scripts[script]).toBe(`node ${SCRIPT}`);
});

test.for<[string, Project]>([
  ['nothing is installed or the last installation was interrupted', {}],
  ['a package is missing', { installed: {} }],
  ['a version changed', { installed: { 'node_modules/zod': { version: '4.6.6' } } }],
])('the packages are installed when %s', ([, project]) => {
  const { status, stderr } = run(project);
  expect(status).toBe(0);
  expect(stderr).toBe(
    'Installing the packages of package-lock.json with npm ci. This takes about a minute.\n' +
      'npm ci --ignore-scripts --no-audit --no-fund --loglevel=error\n',
  );
});

test.for<[string, Project]>([
  ['everything is installed', { installed: INSTALLED }],
  ['only a package of another platform is missing', { wanted: WIDER, installed: INSTALLED }],
])('nothing is installed or printed when %s', ([, project]) => {
  expect(run(project)).toMatchObject({ status: 0, stdout: '', stderr: '' });
});

test.for([
  ['npm/8.19.4 node/v16.20.2 linux x64', 'npm/8.19.4 on node/v16.20.2'],
  ['npm/9.0.0 node/v18.16.1 darwin arm64', 'npm/9.0.0 on node/v18.16.1'],
] as const)('%s gets one sentence, and nothing is installed', ([agent, own]) => {
  const sentence = `npm needs Node.js 18.17 or newer to install the packages. Here runs ${own}.\n`;
  expect(run({ agent })).toMatchObject({ status: 1, stdout: '', stderr: sentence });
  // The packages are there, and run on their own Node.
  expect(run({ agent, installed: INSTALLED })).toMatchObject({ status: 0, stderr: '' });
});

test.for(['npm/10.8.2 node/v18.17.0 linux x64', 'npm/10.8.2 node/v20.5.0 linux x64'])(
  '%s installs the packages',
  (agent) => {
    expect(run({ agent }).status).toBe(0);
  },
);

test('a failed installation stops the command and names the next step', () => {
  const { status, stderr } = run({ npmExitCode: 7 });
  expect(status).toBe(1);
  expect(stderr).toContain('The packages could not be installed: npm ci ended with exit code 7.');
  expect(stderr).toContain('run the command again');
});

test('a platform without a runtime package stops the command', () => {
  const { status, stderr } = run({ installed: INSTALLED, runtime: false });
  expect(status).toBe(1);
  expect(stderr).toContain('There is no node_modules/.bin/node.');
  expect(stderr).toContain(`This machine is ${process.platform} ${process.arch}.`);
});
