import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { listEvents } from '../../src/log/old/append.ts';
import { storeClick } from '../../src/log/old/inbox.ts';
import { openDatabase } from '../../src/storage/old/database.ts';
import { openReader } from '../../src/storage/old/reader.ts';
import type { Tx } from '../../src/storage/old/schema.ts';
import { changeIdOf, requestChange } from '../harness/requests.ts';
import { AUDIT_KEY } from '../harness/simulators.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, CLEO, NOON } from '../harness/users.ts';
import { ENGINES, emptyUrl } from '../storage/engines.ts';

const nowhere = { url: null, channel: null, ts: null, thread: null, home: false };
const approvalOf = (change: string) => ({
  key: `click of Ben on ${change}`,
  kind: 'click',
  body: {
    verb: 'approve',
    change,
    by: BEN,
    text: '',
    replyTo: { ...nowhere, user: BEN, replaces: false },
  },
  at: NOON,
});

/** A sandbox with a way to write to its database while the bot is down. */
async function attackable(engine: (typeof ENGINES)[number]) {
  const url = await emptyUrl(engine);
  const sandbox = await startTestSandbox({ databaseUrl: url });
  const attack = async (work: (tx: Tx) => Promise<unknown>) => {
    await sandbox.down();
    const database = await openDatabase(url);
    const result = await database.transaction(work);
    await database.close();
    await sandbox.restart();
    return result;
  };
  const refusals = async () => {
    const reader = await openReader(url);
    const events = await listEvents(reader.db, { afterSeq: 0, limit: 100 });
    await reader.close();
    return events.filter(({ kind }) => kind === 'refused').map(({ body }) => body.refusal);
  };
  return { sandbox, attack, refusals };
}

test.for(ENGINES)(
  'an approval that is inserted into the inbox sends nothing on %s',
  async (engine) => {
    const { sandbox, attack } = await attackable(engine);
    const change = changeIdOf(await requestChange(sandbox));
    await attack((tx) => storeClick(tx, { signing: null }, approvalOf(change)));
    await sandbox.privateMessage(BEN, `Your click “approve” on ${change} had no effect`);
    await sandbox.card('A stored click has no signature', 'db-audit');
    await sandbox.card('requests: stop staging');
    expect(sandbox.cloud.count('set state')).toBe(0);
  },
);

test.for(ENGINES)('a handled approval that is inserted again counts once on %s', async (engine) => {
  const { sandbox, attack, refusals } = await attackable(engine);
  const card = await requestChange(sandbox, ANA, '/service stop analytics-prod for the night');
  const signed = { signing: AUDIT_KEY };
  const approval = approvalOf(changeIdOf(card));
  await attack((tx) => storeClick(tx, signed, approval));
  await sandbox.card('1 of 2');
  await attack(async (tx) => {
    await sql`delete from inbox`.execute(tx);
    await storeClick(tx, signed, approval);
  });
  await expect.poll(refusals).toEqual(['already-approved']);
  await sandbox.press(CLEO, card, 'change.approve');
  await sandbox.card('analytics-prod is stopping');
  // A second delivery after the request was sent has no effect either.
  await attack(async (tx) => {
    await sql`delete from inbox`.execute(tx);
    await storeClick(tx, signed, approval);
  });
  await expect.poll(refusals).toEqual(['already-approved', 'already-decided']);
  expect(sandbox.cloud.count('set state')).toBe(1);
});
