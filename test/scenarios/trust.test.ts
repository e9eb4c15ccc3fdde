import { expect, test } from 'vitest';
import { freshUrl, run } from '../storage/engines.ts';
import { ask, empty, STAGING } from './request.ts';
import { ANA, BEN, CLEO, GUS, openStage, textOf } from './stage.ts';

/** An approved change that waits because the cloud is rate-limited, so that a test can intervene. */
async function approvedAndWaiting(engine: 'sqlite' | 'postgres' = 'sqlite') {
  const url = await freshUrl(engine);
  const stage = await openStage({ databaseUrl: url });
  stage.cloud.injectFault({ operation: 'set state', fault: '429-retry-after', times: 1 });
  await stage.press(BEN, await ask(stage), 'change.approve');
  await stage.card('nothing was sent');
  const later = () => {
    stage.clock.now = new Date(stage.clock.now.getTime() + 120_000);
    stage.wake();
  };
  return { stage, later, url };
}

test('an approver who left the group does not count when the change runs', async () => {
  const { stage, later } = await approvedAndWaiting();
  await stage.slack.admin.setGroup('db-leads', [CLEO, GUS]);
  later();
  await stage.card('not run: the current policy refuses it');
  expect(stage.cloud.effectCount('set state', STAGING)).toBe(0);
});

test('membership is read again right before sending, even if it was just read', async () => {
  const { stage } = await approvedAndWaiting();
  // Slack's events are lost, and Ben's membership was read less than a minute ago.
  stage.slack.deliverTo(null);
  const update = stage.slack.admin.setGroup('db-leads', [CLEO, GUS]);
  update.catch(() => undefined);
  stage.clock.now = new Date(stage.clock.now.getTime() + 5_000);
  stage.wake();
  await stage.card('not run: the current policy refuses it');
  expect(stage.cloud.effectCount('set state', STAGING)).toBe(0);
});

test('a change that was modified in the database after its approval is not sent', async () => {
  const { stage, later, url } = await approvedAndWaiting('postgres');
  await run(url, `update change set plan = replace(plan, '"stop"', '"start"')`);
  later();
  await stage.card('not run: it changed since the preview');
  expect(stage.cloud.effectCount('set state', STAGING)).toBe(0);
});

test('an approval written directly into the database does not count', async () => {
  const url = await freshUrl('postgres');
  const stage = await openStage({ databaseUrl: url });
  await ask(stage);
  await run(
    url,
    `insert into approval (change_id, person, decision, digest, at, source)
       select id, '${BEN}', 'approved', digest, created_at, 'slack' from change`,
  );
  await run(url, "update change set state = 'approved', version = version + 1");
  stage.wake();
  const card = await stage.card('not run: ');
  expect(textOf(card ?? empty)).toContain('the database was modified directly');
  expect(stage.cloud.effectCount('set state', STAGING)).toBe(0);
});

test('changes of a requester who was deactivated do not run', async () => {
  const { stage, later } = await approvedAndWaiting();
  await stage.slack.admin.deactivate(ANA);
  later();
  const card = await stage.card('not run: the current policy refuses it');
  expect(textOf(card ?? empty)).toContain('deactivated');
  expect(stage.cloud.effectCount('set state', STAGING)).toBe(0);
});

test('a stricter current policy applies to changes approved under the previous one', async () => {
  const { stage } = await approvedAndWaiting();
  // The old process must stop before the clock advances, or it runs the change under the old policy.
  await stage.down();
  stage.clock.now = new Date(stage.clock.now.getTime() + 120_000);
  await stage.restart((file) => {
    const rules = JSON.stringify(file).replaceAll('"count":1', '"count":2');
    return JSON.parse(rules);
  });
  const card = await stage.card('not run: the current policy refuses it');
  expect(textOf(card ?? empty)).toContain('The current policy requires more approvals');
  expect(stage.cloud.effectCount('set state', STAGING)).toBe(0);
});

test('a freeze stops changes that were approved before it', async () => {
  const { stage } = await approvedAndWaiting();
  await stage.down();
  stage.clock.now = new Date(stage.clock.now.getTime() + 120_000);
  await stage.restart((file) => ({
    ...file,
    freezes: [
      {
        from: '2026-11-20T12:01Z',
        until: '2026-11-21T00:00Z',
        on: { tags: ['staging'] },
        reason: 'sale',
      },
    ],
  }));
  const card = await stage.card('not run: the current policy refuses it');
  expect(textOf(card ?? empty)).toContain('staging was frozen until ');
  expect(textOf(card ?? empty)).toContain('(sale).');
  expect(stage.cloud.effectCount('set state', STAGING)).toBe(0);
});

interface Ruled {
  readonly policy: readonly { readonly allow: readonly string[] }[];
}

/** The configuration file without the rules for services. */
function withoutServices(file: Record<string, never>) {
  const { policy, ...rest } = file as unknown as Ruled;
  const speaks = ({ allow }: Ruled['policy'][number]) => !allow.includes('service *');
  return { ...rest, policy: policy.filter(speaks) };
}

test('a waiting change that no rule allows any more does not run, and its card says so', async () => {
  const stage = await openStage({ databaseUrl: await freshUrl('sqlite') });
  const card = await ask(stage);
  await stage.restart(withoutServices);
  await stage.press(BEN, card, 'change.approve');
  const ended = await stage.card('not run: the current policy refuses it');
  expect(textOf(ended ?? empty)).toContain(
    'No rule of the current policy allows /service stop on staging.',
  );
  expect(stage.cloud.count('set state')).toBe(0);
});

test('a change whose requester lost the permission does not run', async () => {
  const stage = await openStage({ databaseUrl: await freshUrl('sqlite') });
  const card = await ask(stage);
  await stage.restart((file) =>
    JSON.parse(JSON.stringify(file).replaceAll('"to":"operator"', '"to":"approver"')),
  );
  await stage.press(BEN, card, 'change.approve');
  const ended = await stage.card('not run: the current policy refuses it');
  expect(textOf(ended ?? empty)).toContain('The current policy does not let ');
  expect(stage.cloud.count('set state')).toBe(0);
});

test('a change that the policy now forbids for everyone does not run', async () => {
  const stage = await openStage({ databaseUrl: await freshUrl('sqlite') });
  const card = await ask(stage);
  await stage.restart((file) => ({
    ...(file as object),
    never: [{ commands: ['service stop'], reason: 'The lab runs all night' }],
  }));
  await stage.press(BEN, card, 'change.approve');
  const ended = await stage.card('not run: the current policy refuses it');
  expect(textOf(ended ?? empty)).toContain('The lab runs all night');
  expect(stage.cloud.count('set state')).toBe(0);
});

test('nothing is approved while the membership lookup fails', async () => {
  const stage = await openStage();
  const card = await ask(stage);
  stage.slack.failNext({
    method: 'usergroups.users.list',
    times: 8,
    how: { error: 'internal_error' },
  });
  await stage.press(BEN, card, 'change.approve');
  await stage.privateWord(BEN, 'Slack did not answer the membership lookup');
  expect(textOf((await stage.card('waiting for approval')) ?? empty)).toContain('0 of 1');

  stage.slack.clearFaults();
  await stage.press(BEN, card, 'change.approve');
  await stage.card('Stop staging: accepted');
});

test('an approved change waits while the membership lookup fails', async () => {
  const { stage, later } = await approvedAndWaiting();
  const asked = stage.slack.calls('users.info').length;
  stage.slack.failNext({ method: 'users.info', times: 40, how: { error: 'internal_error' } });
  later();
  await expect.poll(() => stage.slack.calls('users.info').length).toBeGreaterThan(asked + 1);
  expect(textOf((await stage.card('Stop staging: approved')) ?? empty)).toContain('1 of 1');
  expect(stage.cloud.effectCount('set state', STAGING)).toBe(0);
  stage.slack.clearFaults();
  later();
  await stage.card('Stop staging: accepted');
});

test('a card that Slack refused is posted again', async () => {
  const stage = await openStage();
  const before = stage.slack.calls('chat.postMessage').length;
  stage.slack.failNext({ method: 'chat.postMessage', times: 1, how: { error: 'internal_error' } });
  await stage.slack.command(ANA, 'ops', '/service stop staging for the night');
  await stage.press(ANA, await stage.privateWord(ANA, 'Stop staging?'), 'change.confirm');
  await expect.poll(() => stage.slack.calls('chat.postMessage')).toHaveLength(before + 1);
  stage.clock.now = new Date(stage.clock.now.getTime() + 10_000);
  stage.wake();
  await stage.card('waiting for approval');
  expect(stage.slack.messages('db-approvals')).toHaveLength(1);
});

test('a card keeps working after a restart', async () => {
  const stage = await openStage({ databaseUrl: await freshUrl('sqlite') });
  const card = await ask(stage);
  await stage.restart();
  await stage.press(BEN, card, 'change.approve');
  await stage.card('Stop staging: accepted');
  const cards = stage.slack.messages('db-approvals').filter(({ threadTs }) => threadTs === null);
  expect(cards).toHaveLength(1);
  await stage.slack.command(ANA, 'ops', '/service show staging');
  const shown = await stage.privateWord(ANA, 'reply to service stop');
  expect(textOf(shown ?? empty)).toContain('stopping');
});
