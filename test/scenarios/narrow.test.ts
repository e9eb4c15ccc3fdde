import { expect, test } from 'vitest';
import { buttonsOf, textOf } from '../harness/messages.ts';
import { eventsIn } from '../harness/read-log.ts';
import {
  cardAfterRetries,
  changeIdOf,
  requestChange,
  setTime,
  threadText,
} from '../harness/requests.ts';
import { deliverPayload, sentBy } from '../harness/signing.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, CLEO, DORA, FINN } from '../harness/users.ts';
import { emptyUrl } from '../storage/engines.ts';

const TITLE = 'scale analytics-prod';
const LINE = '/service scale analytics-prod max=64 replicas=2 for=4h for the quarter end';

// A revert of a scale needs the sizes before it, which only the optional reads show.
const reading = (file: object) => ({ ...file, cloud: { reads: 'extended' } });

/** What an approver fills in. */
const filled = (values: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const text = { type: 'plain_text_input', value };
      const chosen = { type: 'static_select', selected_option: { value, text: { text: value } } };
      return [name, { [name]: name.endsWith('MemoryGb') ? chosen : text }];
    }),
  );

const shown = async (sandbox: TestSandbox, words = TITLE) => textOf(await sandbox.card(words));

const scaled = (sandbox: TestSandbox) =>
  sandbox.cloud
    .requests()
    .filter(({ operation }) => operation === 'scale')
    .map(({ body }) => body);

type Card = Awaited<ReturnType<typeof requestChange>>;

async function openLess(sandbox: TestSandbox, by: string, card: Card) {
  await sandbox.press(by, card, 'change.narrow');
  return sandbox.modal(by, 'change.narrow');
}

async function approveLess(
  sandbox: TestSandbox,
  by: string,
  card: Card,
  values: Readonly<Record<string, string>>,
) {
  const form = await openLess(sandbox, by, card);
  await sandbox.slack.submit(by, form, filled(values));
  return form;
}

const errorsOf = (sandbox: TestSandbox, by: string) =>
  sandbox.slack
    .clientState(by)
    .views.flatMap(({ errors }) => Object.values(errors))
    .join('\n');

/** The approver does not reach the pauses of the server's request budget while the clock stands. */
const runs = (sandbox: TestSandbox) => cardAfterRetries(sandbox, 'is scaling');

test('what two people approved with less runs as the second one left it', async () => {
  const databaseUrl = await emptyUrl('sqlite');
  const sandbox = await startTestSandbox({ databaseUrl, yaml: reading });
  const card = await requestChange(sandbox, ANA, LINE);
  expect(buttonsOf(card)).toContain('change.narrow');
  await approveLess(sandbox, BEN, card, { maxReplicaMemoryGb: '48', for: '2h' });
  const less = 'Maximum memory per replica (GB) 64 → 48, reverts 4 h later → 2 h later';
  await expect.poll(() => shown(sandbox)).toContain(`Narrowed by  <@${BEN}>: ${less}`);
  expect(await shown(sandbox)).toContain('(1 of 2 from');
  await expect.poll(() => threadText(sandbox, card.ts)).toContain(`with less: ${less}.`);
  const told = await sandbox.privateMessage(ANA, `with less: ${less}.`);
  expect(told?.channel.startsWith('D')).toBe(true);

  await approveLess(sandbox, CLEO, card, { numReplicas: '1' });
  await runs(sandbox);
  expect(scaled(sandbox)).toEqual([{ maxReplicaMemoryGb: 48, numReplicas: 1 }]);
  expect(await shown(sandbox, 'is scaling')).toContain('Replicas 2 → 1');
  await expect.poll(() => threadText(sandbox, card.ts)).toContain('less: Replicas 2 → 1.');
  const id = changeIdOf(await sandbox.card('is scaling'));
  await sandbox.slack.command(DORA, 'ops', `/change show ${id}`);
  const story = textOf(await sandbox.privateMessage(DORA, 'approved it with less'));
  expect(story).toContain(`approved it with less: ${less}`);
  expect(story).toContain('approved it with less: Replicas 2 → 1');
});

test('an approval of the wider card counts for what another one lowered meanwhile', async () => {
  const databaseUrl = await emptyUrl('sqlite');
  const sandbox = await startTestSandbox({ databaseUrl, yaml: reading });
  const card = structuredClone(await requestChange(sandbox, ANA, LINE));
  await approveLess(sandbox, BEN, card, { maxReplicaMemoryGb: '48' });
  await expect.poll(() => shown(sandbox)).toContain('Narrowed by');
  // Cleo still sees the card as it was first.
  await deliverPayload(sandbox, {
    ...{ ...sentBy(CLEO), type: 'block_actions', channel: { id: card.channel } },
    container: { type: 'message', message_ts: card.ts },
    message: { blocks: card.blocks },
    actions: [{ action_id: 'change.approve', block_id: 'b', value: changeIdOf(card) }],
  });
  await runs(sandbox);
  expect(scaled(sandbox)).toEqual([{ maxReplicaMemoryGb: 48, numReplicas: 2 }]);
  const told = textOf(await sandbox.privateMessage(CLEO, 'Approved, with less than you saw.'));
  expect(told).toContain('64 → 48');
});

test('an end can be added, and the start delayed, in the time zone of the approver', async () => {
  const sandbox = await startTestSandbox();
  const card = await requestChange(sandbox, ANA, '/service stop staging at=20:00 for the night');
  // The sandbox's people live in Berlin: 19:00 UTC is 20:00.
  await approveLess(sandbox, BEN, card, { at: '22:00', for: '90 minutes' });
  const text = await shown(sandbox, 'Stop staging: approved');
  expect(text).toContain('Narrowed by');
  expect(text).toContain('90 min later');
  setTime(sandbox, '20:59');
  await expect.poll(() => sandbox.cloud.count('set state')).toBe(0);
  setTime(sandbox, '21:00');
  await cardAfterRetries(sandbox, 'staging is stopping');
  const planned = await sandbox.card('Start staging: planned');
  expect(planned?.text).toMatch(/2026-11-20T22:3\d/);
});

test('a creation can be lowered as well', async () => {
  const sandbox = await startTestSandbox();
  const line =
    '/service create more provider=aws region=eu-central-1 min=8 max=64 replicas=3 ip=10.0.0.0/8';
  await sandbox.confirm(ANA, line, '?');
  const card = await sandbox.card('requests: ');
  await approveLess(sandbox, BEN, card as Card, { maxReplicaMemoryGb: '32', numReplicas: '2' });
  const less = 'Maximum memory per replica (GB) 64 → 32, Replicas 3 → 2';
  await expect.poll(() => shown(sandbox, 'Narrowed by')).toContain(less);
});

/** What is not less, and why the form keeps it. */
const NOT_LESS: readonly (readonly [string, Readonly<Record<string, string>>, RegExp])[] = [
  ['a larger size', { maxReplicaMemoryGb: '96' }, /must be at most 64/],
  ['the same in another unit', { for: '240m', maxReplicaMemoryGb: '64' }, /Nothing is less/],
  ['the same size with its unit', { maxReplicaMemoryGb: '64 GB' }, /Nothing is less/],
  ['a larger size in another unit', { maxReplicaMemoryGb: '1 TB' }, /must be/],
  ['a longer time in another unit', { for: '300 minutes' }, /must be shorter/],
  ['a time that is too short', { for: '10m' }, /must be from 30m/],
  ['a negative size', { maxReplicaMemoryGb: '-8' }, /must be/],
  ['a negative number', { numReplicas: '-1' }, /at least 1/],
  ['a negative time', { for: '-2h' }, /must be from 30m/],
  ['a start in the past', { at: '2026-11-19 08:00+01:00' }, /is in the past/],
  ['a start in another zone that is past', { at: '2026-11-20 12:30+05:00' }, /is in the past/],
  ['a start after the end', { at: '2026-11-20 23:00Z' }, /half hour before its end/],
  [
    'a start that leaves the end where it was, with the same time',
    { at: '14:00', for: '4h' },
    /later/,
  ],
  ['a word', { numReplicas: 'two' }, /enter a number/],
  ['nothing', {}, /Nothing is less/],
  ['another argument', { minReplicaMemoryGb: '8', idleScaling: 'on' }, /Nothing is less/],
];

test('the form keeps what is not less, and says why', async () => {
  const sandbox = await startTestSandbox({ yaml: reading });
  const card = await requestChange(sandbox, ANA, LINE);
  const form = await openLess(sandbox, BEN, card);
  for (const [what, values, why] of NOT_LESS) {
    await sandbox.slack.submit(BEN, form, filled(values));
    expect(errorsOf(sandbox, BEN), what).toMatch(why);
  }
  expect(await shown(sandbox)).toContain('nobody yet');
});

test('an end is not added where its revert needs more approvals, or the values to restore are unknown', async () => {
  const strict = ({ policy, ...file }: { policy?: unknown[] }) => {
    const rule = { allow: ['service start'], to: 'operator' };
    const first = { ...rule, approvals: { from: 'approver', count: 3 } };
    return { ...file, policy: [first, ...(policy ?? [])] };
  };
  const sandbox = await startTestSandbox({ yaml: strict });
  const card = await requestChange(sandbox, ANA, '/service stop staging for the night');
  await approveLess(sandbox, BEN, card, { for: '2h' });
  await expect.poll(() => errorsOf(sandbox, BEN)).toContain('does not permit the revert');
  const scale = await requestChange(sandbox, ANA, '/service scale analytics-prod max=64 for costs');
  await approveLess(sandbox, CLEO, scale, { for: '2h' });
  await expect.poll(() => errorsOf(sandbox, CLEO)).toContain('previous values are not known');
});

test('a form that another approver has overtaken keeps its values, and says so', async () => {
  const sandbox = await startTestSandbox({ yaml: reading });
  const card = await requestChange(sandbox, ANA, LINE);
  const form = await openLess(sandbox, CLEO, card);
  await approveLess(sandbox, BEN, card, { maxReplicaMemoryGb: '40', for: '1h' });
  await expect.poll(() => shown(sandbox)).toContain('64 → 40');
  await sandbox.slack.submit(CLEO, form, filled({ maxReplicaMemoryGb: '48', for: '2h' }));
  await expect.poll(() => errorsOf(sandbox, CLEO)).toContain('than another approver left');
  await sandbox.slack.submit(CLEO, form, filled({ maxReplicaMemoryGb: '36' }));
  await runs(sandbox);
  expect(scaled(sandbox)).toEqual([{ maxReplicaMemoryGb: 36, numReplicas: 2 }]);
});

test('a form whose change has ended stays open and says so', async () => {
  const sandbox = await startTestSandbox({ yaml: reading });
  const card = await requestChange(sandbox, ANA, LINE);
  const form = await openLess(sandbox, BEN, card);
  await sandbox.press(ANA, card, 'change.cancel');
  await sandbox.card('Scale analytics-prod: cancelled');
  await sandbox.slack.submit(BEN, form, filled({ for: '2h' }));
  expect(errorsOf(sandbox, BEN)).toMatch(/Too late: it was cancelled\./);
});

test('no form opens for a person who may not approve', async () => {
  const sandbox = await startTestSandbox();
  const card = await requestChange(sandbox);
  for (const [by, why] of [
    [ANA, /someone else must approve it/],
    [DORA, /can decide this/],
    [FINN, /can decide this/],
  ] as const) {
    await sandbox.press(by, card, 'change.narrow');
    const answered = () => sandbox.slack.clientState(by).messages.map(textOf).join('\n');
    await expect.poll(answered).toMatch(why);
    expect(sandbox.slack.clientState(by).views).toEqual([]);
  }
});

/** The submission of a form that Slack once opened, as a client of this user can send it again. */
function replayed(sandbox: TestSandbox, by: string, values: Readonly<Record<string, string>>) {
  const { args } = sandbox.slack.calls('views.open').at(-1) ?? {};
  const { callback_id, private_metadata } = JSON.parse(String(args?.view));
  const state = { values: filled(values) };
  const view = { id: 'V1', type: 'modal', hash: '1.a', callback_id, private_metadata, state };
  return deliverPayload(sandbox, { ...sentBy(by), type: 'view_submission', view });
}

test('the form of another user counts for nothing, and a replayed one counts once', async () => {
  const databaseUrl = await emptyUrl('sqlite');
  const sandbox = await startTestSandbox({ databaseUrl, yaml: reading });
  const card = await requestChange(sandbox, ANA, LINE);
  const form = await openLess(sandbox, BEN, card);
  await replayed(sandbox, CLEO, { for: '2h' });
  await sandbox.privateMessage(CLEO, 'is not where Signalbox put it');
  await sandbox.slack.submit(BEN, form, filled({ for: '2h' }));
  await expect.poll(() => shown(sandbox)).toContain('(1 of 2 from');
  await replayed(sandbox, BEN, { for: '1h' });
  await replayed(sandbox, BEN, { for: '1h' });
  await sandbox.privateMessage(BEN, 'Already approved by you');
  expect(await shown(sandbox)).toContain('Reverts  2 h later');
  expect(await eventsIn(databaseUrl, 'narrowed')).toHaveLength(1);
  const refusals = (await eventsIn(databaseUrl, 'answered')).map(({ body }) => body.refusal);
  expect(refusals.filter((refusal) => refusal === 'already-approved')).toHaveLength(1);
});
