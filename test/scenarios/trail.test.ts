import { expect, test } from 'vitest';
import { listEvents, verifyChain } from '../../src/storage/audit/append.ts';
import { freshUrl, openForTest } from '../storage/engines.ts';
import { ask } from './request.ts';
import { ANA, BEN, DORA, EMIL, openStage } from './stage.ts';

/** A bot with a database that the test can read at the same time. */
async function openReadableStage() {
  const databaseUrl = await freshUrl('postgres');
  const stage = await openStage({ databaseUrl });
  const { db } = await openForTest(databaseUrl);
  const eventsOf = async (kind: string) =>
    (await listEvents(db, { afterSeq: 0, limit: 1_000 })).filter((event) => event.kind === kind);
  return { stage, db, eventsOf };
}

const EVIDENCE = expect.arrayContaining([
  expect.objectContaining({
    id: expect.stringMatching(/^S/),
    size: expect.any(Number),
    readAt: expect.stringMatching(/Z$/),
  }),
]);

test('each transition is an audit event with actor, rule and evidence', async () => {
  const { stage, db, eventsOf } = await openReadableStage();
  await stage.press(BEN, await ask(stage), 'change.approve');
  await stage.card('Stop staging: accepted');

  const drafted = { command: 'service stop', target: 'staging', rule: expect.any(Number) };
  expect(await eventsOf('drafted')).toMatchObject([
    { body: { by: ANA, ...drafted, groups: EVIDENCE } },
  ]);
  expect(await eventsOf('confirmed')).toMatchObject([{ body: { by: ANA, groups: EVIDENCE } }]);
  expect(await eventsOf('approved')).toMatchObject([{ body: { by: BEN, groups: EVIDENCE } }]);
  const claimed = { by: 'signalbox', approvers: [BEN], permit: 1, groups: EVIDENCE };
  expect(await eventsOf('claimed')).toMatchObject([{ body: claimed }]);
  expect(await eventsOf('succeeded')).toMatchObject([{ from: 'executing', to: 'succeeded' }]);
  expect((await verifyChain(db, Buffer.alloc(32, 7))).ok).toBe(true);
});

test('a refused query is recorded', async () => {
  const { stage, eventsOf } = await openReadableStage();
  await stage.slack.command(EMIL, 'ops', '/service list');
  await stage.privateWord(EMIL, 'You can’t use');
  const body = { by: EMIL, tried: 'service list', refusal: 'not-a-requester', groups: EVIDENCE };
  expect(await eventsOf('refused')).toMatchObject([{ body }]);
});

test('a refused request is recorded', async () => {
  const { stage, eventsOf } = await openReadableStage();
  await stage.slack.command(DORA, 'ops', '/service stop staging because');
  await stage.privateWord(DORA, 'You can’t use');
  const body = { by: DORA, tried: 'service stop', target: 'staging', groups: EVIDENCE };
  expect(await eventsOf('refused')).toMatchObject([{ body }]);
});

test('a refused click is recorded, also one that would open a form', async () => {
  const { stage, eventsOf } = await openReadableStage();
  const card = await ask(stage);
  await stage.press(DORA, card, 'change.approve');
  await stage.privateWord(DORA, 'can decide this');
  await stage.press(EMIL, card, 'change.reject');
  await stage.privateWord(EMIL, 'can decide this');
  const [approving, rejecting] = await eventsOf('refused');
  const why = { refusal: 'not-an-approver', groups: EVIDENCE };
  expect(approving?.body).toMatchObject({ by: DORA, tried: 'approve', ...why });
  expect(rejecting?.body).toMatchObject({ by: EMIL, tried: 'reject', ...why });
});
