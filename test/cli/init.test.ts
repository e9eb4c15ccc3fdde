import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { CLOUD_KEY, ORGANIZATION } from '../../sandbox/seed/organization.ts';
import { freePlanWorkspace } from '../../sandbox/slack/workspace/sandbox-workspace.ts';
import type { Workspace } from '../../sandbox/slack/workspace/workspace.ts';
import { startProcessSandbox } from '../harness/bot-process.ts';
import { SIGNALBOX } from '../harness/programs.ts';
import { requestChange, STAGING } from '../harness/requests.ts';
import { PROCESS_ENV } from '../harness/run-command.ts';
import { BEN } from '../harness/users.ts';

/** An empty folder beside the simulators, and answers that are typed there as soon as a question appears. */
async function startInit(workspace?: Workspace) {
  const sandbox = await startProcessSandbox({
    ...{ databaseUrl: 'file::memory:', delivery: 'socket' },
    ...(workspace ? { workspace } : {}),
  });
  // As many requests at once as of a real server, which counts them for longer.
  sandbox.cloud.behave({ rateLimit: { requests: 10, perMs: 1_000 } });
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-init-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = (name: string) => readFileSync(join(folder, name), 'utf8');
  const { SLACK_API_URL } = sandbox.env;
  writeFileSync(join(folder, '.env'), `SLACK_API_URL=${SLACK_API_URL}\nPORT=0\n`);

  /** Runs it until the answers are used up, which stands for Ctrl-D. `null` stands for Ctrl-C. */
  const run = async (answers: readonly (string | null)[]) => {
    const child = spawn(process.execPath, [SIGNALBOX, 'init'], { cwd: folder, env: PROCESS_ENV });
    const left = [...answers];
    let out = '';
    child.stderr.on('data', (part) => {
      out += String(part);
    });
    child.stdout.on('data', (part) => {
      out += String(part);
      if (!out.endsWith('\n> ')) return;
      const answer = left.shift();
      if (answer === undefined) child.stdin.end();
      else if (answer === null) child.kill('SIGINT');
      else child.stdin.write(`${answer}\n`);
    });
    const code = await new Promise((resolve) => child.on('close', resolve));
    return { out, code, questions: out.split('\n> ').length - 1 };
  };
  const { CLOUD_API_URL, SLACK_BOT_TOKEN = '', SLACK_APP_TOKEN = '' } = sandbox.env;
  const key = `${CLOUD_KEY.id} ${CLOUD_KEY.secret}`;
  const answers = [SLACK_BOT_TOKEN, SLACK_APP_TOKEN, CLOUD_API_URL ?? '', key];
  return { ...sandbox, folder, file, run, secrets: answers, answers };
}

test('a created app leads to a first approved change with at most eight questions', async () => {
  const { run, answers, file, folder, ...sandbox } = await startInit();
  const { out, code, questions } = await run([...answers, '2', '@db-leads', 'db-approvals']);
  expect(out).toContain('All required checks passed');
  expect(code).toBe(0);
  expect(questions).toBeLessThanOrEqual(8);
  expect(JSON.parse(file('manifest.json'))).toEqual(
    JSON.parse(readFileSync('manifest.json', 'utf8')),
  );
  expect(statSync(join(folder, '.env')).mode & 0o777).toBe(0o600);
  expect(file('.env')).not.toContain('#');

  for (const name of Object.keys(sandbox.env)) delete sandbox.env[name];
  const SIGNALBOX_CONFIG = join(folder, 'signalbox.yaml');
  const DATABASE_URL = `file:${join(folder, 'signalbox.db')}`;
  Object.assign(sandbox.env, parseEnv(file('.env')), { SIGNALBOX_CONFIG, DATABASE_URL });
  await sandbox.start();
  await sandbox.press(BEN, await requestChange(sandbox), 'change.approve');
  await sandbox.card('staging is stopping');
});

test('each wrong answer is refused in a sentence and asked again', async () => {
  const { run, answers, file } = await startInit();
  const [bot = '', app = '', url = '', key = ''] = answers;
  const { out, code } = await run([
    ...['xapp-1', '', 'xoxb-other', `"${bot}"`, 'xapp-other', app],
    ...[
      'ftp://cloud',
      'http://127.0.0.1:9',
      `${url}/wrong`,
      url,
      CLOUD_KEY.id,
      `${CLOUD_KEY.id} wrong`,
      key,
    ],
    ...['@db-operator', 'U0ANA00001', 'U0ANA00001', 'S0NOBODY', '3'],
    ...['nowhere', 'general', "'#ops'"],
  ]);
  expect(code).toBe(0);
  for (const sentence of [
    'must begin with xoxb-',
    '→ type it',
    'Slack does not know this token',
    'create a token with connections:write',
    'must begin with https://',
    'is not reachable (ECONNREFUSED)',
    'The API was not found at this address',
    '→ type 2 words',
    'the key is rejected (401',
    "did you mean '@db-operators'?",
    'approv',
    'Slack has no user group @S0NOBODY',
    'the bot does not see this channel',
    'the bot is not a member',
  ]) {
    expect(out).toContain(sentence);
  }
  expect(out).not.toContain(CLOUD_KEY.secret);
  expect(file('signalbox.yaml')).toContain('approvals: "#ops"');
});

test('after Ctrl-C it continues where it was stopped', async () => {
  const { run, answers, file } = await startInit();
  const stopped = await run([...answers, '@db-operators', null]);
  expect(stopped.out).toContain('run signalbox init again to continue');
  expect(stopped.code).toBe(1);
  const ended = await run(['@db-leads']);
  expect(ended).toMatchObject({ code: 1, questions: 2 });
  const { out, code, questions } = await run(['db-approvals']);
  expect(out).toContain('All required checks passed');
  expect({ code, questions }).toEqual({ code: 0, questions: 1 });
  expect(file('.env')).toContain('PORT=0\n');
});

test('it replaces no file without a yes, and asks for no app-level token with a signing secret in .env', async () => {
  const { run, answers, file, folder } = await startInit();
  const [bot = '', , url = '', key = ''] = answers;
  writeFileSync(join(folder, '.env'), `${file('.env')}SLACK_SIGNING_SECRET=secret-of-the-app\n`);
  writeFileSync(join(folder, 'manifest.json'), 'mine');
  writeFileSync(join(folder, 'signalbox.yaml'), 'mine: too');
  const { out, code, questions } = await run(['what', 'n', bot, url, key, 'no']);
  expect(out).toContain('signalbox.yaml exists. Replace it? yes or no');
  expect([file('manifest.json'), file('signalbox.yaml')]).toEqual(['mine', 'mine: too']);
  expect({ code, questions }).toEqual({ code: 1, questions: 6 });
  const again = await run(['yes', 'Y', '2', '3', 'db-approvals']);
  expect(again.out).toContain('HTTP, with SLACK_SIGNING_SECRET');
  expect(again).toMatchObject({ code: 0, questions: 5 });
  expect(file('signalbox.yaml')).toContain(ORGANIZATION.id);
});

test('without user groups and optional reads, people and the usage report are enough', async () => {
  const { run, answers, file, cloud } = await startInit(freePlanWorkspace);
  cloud.behave({ absentReads: { 'list services': 404, 'list organizations': 404 } });
  const people = ['U0ANA00001', 'U0BEN00001', 'U0CLEO0001'];
  const { out, code, questions } = await run([
    ...[...answers, 'organization', ORGANIZATION.id],
    ...[people[0] ?? '', people.join(' '), '#db-approvals'],
  ]);
  expect(out).toContain('check organization.id');
  expect({ code, questions }).toEqual({ code: 0, questions: 9 });
  const { services, cloud: reads } = parse(file('signalbox.yaml'));
  expect(reads).toEqual({ reads: 'contract' });
  expect(services).toContainEqual({ name: 'staging', id: STAGING });
});
