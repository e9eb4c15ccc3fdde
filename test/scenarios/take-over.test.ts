import { test } from 'vitest';
import { claimClick, storeClick } from '../../src/log/old/inbox.ts';
import { openDatabase } from '../../src/storage/old/database.ts';
import { requestChange } from '../harness/requests.ts';
import { AUDIT_KEY } from '../harness/simulators.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA, NOON } from '../harness/users.ts';
import { emptyUrl } from '../storage/engines.ts';

// The clock of the sandbox stands still, so that the lease of the click never expires.
test('on SQLite, a start handles the clicks that the previous process had claimed', async () => {
  const databaseUrl = await emptyUrl('sqlite');
  const sandbox = await startTestSandbox({ databaseUrl });
  await requestChange(sandbox);
  await sandbox.down();
  const database = await openDatabase(databaseUrl);
  await database.transaction(async (tx) => {
    const { id } = await tx.selectFrom('change').select('id').executeTakeFirstOrThrow();
    const nowhere = { url: null, channel: null, ts: null, thread: null };
    const replyTo = { ...nowhere, user: ANA, replaces: false, home: false };
    const body = { verb: 'cancel', change: id, by: ANA, text: '', replyTo };
    const keys = { signing: AUDIT_KEY };
    await storeClick(tx, keys, { key: 'click-1', kind: 'click', body, at: NOON });
    await claimClick(tx, 'click-1', { owner: 'killed', now: NOON, leaseMs: 60_000 });
  });
  await database.close();

  await sandbox.restart();
  await sandbox.card('Stop staging: cancelled');
});
