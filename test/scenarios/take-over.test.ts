import { test } from 'vitest';
import type { UserId } from '../../src/domain/change.ts';
import { append } from '../../src/log/index.ts';
import { claimJobs, transaction } from '../../src/storage/index.ts';
import { withLog } from '../harness/read-log.ts';
import { changeIdOf, requestChange } from '../harness/requests.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA, NOON } from '../harness/users.ts';
import { emptyUrl } from '../storage/engines.ts';

// The clock of the sandbox stands still, so that the lease of the job never expires.
test('on SQLite, a start handles the presses that the previous process had claimed', async () => {
  const databaseUrl = await emptyUrl('sqlite');
  const sandbox = await startTestSandbox({ databaseUrl });
  const id = changeIdOf(await requestChange(sandbox));
  await sandbox.down();
  const now = NOON.getTime();
  await withLog(databaseUrl, async (log) => {
    const place = { kind: 'home' };
    const event = {
      type: 'pressed',
      verb: 'cancel',
      by: ANA as UserId,
      text: '',
      place,
      seen: null,
    } as const;
    await append(log, async () => ({
      events: [{ stream: `press/${id}/k1`, event }],
      jobs: [{ kind: 'press', key: `${id}/k1`, dueAt: now }],
      result: null,
    }));
    const claim = { owner: 'killed', now, leaseMs: 60_000, most: 5, kinds: ['press'] };
    await transaction(log.store, (tx) => claimJobs(tx, claim));
  });

  await sandbox.restart();
  await sandbox.card('Stop staging: cancelled');
});
