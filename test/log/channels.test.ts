import { expect, test } from 'vitest';
import { rememberChannelId } from '../../src/log/old/channel-ids.ts';
import { openDatabase } from '../../src/storage/old/database.ts';
import { startDoctorSandbox } from '../ops/doctor-sandbox.ts';
import { line } from '../ops/lines.ts';
import { freshUrl } from '../storage/engines.ts';

const NAMES = ['db-approvals', 'db-audit'];

/** A doctor next to a database that has resolved the names of all configured channels. */
async function afterFirstStart() {
  const databaseUrl = await freshUrl('sqlite');
  const sandbox = await startDoctorSandbox({ databaseUrl });
  const database = await openDatabase(databaseUrl);
  const idOf = (name: string) =>
    sandbox.slack.workspace.channels.find((one) => one.name === name)?.id ?? expect.fail(name);
  const ids = NAMES.map((name) => [`#${name}`, idOf(name)] as const);
  for (const [name, id] of ids) {
    await database.transaction((tx) => rememberChannelId(tx, name, id));
  }
  await database.close();
  return { sandbox, idOf };
}

test('the doctor recommends ids in place of names and handles', async () => {
  const sandbox = await startDoctorSandbox();
  const lines = await sandbox.diagnose();
  expect(line(lines, '#db-approvals')).toMatchObject({
    status: 'ok',
    says: expect.stringMatching(/; recommended in place of the name: C0\w+$/),
  });
  expect(line(lines, 'approver')).toMatchObject({
    status: 'ok',
    says: expect.stringMatching(/; recommended in place of the handle: S0\w+ for @db-leads$/),
  });
});

test('the doctor recommends nothing where ids are used', async () => {
  const { sandbox, idOf } = await afterFirstStart();
  const id = idOf('db-approvals');
  const group = sandbox.slack.workspace.groups.find(({ handle }) => handle === 'db-leads')?.id;
  const other = await startDoctorSandbox({
    yaml: (file) =>
      JSON.parse(
        JSON.stringify(file)
          .replaceAll('#db-approvals', id)
          .replaceAll('@db-leads', group ?? ''),
      ),
  });
  const lines = await other.diagnose();
  expect(line(lines, id)?.says).not.toContain('recommended');
  expect(line(lines, 'approver')?.says).not.toContain('recommended');
});

test('resolved channels are looked up by id, without a list of all channels', async () => {
  const { sandbox } = await afterFirstStart();
  expect(line(await sandbox.diagnose(), '#db-audit')?.status).toBe('ok');
  expect(sandbox.slack.calls('conversations.list')).toEqual([]);
});

test('a name that means a renamed channel is reported, also where another channel took it', async () => {
  const { sandbox, idOf } = await afterFirstStart();
  const id = idOf('db-audit');
  sandbox.slack.admin.rename('db-audit', 'db-spending');
  const other = { id: 'C0OTHER0001', name: 'db-audit', kind: 'public', topic: '' } as const;
  const members = [sandbox.slack.workspace.botUserId];
  sandbox.slack.admin.addChannel({ ...other, members, archived: false });
  expect(line(await sandbox.diagnose(), '#db-audit')).toMatchObject({
    status: 'warning',
    says: 'means the channel that is now named #db-spending',
    fix: expect.stringContaining(`write ${id} at `),
  });
});

test('a name whose channel is gone fails, although another channel has the name', async () => {
  const { sandbox, idOf } = await afterFirstStart();
  const id = idOf('db-audit');
  const { channels } = sandbox.slack.workspace;
  const at = channels.findIndex((one) => one.id === id);
  channels.splice(
    at,
    1,
    ...channels.slice(at, at + 1).map((one) => ({ ...one, id: 'C0OTHER0001' })),
  );
  expect(line(await sandbox.diagnose(), '#db-audit')).toMatchObject({
    status: 'failed',
    says: `means the channel ${id}, which the bot does not see any more`,
  });
});

test('a rate limit of the list of channels is a warning that recommends ids', async () => {
  const sandbox = await startDoctorSandbox();
  sandbox.slack.failNext({ method: 'conversations.list', times: 1, how: 'rate-limited' });
  expect(line(await sandbox.diagnose(), 'channels')).toMatchObject({
    status: 'warning',
    fix: expect.stringContaining('channel ids in signalbox.yaml need no list of all channels'),
  });
});
