import { globSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { sandboxYaml } from '../../sandbox/configuration.ts';
import { cleaned, passed, reportText, toJson } from '../../src/ops/doctor-report.ts';
import { openStore } from '../../src/storage/index.ts';
import { SIGNALBOX } from '../harness/programs.ts';
import { runCommand } from '../harness/run-command.ts';
import { runOnFullDisk } from '../harness/run-limited.ts';
import { startDoctorSandbox } from './doctor-sandbox.ts';

function doctor(env: Readonly<Record<string, string>>, ...args: string[]) {
  return runCommand([SIGNALBOX, 'doctor', ...args], env);
}

async function files() {
  const sandbox = await startDoctorSandbox();
  const folder = dirname((sandbox.env.DATABASE_URL ?? '').slice('file:'.length));
  const SIGNALBOX_CONFIG = join(folder, 'signalbox.yaml');
  writeFileSync(SIGNALBOX_CONFIG, sandboxYaml());
  const databaseUrl = sandbox.env.DATABASE_URL ?? '';
  return { ...sandbox, folder, databaseUrl, env: { ...sandbox.env, SIGNALBOX_CONFIG } };
}

test('all checks pass against the simulators', async () => {
  const { env } = await files();
  const { out, err, code } = await doctor(env);
  expect({ err, code }).toEqual({ err: '', code: 0 });
  expect(out).toContain('All required checks passed.');
  expect(out).not.toContain('✗');
  expect(out).not.toContain('\u001b');
});

test('--json prints every check with the same fields', async () => {
  const { env } = await files();
  const { out, code } = await doctor({ ...env, SLACK_BOT_TOKEN: 'xoxb-wrong-wrong' }, '--json');
  const report = JSON.parse(out);
  expect(code).toBe(1);
  expect(report).toMatchObject({ ok: false, failed: 1, warnings: 0, version: expect.any(String) });
  expect(Object.keys(report)).toEqual(['ok', 'version', 'failed', 'warnings', 'checks']);
  for (const check of report.checks) {
    expect(Object.keys(check)).toEqual(['section', 'name', 'status', 'says', 'fix']);
  }
  const texts = { says: expect.any(String), fix: expect.any(String) };
  const token = { section: 'Slack', name: 'bot token', status: 'failed', ...texts };
  expect(report.checks).toContainEqual(token);
});

test('--env reads only the variables of the file', async () => {
  const { env, folder } = await files();
  const file = join(folder, 'env');
  const lines = Object.entries(env).map(([name, value]) => `${name}='${value}'\n`);
  writeFileSync(file, lines.join(''));
  const beside = { SLACK_BOT_TOKEN: 'not-even-a-token' };
  expect((await doctor(beside, '--env', file)).code).toBe(0);
  expect((await doctor({}, '--env', join(folder, 'nowhere'))).code).toBe(2);
});

// A start needs space for the index of the write-ahead log, a running Signalbox has that space already.
test.for<[string, boolean, number, string]>([
  ['next to a running Signalbox', true, 65_536, 'writable'],
  ['while Signalbox is stopped', false, 1, 'database'],
])('a full disk is named with the path of the database, %s', async ([, runs, bytes, name]) => {
  const { env, databaseUrl: url } = await files();
  const database = await openStore(url);
  if (runs) onTestFinished(() => database.close());
  else await database.close();
  const { out } = await runOnFullDisk(bytes, [SIGNALBOX, 'doctor', '--json'], env);
  const path = url.slice('file:'.length);
  expect(JSON.parse(out).checks).toContainEqual({
    section: 'Database',
    name,
    status: 'failed',
    says: expect.stringMatching(`^the disk /.* has less than 1 MiB free for ${path} \\(EFBIG\\)$`),
    fix: expect.stringContaining('free some space on /'),
  });
  expect(globSync('*disk-test*', { cwd: dirname(path) })).toEqual([]);
});

test('all configuration problems are reported at once with their fixes', async () => {
  const { out, code } = await doctor({ SLACK_BOT_TOKEN: 'wrong', PORT: 'no' });
  expect(code).toBe(1);
  for (const name of ['SLACK_BOT_TOKEN', 'CLOUD_API_URL', 'PORT', 'SIGNALBOX_CONFIG']) {
    expect(out).toContain(`✗ ${name}`);
  }
  const marked = out.split('\n').map((text) => text.trim()[0] ?? '');
  expect(marked.join('')).toMatch(/^SC(✗→){5,}/);
});

test('no secret is shown, even an invalid one', async () => {
  const { env } = await files();
  const secrets = {
    SLACK_BOT_TOKEN: 'xoxb-canary-of-the-bot',
    CLOUD_API_KEY_SECRET: 'canary-of-the-cloud',
    ALERTS_API_TOKEN: 'canary-of-the-alerts',
    DATABASE_URL: 'postgres://user:canary-of-the-database@127.0.0.1:1/x',
  };
  for (const args of [[], ['--json']]) {
    const { out, err } = await doctor({ ...env, ...secrets }, ...args);
    expect(out + err).not.toContain('canary');
  }
});

test.for<[string[], number, string]>([
  [['--help'], 0, 'signalbox doctor [--json]'],
  [['--jsno'], 2, 'signalbox doctor [--json]'],
])('%j prints the usage', async ([args, expected, words]) => {
  const { out, err, code } = await doctor({}, ...args);
  expect(out + err).toContain(words);
  expect(code).toBe(expected);
});

const lines = [
  { status: 'ok', name: 'clock', says: 'right', fix: null },
  { status: 'warning', name: 'scopes', says: 'more than needed', fix: 'take it out' },
  { status: 'failed', name: 'bot token', says: 'revoked', fix: 'reinstall' },
] as const;
const REPORT = { version: '1.0.0', sections: [{ title: 'Slack', lines }] };

test('the report has one line per check, in columns, with the next step below', () => {
  expect(reportText(REPORT)).toMatchInlineSnapshot(`
    "Signalbox 1.0.0

    Slack
      ✓ clock      right
      ! scopes     more than needed
                   → take it out
      ✗ bot token  revoked
                   → reinstall

    1 problem, 1 warning. Follow the steps after the arrows, then run the doctor again.
    "
  `);
});

test('a warning does not fail the report, a problem does', () => {
  const calm = { ...REPORT, sections: [{ title: 'Slack', lines: lines.slice(0, 2) }] };
  expect([passed(calm), passed(REPORT)]).toEqual([true, false]);
  expect(JSON.parse(toJson(calm))).toMatchObject({ ok: true, failed: 0, warnings: 1 });
});

test('texts of servers contain no control characters and no secrets', () => {
  const says = `\u001b[2Jhidden-word ${'x'.repeat(1_000)}`;
  const lines = [{ status: 'ok', name: 'a', says, fix: null }] as const;
  const [section] = cleaned([{ title: 'Slack', lines }], ['hidden-word']);
  expect(section?.lines[0]?.says).toMatch(/^\?\[2J\[secret\] x+…$/);
  expect(section?.lines[0]?.says.length).toBe(400);
});
