import { expect, test } from 'vitest';
import { linkAfter } from '../../src/log/old/chain.ts';
import { loadChange } from '../../src/log/old/changes.ts';
import { recordHash } from '../../src/log/old/record-hash.ts';
import { openDatabase } from '../../src/storage/old/database.ts';
import { NO_MESSAGE, requestChange, STAGING } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN } from '../harness/users.ts';
import { freshUrl, run } from '../storage/engines.ts';

// Attacks of a user who owns the tables of the database, but does not have the key.

const [KEY, NEW_KEY] = [7, 8].map((byte) => Buffer.alloc(32, byte)) as [Buffer, Buffer];

/** The audit channel gets a notice as soon as an execution was stopped. */
async function isStopped({ slack }: TestSandbox): Promise<void> {
  const notices = () => JSON.stringify(slack.messages('db-audit'));
  await expect.poll(notices).toContain('The audit trail does not match its hashes');
}

async function started() {
  const url = await freshUrl('postgres');
  const sandbox = await startTestSandbox({
    databaseUrl: url,
    env: { SIGNALBOX_KEY: KEY.toString('base64') },
  });
  const attack = (statement: string) => run(url, statement);
  await attack('alter table audit_event disable trigger all');
  return { url, sandbox, attack };
}

test('a succeeded change whose last events are deleted is not sent again', async () => {
  const { sandbox, attack } = await started();
  const card = await requestChange(sandbox, ANA, '/service stop staging in=1m for the night');
  await sandbox.press(BEN, card, 'change.approve');
  await sandbox.card('Stop staging: approved');
  await attack('create table approved as select * from change');
  sandbox.clock.now = new Date(sandbox.clock.now.getTime() + 61_000);
  sandbox.wake();
  await sandbox.card('staging is stopping');

  await attack('delete from audit_event where version > (select version from approved)');
  await attack('delete from send_permit');
  const columns = await attack(
    `select string_agg(column_name, ', ') as names from information_schema.columns
     where table_name = 'approved' and table_schema = current_schema()`,
  );
  const names = String(columns[0]?.names);
  await attack(`update change set (${names}) = (select ${names} from approved)`);
  sandbox.wake();
  await isStopped(sandbox);
  expect(sandbox.cloud.effectCount('set state', STAGING)).toBe(1);
});

async function freeze(sandbox: TestSandbox): Promise<void> {
  const line = '/change freeze tag=staging until=4h launch of the shop';
  await sandbox.slack.command(ANA, 'ops', line);
  const preview = await sandbox.privateMessage(ANA, 'Freeze everything tagged staging?');
  await sandbox.press(ANA, preview ?? { ...NO_MESSAGE, channel: '', ts: '' }, 'change.confirm');
  const card = await sandbox.card('requests: freeze everything tagged staging');
  await sandbox.press(BEN, card, 'change.approve');
  await sandbox.card('everything tagged staging is frozen');
}

test.for([
  ['another kind', "update audit_event set kind = 'freeze-noted' where kind = 'freeze-created'"],
  ['no event', "delete from audit_event where kind = 'freeze-created'"],
] as const)('a freeze with %s and without its row still stops a change', async ([, statement]) => {
  const { sandbox, attack } = await started();
  await freeze(sandbox);
  await attack(statement);
  await attack('delete from change_freeze');
  await sandbox.press(BEN, await requestChange(sandbox), 'change.approve');
  await isStopped(sandbox);
  expect(sandbox.cloud.count('set state')).toBe(0);
});

test('a freeze whose event lost its change id stops all decisions', async () => {
  const { sandbox, attack } = await started();
  await freeze(sandbox);
  await attack("update audit_event set change_id = null where kind = 'freeze-created'");
  await attack('delete from change_freeze');
  await sandbox.slack.command(ANA, 'ops', '/service stop staging for the night');
  await sandbox.privateMessage(ANA, 'internal error');
  expect(sandbox.cloud.count('set state')).toBe(0);
});

test.for([-1, 0])('a leaked earlier key cannot approve with an event numbered %s', async (seq) => {
  const { url, sandbox } = await started();
  sandbox.setEnv({
    SIGNALBOX_KEY: NEW_KEY.toString('base64'),
    SIGNALBOX_PREVIOUS_KEYS: KEY.toString('base64'),
  });
  await sandbox.restart();
  await requestChange(sandbox);
  await forgeApproval(url, seq);
  sandbox.wake();
  await isStopped(sandbox);
  expect(sandbox.cloud.effectCount('set state', STAGING)).toBe(0);
});

/** Writes an approval by Ben and its event, signed with the leaked earlier key. */
async function forgeApproval(url: string, seq: number): Promise<void> {
  const database = await openDatabase(url);
  await database.transaction(async (tx) => {
    const { id } = await tx.selectFrom('change').select('id').executeTakeFirstOrThrow();
    const change = await loadChange(tx, id);
    if (!change) throw new Error('There is no change');
    const { digest, requires, state } = change;
    const version = change.version + 1;
    const at = '2026-11-20T12:00:00.000Z';
    const verdict = { person: BEN, decision: 'approved', digest, at, source: 'slack' } as const;
    await tx
      .insertInto('approval')
      .values({ change_id: id, ...verdict } as never)
      .execute();
    await tx
      .updateTable('change')
      .set({ state: 'approved', version })
      .where('id', '=', id)
      .execute();
    const body = { by: BEN, digest, record: await recordHash(tx, id), rule: requires.rule };
    const move = { kind: 'approved', changeId: id, version, from: state, to: 'approved' } as const;
    const head = { seq: seq - 1, hash: '0'.repeat(64) };
    const row = linkAfter(head, KEY, { ...move, at: new Date(at), body });
    await tx.insertInto('audit_event').values(row).execute();
  });
  await database.close();
}
