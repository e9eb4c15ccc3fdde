import { expect, test } from 'vitest';
import { Secret } from '../../src/base/errors.ts';
import { targetKey, type UserId } from '../../src/domain/change.ts';
import { append, listChanges, openLog, readKeys } from '../../src/log/index.ts';
import { claimJobs, openStore, type Store, transaction } from '../../src/storage/index.ts';
import { requestChange } from '../harness/requests.ts';
import { AUDIT_KEY } from '../harness/simulators.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA, NOON } from '../harness/users.ts';
import { emptyUrl } from '../storage/engines.ts';

// The clock of the sandbox stands still, so that no lease of the killed process ever ends.
const LEASE = { owner: 'killed', now: NOON.getTime(), leaseMs: 120_000 };

/** A bot that waits for approval, and what a process did that was killed before the next start. */
async function afterKill(leaves: (store: Store, databaseUrl: string) => Promise<void>) {
  const databaseUrl = await emptyUrl('sqlite');
  const sandbox = await startTestSandbox({ databaseUrl });
  await requestChange(sandbox);
  await sandbox.down();
  const store = await openStore(databaseUrl, { now: () => NOON.getTime() });
  await leaves(store, databaseUrl);
  await store.close();
  await sandbox.restart();
  return sandbox;
}

async function logOf(store: Store, databaseUrl: string) {
  const key = new Secret(AUDIT_KEY.toString('base64'));
  const log = await openLog(store, readKeys({ databaseUrl, key, previous: [] }));
  const [change] = await listChanges(log, { limit: 1 });
  if (!change) throw new Error('There is no change');
  return { log, change };
}

test('on SQLite, a start handles the presses that the previous process had claimed', async () => {
  const sandbox = await afterKill(async (store, databaseUrl) => {
    const { log, change } = await logOf(store, databaseUrl);
    const place = { kind: 'own' };
    const event = {
      type: 'pressed',
      verb: 'cancel',
      by: ANA as UserId,
      text: '',
      place,
      seen: null,
    } as const;
    await append(log, async ({ at }) => ({
      events: [{ stream: `press/${change.id}/1`, event }],
      jobs: [{ kind: 'press', key: `${change.id}/1`, dueAt: at }],
      result: null,
    }));
    const claimed = { ...LEASE, lanes: [{ most: 1, kinds: ['press'] }] };
    expect(await transaction(store, (tx) => claimJobs(tx, claimed))).toHaveLength(1);
  });
  await sandbox.card('Stop staging: cancelled');
});

test('on SQLite, a start ends the execution of the previous process as unknown', async () => {
  const sandbox = await afterKill(async (store, databaseUrl) => {
    const { log, change } = await logOf(store, databaseUrl);
    const { id, digest } = change;
    const until = new Date(NOON.getTime() + LEASE.leaseMs);
    const claim = { type: 'claimed', by: LEASE.owner, nonce: 'n-1', until, attempt: 1 } as const;
    const approved = { type: 'approved', by: 'U0BEN' as UserId, digest } as const;
    await append(log, async () => ({
      events: [
        { stream: `change/${id}`, event: approved },
        { stream: `change/${id}`, event: claim },
        {
          stream: `target/${targetKey(change)}`,
          event: { type: 'taken', change: id, over: null },
        },
      ],
      result: null,
    }));
  });
  await sandbox.card('outcome unknown');
});
