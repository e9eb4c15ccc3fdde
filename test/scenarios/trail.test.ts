import { expect, test } from 'vitest';
import { listEvents } from '../../src/log/old/append.ts';
import { verifyChain } from '../../src/log/old/verify-chain.ts';
import { REFUSED } from '../harness/refused.ts';
import { requestChange } from '../harness/requests.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, DORA, EMIL } from '../harness/users.ts';
import { emptyUrl, openForTest } from '../storage/engines.ts';

/** A bot with a database that the test can read at the same time. */
async function openReadableStage() {
  const databaseUrl = await emptyUrl('postgres');
  const sandbox = await startTestSandbox({ databaseUrl });
  const { db } = await openForTest(databaseUrl);
  const eventsOf = async (kind: string) =>
    (await listEvents(db, { afterSeq: 0, limit: 1_000 })).filter((event) => event.kind === kind);
  return { sandbox, db, eventsOf };
}

const EVIDENCE = expect.arrayContaining([
  expect.objectContaining({
    id: expect.stringMatching(/^S/),
    size: expect.any(Number),
    readAt: expect.stringMatching(/Z$/),
  }),
]);

test('each transition is an audit event with actor, rule and evidence', async () => {
  const { sandbox, db, eventsOf } = await openReadableStage();
  await sandbox.press(BEN, await requestChange(sandbox), 'change.approve');
  await sandbox.card('staging is stopping');

  const drafted = { command: 'service stop', target: 'staging', rule: expect.any(Number) };
  expect(await eventsOf('drafted')).toMatchObject([
    {
      body: { by: ANA, ...drafted, roles: expect.arrayContaining(['operator']), groups: EVIDENCE },
    },
  ]);
  expect(await eventsOf('confirmed')).toMatchObject([{ body: { by: ANA, groups: EVIDENCE } }]);
  expect(await eventsOf('approved')).toMatchObject([{ body: { by: BEN, groups: EVIDENCE } }]);
  const claimed = { by: 'signalbox', approvers: [BEN], permit: 1, groups: EVIDENCE };
  expect(await eventsOf('claimed')).toMatchObject([{ body: claimed }]);
  expect(await eventsOf('succeeded')).toMatchObject([{ from: 'executing', to: 'succeeded' }]);
  expect((await verifyChain(db, Buffer.alloc(32, 7))).ok).toBe(true);
});

test('a refused query is recorded', async () => {
  const { sandbox, eventsOf } = await openReadableStage();
  await sandbox.slack.command(EMIL, 'ops', '/service list');
  await sandbox.privateMessage(EMIL, "You can't ");
  const body = { by: EMIL, tried: 'service list', refusal: 'not-a-requester', groups: EVIDENCE };
  expect(await eventsOf('refused')).toMatchObject([{ body }]);
});

test('a refused request is recorded', async () => {
  const { sandbox, eventsOf } = await openReadableStage();
  await sandbox.slack.command(DORA, 'ops', '/service stop staging because');
  await sandbox.privateMessage(DORA, "You can't ");
  const body = { by: DORA, tried: 'service stop', target: 'staging', groups: EVIDENCE };
  expect(await eventsOf('refused')).toMatchObject([
    { body: { ...body, roles: expect.arrayContaining(['viewer']) } },
  ]);
});

test('a refused click is recorded, also one that would open a form', async () => {
  const { sandbox, eventsOf } = await openReadableStage();
  const card = await requestChange(sandbox);
  await sandbox.press(DORA, card, 'change.approve');
  await sandbox.privateMessage(DORA, REFUSED.notAnApprover);
  await sandbox.press(EMIL, card, 'change.reject');
  await sandbox.privateMessage(EMIL, REFUSED.notAnApprover);
  const [approving, rejecting] = await eventsOf('refused');
  const why = { refusal: 'not-an-approver', groups: EVIDENCE };
  expect(approving?.body).toMatchObject({ by: DORA, tried: 'approve', ...why });
  expect(rejecting?.body).toMatchObject({ by: EMIL, tried: 'reject', ...why });
});
