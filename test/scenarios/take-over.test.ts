import { expect, test } from 'vitest';
import { Secret } from '../../src/base/errors.ts';
import type { UserId } from '../../src/domain/change.ts';
import { append, openLog, readKeys } from '../../src/log/index.ts';
import { claimJobs, openStore, transaction } from '../../src/storage/index.ts';
import { changeIdOf, requestChange } from '../harness/requests.ts';
import { AUDIT_KEY } from '../harness/simulators.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA, NOON } from '../harness/users.ts';
import { emptyUrl } from '../storage/engines.ts';

// The clock of the sandbox stands still, so that no lease of the killed process ever ends.
const LEASE = { owner: 'killed', now: NOON.getTime(), leaseMs: 120_000 };

test('on SQLite, a start handles the presses that the previous process had claimed', async () => {
  const databaseUrl = await emptyUrl('sqlite');
  const sandbox = await startTestSandbox({ databaseUrl });
  const press = `${changeIdOf(await requestChange(sandbox))}/1` as const;
  await sandbox.down();
  const store = await openStore(databaseUrl, { now: () => NOON.getTime() });
  const key = new Secret(AUDIT_KEY.toString('base64'));
  const log = await openLog(store, readKeys({ databaseUrl, key, previous: [] }));
  const place = { kind: 'own' };
  const by = ANA as UserId;
  const event = { type: 'pressed', verb: 'cancel', by, text: '', place, seen: null } as const;
  await append(log, async ({ at }) => ({
    events: [{ stream: `press/${press}`, event }],
    jobs: [{ kind: 'press', key: press, dueAt: at }],
    result: null,
  }));
  const claimed = { ...LEASE, lanes: [{ most: 1, kinds: ['press'] }] };
  expect(await transaction(store, (tx) => claimJobs(tx, claimed))).toHaveLength(1);
  await store.close();
  await sandbox.restart();
  await sandbox.card('Stop staging: cancelled');
});
