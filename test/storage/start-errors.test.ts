import { expect, test } from 'vitest';
import { sandboxWorkspace } from '../../sandbox/slack/workspace/sandbox-workspace.ts';
import { openStore, sql, transaction } from '../../src/storage/index.ts';
import { type DoctorSandboxOptions, startDoctorSandbox } from '../ops/doctor-sandbox.ts';
import { line } from '../ops/lines.ts';
import { emptyUrl, onEngines } from './engines.ts';

const WRONG_TOKEN = { SLACK_BOT_TOKEN: 'xoxb-not-the-right-one' };

const WRONG_APP_TOKEN = { SLACK_APP_TOKEN: 'xapp-1-A0SIGNALBOX-9-none' };
const SOCKET: DoctorSandboxOptions = { delivery: 'socket' };
const workspace = { ...sandboxWorkspace, groups: sandboxWorkspace.groups.slice(0, 2) };

function without(gone: string) {
  return (manifest: Record<string, unknown>) =>
    JSON.parse(
      JSON.stringify(manifest, (key, value) =>
        key === 'bot' ? value.filter((scope: string) => scope !== gone) : value,
      ),
    );
}

test.for<[string, DoctorSandboxOptions, Record<string, string>, string, string]>([
  ['a wrong bot token', {}, WRONG_TOKEN, 'bot token', 'SLACK_BOT_TOKEN'],
  ['a missing scope', { installed: without('files:write') }, {}, 'scopes', 'SLACK_BOT_TOKEN'],
  ['a wrong app-level token', SOCKET, WRONG_APP_TOKEN, 'delivery', 'SLACK_APP_TOKEN'],
  ['a group that does not exist', { workspace }, {}, 'roles.approver', 'roles.approver'],
])(
  '%s stops the start with the words and the fix of the doctor',
  async ([, given, env, name, where]) => {
    const sandbox = await startDoctorSandbox(given);
    const known = line(await sandbox.diagnose(env), name);
    expect(known?.status).toBe('failed');
    const { problems, lasting } = await sandbox.refusedStart(env);
    expect(problems).toEqual([{ where, problem: known?.says, hint: known?.fix, passing: false }]);
    expect(lasting).toBe(true);
  },
);

test('the scope that is missing is named', async () => {
  const sandbox = await startDoctorSandbox({ installed: without('chat:write') });
  const { problems } = await sandbox.refusedStart();
  expect(problems[0]?.problem).toBe('chat:write: not granted');
});

test('tokens of two apps stop the start', async () => {
  const sandbox = await startDoctorSandbox({ delivery: 'socket' });
  const { problems } = await sandbox.refusedStart({ SLACK_APP_TOKEN: 'xapp-1-A0OTHERAPP0-9-none' });
  expect(problems.map(({ problem }) => problem)).toContainEqual(
    'SLACK_APP_TOKEN belongs to the app A0OTHERAPP0, SLACK_BOT_TOKEN to A0SIGNALBOX',
  );
});

test('Socket Mode that is off stops the start', async () => {
  const sandbox = await startDoctorSandbox();
  const { problems } = await sandbox.refusedStart({ SLACK_APP_TOKEN: sandbox.slack.appToken });
  expect(problems).toMatchObject([{ problem: 'Socket Mode is off for this app' }]);
});

onEngines('problems of Slack and of the database are listed at once', async (engine) => {
  const databaseUrl = await emptyUrl(engine);
  const store = await openStore(databaseUrl);
  await transaction(store, (tx) => sql`insert into migration values ('999-later')`.execute(tx));
  await store.close();
  const sandbox = await startDoctorSandbox({ databaseUrl });
  const { problems, lasting } = await sandbox.refusedStart(WRONG_TOKEN);
  expect(problems).toMatchObject([
    { where: 'SLACK_BOT_TOKEN' },
    {
      where: 'DATABASE_URL',
      problem: expect.stringContaining('A newer release of Signalbox changed this database'),
      hint: expect.stringContaining('run that release'),
    },
  ]);
  expect(lasting).toBe(true);
});

test('a refused start does not migrate an empty database', async () => {
  const databaseUrl = await emptyUrl('postgres');
  const sandbox = await startDoctorSandbox({ databaseUrl });
  const { problems } = await sandbox.refusedStart(WRONG_TOKEN);
  expect(problems).toHaveLength(1);
  expect(line(await sandbox.diagnose(), 'schema')?.says).toContain('empty');
});
