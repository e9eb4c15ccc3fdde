import { readFileSync } from 'node:fs';
import { validate } from 'dockerfile-utils';
import { expect, test } from 'vitest';
import { contextOf, isIgnored, patternsOf } from '../../deploy/context.ts';
import { execForm, restsOf, stagesOf } from '../../deploy/dockerfile.ts';
import packageJson from '../../package.json' with { type: 'json' };

const text = readFileSync('Dockerfile', 'utf8');
const stages = stagesOf(text);
const [packages, final] = stages;
if (!packages || !final) throw new Error('The Dockerfile has lost a stage');

test('a build would stumble over nothing in the Dockerfile', () => {
  expect(validate(text)).toEqual([]);
  expect(validate('FROM debian:12\nRUM true\n')).not.toEqual([]);
});

test('the image has the runtime that the lockfile pins, named by its digest', () => {
  const pinned = new RegExp(
    `^node:${packageJson.dependencies.node}-bookworm-slim@sha256:[0-9a-f]{64}$`,
  );
  expect(stages.map(({ image }) => image)).toEqual([
    expect.stringMatching(pinned),
    expect.stringMatching(pinned),
  ]);
  expect(packages.image).toBe(final.image);
});

test('what is installed are the packages that run, by the lockfile, and no script of theirs', () => {
  const [install = ''] = restsOf(packages, 'RUN');
  expect(install).toMatch(/^npm ci --omit=dev --ignore-scripts /);
  expect(restsOf(final, 'RUN').join()).not.toContain('npm ci');
});

test('the bot in it is nobody, and is told its end itself', () => {
  expect(restsOf(final, 'USER')).toEqual(['10001:10001']);
  expect(restsOf(final, 'STOPSIGNAL')).toEqual(['SIGTERM']);
  expect(restsOf(final, 'CMD').map(execForm)).toEqual([['node', '/app/src/main.ts']]);
  expect(restsOf(final, 'ENTRYPOINT')).toEqual([]);
});

test('its health is asked by the runtime, for there is no curl', () => {
  const [rest = ''] = restsOf(final, 'HEALTHCHECK');
  const [program, , script] = execForm(rest.slice(rest.indexOf('CMD')));
  expect(program).toBe('node');
  expect(script).toContain('/healthz');
});

test('a build is given what runs, and neither secrets, tests nor the sandbox', () => {
  const files = contextOf(process.cwd());
  expect(files).toEqual(
    expect.arrayContaining(['src/main.ts', 'package.json', 'package-lock.json', '.npmrc']),
  );
  expect(files.filter((file) => !file.startsWith('src/')).sort()).toEqual(
    ['.npmrc', 'LICENSE', 'package-lock.json', 'package.json'].sort(),
  );
  expect(files.filter((file) => file.startsWith('sandbox'))).toEqual([]);
});

const patterns = patternsOf(readFileSync('.dockerignore', 'utf8'));

test.for([
  '.env',
  '.git/config',
  'node_modules/pg/package.json',
  'secrets/slack_bot_token',
  'signalbox.db',
  'signalbox.yaml',
  'sandbox/main.ts',
])('a build is not given %s', (file) => {
  expect(isIgnored(file, patterns)).toBe(true);
});

test.for(['package.json', 'src/main.ts', 'src/slack/cards/card.ts'])(
  'a build is given %s',
  (file) => {
    expect(isIgnored(file, patterns)).toBe(false);
  },
);

test('the shell form of a command is noticed, for it keeps signals from the process', () => {
  expect(() => execForm('node src/main.ts')).toThrow();
});
