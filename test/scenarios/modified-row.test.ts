import { expect, test } from 'vitest';
import type { ChangeId } from '../../src/domain/change.ts';
import { openDatabase } from '../../src/storage/old/database.ts';
import { enqueue } from '../../src/storage/old/outbox.ts';
import { buttonsOf, textOf } from '../harness/messages.ts';
import { changeIdOf, NO_MESSAGE, requestChange } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, NOON } from '../harness/users.ts';
import { emptyUrl, run } from '../storage/engines.ts';

const RENAME = `replace(plan, '"name":"staging"', '"name":"junk-test"')`;

/** What an attacker with write access to the database does to show another target on the card. */
async function renameTarget(url: string): Promise<void> {
  await run(url, `update change set plan = ${RENAME}, card_version = 0`);
}

async function queueMessage(url: string, kind: 'card' | 'card-repost'): Promise<void> {
  const [row] = await run(url, 'select id from change');
  const database = await openDatabase(url);
  const message = { changeId: String(row?.id) as ChangeId, kind } as const;
  await database.transaction((tx) => enqueue(tx, { ...message, at: NOON }));
  await database.close();
}

function shownIn(sandbox: TestSandbox, channel: string): string {
  return sandbox.slack.messages(channel).map(textOf).join('\n');
}

test.for(['card', 'card-repost'] as const)(
  'a %s message of a modified row shows no target, and putting the row back does not help',
  async (kind) => {
    const url = await emptyUrl('postgres');
    const sandbox = await startTestSandbox({ databaseUrl: url });
    await requestChange(sandbox);
    const [before] = await run(url, 'select plan from change');
    await renameTarget(url);
    await queueMessage(url, kind);
    sandbox.wake();
    const drawn = await sandbox.card('not run: it does not match the audit trail');
    expect(buttonsOf(drawn ?? NO_MESSAGE)).toEqual([]);
    expect(textOf(drawn ?? NO_MESSAGE)).toContain('Nothing was sent. Report this to');
    await expect.poll(() => shownIn(sandbox, 'db-audit')).toContain('does not match the audit');
    expect(`${shownIn(sandbox, 'db-approvals')}${shownIn(sandbox, 'db-audit')}`).not.toContain(
      'junk-test',
    );

    await run(url, `update change set plan = '${String(before?.plan).replaceAll("'", "''")}'`);
    const [stopped] = await run(url, 'select state, stopped from change');
    expect(stopped).toMatchObject({ state: 'denied', stopped: 'audit-mismatch' });
    const [event] = await run(url, "select body from audit_event where kind = 'denied'");
    expect(event?.body).toContain('"refusal":"audit-mismatch"');
  },
);

test('the card of an executed change whose row was modified shows none of it', async () => {
  const url = await emptyUrl('postgres');
  const sandbox = await startTestSandbox({ databaseUrl: url });
  await sandbox.press(BEN, await requestChange(sandbox), 'change.approve');
  await sandbox.card('staging is stopping');
  await renameTarget(url);
  await queueMessage(url, 'card-repost');
  sandbox.wake();
  const drawn = await sandbox.card(': it does not match the audit trail');
  expect(textOf(drawn ?? NO_MESSAGE)).not.toContain('junk-test');
  expect(textOf(drawn ?? NO_MESSAGE)).not.toContain('Nothing was sent');
  expect(buttonsOf(drawn ?? NO_MESSAGE)).toEqual([]);
});

test('the answer about a modified row shows no target and no buttons', async () => {
  const url = await emptyUrl('postgres');
  const sandbox = await startTestSandbox({ databaseUrl: url });
  const card = await requestChange(sandbox);
  await renameTarget(url);
  await sandbox.slack.command(ANA, 'ops', `/change show ${changeIdOf(card)}`);
  const shown = await sandbox.privateMessage(ANA, 'it does not match the audit trail');
  expect(textOf(shown ?? NO_MESSAGE)).not.toContain('junk-test');
  expect(buttonsOf(shown ?? NO_MESSAGE)).not.toContain('change.approve');
});
