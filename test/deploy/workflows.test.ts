import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import packageJson from '../../package.json' with { type: 'json' };

const FILES = globSync(['.github/workflows/*.yml', 'deploy/github/*.yml']);
const RELEASE = '.github/workflows/release.yml';

/** Actions of GitHub and Docker. Another one needs a review, because it runs with the rights of the job. */
const ACTIONS = [
  ...['actions/attest-build-provenance', 'actions/attest-sbom', 'actions/checkout'],
  ...['actions/setup-node', 'docker/build-push-action', 'docker/login-action'],
  'docker/setup-buildx-action',
];
/** A tag can be moved, a commit cannot. */
const PINNED = new RegExp(`^(${ACTIONS.join('|')})@[0-9a-f]{40}$`);

const Permissions = z.record(z.string(), z.enum(['read', 'write']));
const Step = z.looseObject({
  uses: z.string().regex(PINNED).optional(),
  run: z.string().optional(),
  with: z.record(z.string(), z.unknown()).default({}),
});
const Job = z.looseObject({
  needs: z.string().optional(),
  environment: z.string().optional(),
  permissions: Permissions.optional(),
  'timeout-minutes': z.number().max(60),
  steps: z.array(Step),
});
const Workflow = z.looseObject({
  on: z.looseObject({}),
  permissions: z.strictObject({ contents: z.literal('read') }),
  jobs: z.record(z.string(), Job),
});

function read(file: string) {
  return Workflow.parse(parse(readFileSync(file, 'utf8')));
}

function stepsOf(file: string) {
  return Object.values(read(file).jobs).flatMap(({ steps }) => steps);
}

test('there are workflows for tests, releases and the policy', () => {
  const workflows = ['.github/workflows/ci.yml', RELEASE, 'deploy/github/policy.yml'];
  expect(FILES.toSorted()).toEqual(workflows);
});

test.for(FILES)(
  '%s uses known actions by their commits, may only read by default, and ends within an hour',
  (file) => {
    expect(Workflow.safeParse(parse(readFileSync(file, 'utf8'))).error).toBeUndefined();
  },
);

test.for(FILES)(
  '%s runs no text of an event in a shell, and not for foreign pull requests',
  (file) => {
    const scripts = stepsOf(file).flatMap(({ run }) => run ?? []);
    expect(scripts.filter((script) => script.includes('${{'))).toEqual([]);
    expect(read(file).on).not.toHaveProperty('pull_request_target');
  },
);

test.for(FILES)('a checkout of %s keeps no token for later steps', (file) => {
  const checkouts = stepsOf(file).filter(({ uses }) => uses?.startsWith('actions/checkout@'));
  expect(checkouts.length).toBeGreaterThan(0);
  for (const { with: inputs } of checkouts) expect(inputs['persist-credentials']).toBe(false);
});

test.for(FILES)('no script of a package runs in a job of %s, except in the tests', (file) => {
  const installs = stepsOf(file).flatMap(({ run = '' }) => (run.includes('npm ci') ? [run] : []));
  expect(installs.filter((run) => !run.includes('--ignore-scripts'))).toEqual([]);
});

test.for(FILES)('the version beside each commit of %s is a whole one', (file) => {
  const lines = readFileSync(file, 'utf8').split('\n');
  const uses = lines.filter((line) => line.includes('uses: '));
  expect(uses.filter((line) => !/@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([]);
});

test.for(FILES)('the npm scripts of %s exist', (file) => {
  const named = stepsOf(file).flatMap(({ run = '' }) =>
    [...run.matchAll(/npm run (?:--silent )?([a-z:]+)/g)].map(([, name = '']) => name),
  );
  expect(named.filter((name) => !(name in packageJson.scripts))).toEqual([]);
});

test('only a version tag publishes, after the tests and a review', () => {
  const { on, jobs } = read(RELEASE);
  expect(on).toEqual({ push: { tags: ['v*'] } });
  expect(jobs.test?.steps.at(-1)?.run).toBe('.ci/run');
  expect(jobs.publish?.needs).toBe('test');
  expect(jobs.publish?.environment).toBe('release');
  const others = Object.entries(jobs).filter(([name]) => name !== 'publish');
  expect(others.filter(([, { permissions }]) => permissions !== undefined)).toEqual([]);
});

test('the image has the tag that the chart, Compose and Kubernetes name', () => {
  const steps = read(RELEASE).jobs.publish?.steps ?? [];
  expect(steps.find(({ id }) => id === 'image')?.with.tags).toMatch(
    /^\$\{\{ env\.IMAGE }}:\$\{\{ env\.VERSION }}$/,
  );
  const [setting = ''] = steps.flatMap(({ run }) => (run?.includes('"VERSION=') ? [run] : []));
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-release-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const env = { GITHUB_REF_NAME: `v${packageJson.version}`, GITHUB_ENV: join(folder, 'env') };
  execFileSync('sh', ['-ceu', setting], { env: { ...process.env, ...env } });
  expect(readFileSync(env.GITHUB_ENV, 'utf8')).toBe(`VERSION=${packageJson.version}\n`);
});

test.for(['.github/workflows/ci.yml', RELEASE])(
  '%s installs promtool before the tests, which may not install packages there',
  (file) => {
    const scripts = stepsOf(file).flatMap(({ run }) => run ?? []);
    const before = scripts.slice(0, scripts.indexOf('.ci/run'));
    expect(before.join()).toMatch(/sudo apt-get install .*\bprometheus\b/);
  },
);

test('the image is built, names its version, and exits with 78 without a configuration', () => {
  const steps = read('.github/workflows/ci.yml').jobs.image?.steps ?? [];
  const [, , , last = ''] = steps.map(({ run }) => run);
  expect(steps.map(({ run }) => run).slice(1, 3)).toEqual([
    'docker build --tag signalbox .',
    'docker run --rm --read-only signalbox signalbox --version',
  ]);
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-docker-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const exits = (code: number) => {
    writeFileSync(join(folder, 'docker'), `#!/bin/sh\nexit ${code}\n`, { mode: 0o700 });
    const env = { PATH: `${folder}:/usr/bin:/bin` };
    return spawnSync('sh', ['-e', '-c', last], { env }).status;
  };
  expect([78, 0, 1].map(exits)).toEqual([0, 1, 1]);
});

test('a release is checked before anything is published', () => {
  const steps = read(RELEASE).jobs.publish?.steps ?? [];
  const check = steps.findIndex(({ run }) => run?.includes('release:check -- --clean --tag'));
  const login = steps.findIndex(({ uses }) => uses?.startsWith('docker/login-action@'));
  expect(check).toBeGreaterThan(0);
  expect(login).toBeGreaterThan(check);
});

test('the chart is published beside the image, with the version of the release', () => {
  const { version } = parse(readFileSync('deploy/helm/signalbox/Chart.yaml', 'utf8'));
  expect(version).toBe(packageJson.version);
  const scripts = read(RELEASE).jobs.publish?.steps.flatMap(({ run }) => run ?? []) ?? [];
  const at = scripts.indexOf('helm package deploy/helm/signalbox --destination "$RUNNER_TEMP"');
  expect(at).toBeGreaterThan(scripts.findIndex((run) => run.includes('release:check')));
  expect(scripts[at + 1]).toBe(
    'helm push "$RUNNER_TEMP/signalbox-$VERSION.tgz" "oci://$IMAGE/charts"',
  );
});

test('the image and its bill of materials are signed by the digest that was pushed', () => {
  const steps = read(RELEASE).jobs.publish?.steps ?? [];
  const signing = steps.filter(({ uses }) => uses?.startsWith('actions/attest-'));
  expect(signing).toHaveLength(2);
  for (const { with: inputs } of signing) {
    expect(inputs['subject-digest']).toMatch(/^\$\{\{ steps\.image\.outputs\.digest }}$/);
    expect(inputs['push-to-registry']).toBe(true);
  }
  expect(steps.find(({ id }) => id === 'image')?.with.push).toBe(true);
});
