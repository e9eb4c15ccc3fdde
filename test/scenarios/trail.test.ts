import { expect, test } from 'vitest';
import { eventsIn } from '../harness/read-log.ts';
import { REFUSED } from '../harness/refused.ts';
import { requestChange } from '../harness/requests.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, DORA, EMIL } from '../harness/users.ts';
import { emptyUrl } from '../storage/engines.ts';

/** A bot with a database that the test can read at the same time. */
async function openReadable() {
  const databaseUrl = await emptyUrl('sqlite');
  const sandbox = await startTestSandbox({ databaseUrl });
  const bodies = async (type: string) =>
    (await eventsIn(databaseUrl, type)).map(({ body }) => body);
  return { sandbox, bodies, databaseUrl };
}

const GROUPS = expect.arrayContaining([
  expect.objectContaining({
    id: expect.stringMatching(/^S/),
    size: expect.any(Number),
    readAt: expect.stringMatching(/Z$/),
  }),
]);

test('each transition is an event with its user, its press and the groups that were read', async () => {
  const { sandbox, bodies } = await openReadable();
  await sandbox.press(BEN, await requestChange(sandbox), 'change.approve');
  await sandbox.card('staging is stopping');

  const roles = expect.arrayContaining(['operator']);
  expect(await bodies('drafted')).toMatchObject([
    {
      ...{ command: 'service stop', requester: ANA, configuration: expect.any(String) },
      evidence: { roles, groups: GROUPS },
    },
  ]);
  const press = expect.any(String);
  const evidence = { groups: GROUPS };
  expect(await bodies('confirmed')).toMatchObject([{ by: ANA, press, evidence }]);
  expect(await bodies('approved')).toMatchObject([{ by: BEN, press, evidence }]);
  expect(await bodies('claimed')).toMatchObject([{ attempt: 1, evidence }]);
  expect(await bodies('succeeded')).toHaveLength(1);
});

test('a refused query and a refused request are recorded', async () => {
  const { sandbox, bodies } = await openReadable();
  await sandbox.ask(EMIL, '/service list', "You can't ");
  await sandbox.ask(DORA, '/service stop staging because', "You can't ");
  const roles = expect.arrayContaining(['viewer']);
  expect(await bodies('refused')).toMatchObject([
    { by: EMIL, tried: 'service list', why: 'not-a-requester', evidence: { groups: GROUPS } },
    { by: DORA, tried: 'service stop', target: 'staging', evidence: { roles, groups: GROUPS } },
  ]);
});

test('a refused press is recorded, also one that would open a form', async () => {
  const { sandbox, bodies } = await openReadable();
  const card = await requestChange(sandbox);
  await sandbox.press(DORA, card, 'change.approve');
  await sandbox.privateMessage(DORA, REFUSED.notAnApprover);
  await sandbox.press(EMIL, card, 'change.reject');
  await sandbox.privateMessage(EMIL, REFUSED.notAnApprover);
  const answers = await bodies('answered');
  const why = { refusal: 'not-an-approver', evidence: { groups: GROUPS } };
  expect(answers.filter(({ refusal }) => refusal)).toMatchObject([{ what: 'approve', ...why }]);
  expect(await bodies('refused')).toMatchObject([
    { by: EMIL, tried: 'reject', why: 'not-an-approver', evidence: { groups: GROUPS } },
  ]);
});

test('each start and each stop is recorded, and each configuration that became active', async () => {
  const { sandbox, bodies, databaseUrl } = await openReadable();
  await sandbox.restart();
  await sandbox.restart((file) => ({ ...file, budgets: [] }));
  const life = await eventsIn(databaseUrl, 'started', 'stopped');
  expect(life.map(({ type }) => type)).toEqual([
    ...['started', 'stopped', 'started', 'stopped', 'started'],
  ]);
  const active = (await bodies('configured')).map(({ configuration }) => configuration);
  expect(active).toHaveLength(2);
  expect(new Set(active).size).toBe(2);
});
