import { expect, test } from 'vitest';
import { ENGINES, freshUrl } from '../storage/engines.ts';
import { approved, goTo, idOf, saysCard, threadOf } from './actions.ts';
import { ask, empty, STAGING } from './request.ts';
import { ANA, BEN, buttonsOf, FINN, openStage, type Stage } from './stage.ts';

const sent = (stage: { cloud: { count: (operation: string) => number } }) =>
  stage.cloud.count('set state');

test.for(ENGINES)(
  'a temporary stop is reverted after four hours, also across restarts (%s)',
  async (engine) => {
    const stage = await openStage({ databaseUrl: await freshUrl(engine) });
    await approved(stage, '/service stop staging for=4h cleaning up');
    await stage.card('Stop staging: accepted');
    const planned = await stage.card('Start staging: planned');
    await saysCard(stage, 'Stop staging: accepted', `(${idOf(planned)})`);
    expect(sent(stage)).toBe(1);
    await stage.restart();
    goTo(stage, '15:59');
    await stage.restart();
    expect(sent(stage)).toBe(1);
    goTo(stage, '16:00');
    const back = await stage.card('Start staging: accepted');
    await saysCard(stage, 'Stop staging: accepted', `by ${idOf(back)}`);
    expect(
      stage.cloud
        .requests()
        .filter(({ operation }) => operation === 'set state')
        .map(({ body }) => body),
    ).toEqual([{ command: 'stop' }, { command: 'start' }]);
  },
);

test('the revert shows the opposite cost effect of its change', async () => {
  const stage = await openStage();
  await approved(stage, '/service stop staging for=4h cleaning up');
  const there = await stage.card('Stop staging: accepted');
  expect(there?.text).toMatch(/Cost {2}−[\d.]+ credits .*; −[\d.]+ in the 4 h until the revert/);
  const [, perDay = ''] = /Cost +−([\d.]+) credits/.exec(there?.text ?? '') ?? [];
  const back = await stage.card('Start staging: planned');
  expect(back?.text).toContain(`+${perDay} credits per day, as before ${idOf(there)}`);
});

test('a scheduled change waits for its time and runs once', async () => {
  const stage = await openStage();
  await stage.slack.command(ANA, 'ops', '/service stop staging for the night at=20:00');
  const preview = await stage.privateWord(ANA, 'Stop staging?');
  expect(preview?.text).toContain('Runs  <!date^1795201200^');
  await stage.press(ANA, preview, 'change.confirm');
  const card = await stage.card('waiting for approval');
  expect(card?.text).toContain('Approve by  <!date^');
  await stage.press(BEN, card, 'change.approve');
  expect((await stage.card('Stop staging: approved'))?.text).toContain(
    'It can be cancelled until then',
  );
  goTo(stage, '18:59');
  await expect.poll(() => stage.cloud.count('set state')).toBe(0);
  goTo(stage, '19:00');
  await stage.card('Stop staging: accepted');
  expect(sent(stage)).toBe(1);
});

test('a scheduled temporary change is reverted the given time after it ran', async () => {
  const stage = await openStage();
  await approved(stage, '/service stop staging in=2h for=30m');
  await stage.card('Stop staging: approved');
  goTo(stage, '14:05');
  await stage.card('Stop staging: accepted');
  const planned = await stage.card('Start staging: planned');
  expect(planned?.text).toContain('2026-11-20T14:35:00.000Z');
  goTo(stage, '14:35');
  await stage.card('Start staging: accepted');
});

test('a change that is not approved by its scheduled time expires', async () => {
  const stage = await openStage();
  await ask(stage, ANA, '/service stop staging at=14:00');
  goTo(stage, '13:00');
  expect(buttonsOf((await stage.card('Stop staging: expired')) ?? empty)).toEqual([]);
  expect(sent(stage)).toBe(0);
});

test.for<[string, string, string]>([
  ['19:59', 'Stop staging: accepted', 'was accepted'],
  ['20:00', 'Stop staging: expired', 'could not start within an hour'],
])('after a downtime until %s, a change scheduled for 19:00: %s', async ([hour, title, words]) => {
  const stage = await openStage({ databaseUrl: await freshUrl('sqlite') });
  const ts = await approved(stage, '/service stop staging at=20:00');
  await stage.card('Stop staging: approved');
  await stage.down();
  stage.clock.now = new Date(`2026-11-20T${hour}:00.000Z`);
  await stage.restart();
  await stage.card(title);
  await expect.poll(() => threadOf(stage, ts)).toContain(words);
});

test.for<[string, string, number]>([
  ['15:59', 'Start staging: accepted', 2],
  ['16:00', 'Start staging: expired', 1],
])(
  'after a downtime until %s of the next day, a revert scheduled for 16:00: %s',
  async ([hour, title, count]) => {
    const stage = await openStage({ databaseUrl: await freshUrl('sqlite') });
    await approved(stage, '/service stop staging for=4h');
    await stage.card('Start staging: planned');
    await stage.down();
    stage.clock.now = new Date(`2026-11-21T${hour}:00.000Z`);
    await stage.restart();
    const card = await stage.card(title);
    expect(sent(stage)).toBe(count);
    if (count === 1) {
      await expect
        .poll(() => threadOf(stage, card?.ts ?? ''))
        .toContain('could not start within a day');
      await expect.poll(() => threadOf(stage, card?.ts ?? '')).toContain('change.take-back');
    }
  },
);

test('a cancelled revert changes nothing, and both cards say so', async () => {
  const stage = await openStage();
  await approved(stage, '/service stop staging for=4h');
  const planned = await stage.card('Start staging: planned');
  await stage.press(BEN, planned, 'change.cancel');
  await stage.privateWord(BEN, 'Only');
  await stage.press(ANA, planned, 'change.cancel');
  await stage.card('Start staging: cancelled');
  await expect.poll(() => threadOf(stage, planned?.ts ?? '')).toContain('everything stays as');
  await saysCard(
    stage,
    'Stop staging: accepted',
    `not automatically: ${idOf(planned)} is cancelled`,
  );
  goTo(stage, '17:00');
  await expect.poll(() => sent(stage)).toBe(1);
});

test('a revert does not overwrite a newer change and asks instead', async () => {
  const stage = await openStage();
  await approved(stage, '/service stop staging for=4h');
  await stage.card('Start staging: planned');
  goTo(stage, '13:00');
  await approved(stage, '/service start staging needed after all');
  await stage.card('Start staging: accepted');
  goTo(stage, '16:00');
  const stale = await stage.card('Start staging: not run: it changed since the preview');
  const said = () => stage.slack.messages('db-approvals').find((one) => one.threadTs === stale?.ts);
  await expect.poll(said).toBeDefined();
  expect(said()?.text).toContain('staging changed after the preview');
  expect(sent(stage)).toBe(2);
  await stage.press(FINN, said(), 'change.take-back');
  const preview = await stage.privateWord(FINN, 'Start staging?');
  expect(preview?.text).toContain('undo of');
});

test('a temporary scale reverts only the fields that it changed', async () => {
  const stage = await openStage();
  await approved(stage, '/service scale staging min=16 max=32');
  await stage.card('Scale staging: accepted');
  goTo(stage, '13:00');
  await approved(stage, '/service scale staging max=64 for=2d');
  await stage.card('Scale staging: planned');
  goTo(stage, '13:00', '2026-11-22');
  const bodies = () =>
    stage.cloud.requests().flatMap(({ operation, body }) => (operation === 'scale' ? [body] : []));
  await expect.poll(bodies).toHaveLength(3);
  expect(bodies().slice(1)).toEqual([{ maxReplicaMemoryGb: 64 }, { maxReplicaMemoryGb: 32 }]);
});

test('a temporary scale of a service with unknown size is refused, and the form keeps the values', async () => {
  const stage = await openStage();
  await stage.slack.command(ANA, 'ops', '/service scale staging max=32 for=4h');
  await stage.modal(ANA, 'service.scale');
  const form = JSON.stringify(stage.slack.clientState(ANA).views.at(-1));
  expect(form).toContain('the previous values are not known');
  expect(form).toContain('"initial_value":"4h"');
  expect(form).toContain('"value":"32"');
});

async function temporaryAlertEdit(stage: Stage) {
  const alert = stage.alerts.alerts().find(({ name }) => name === '5xx rate');
  const id = alert?.id ?? '';
  await stage.slack.command(ANA, 'ops', '/alert edit "5xx rate" threshold=250 for=2h');
  await stage.press(ANA, await stage.privateWord(ANA, 'Edit alert 5xx rate?'), 'change.confirm');
  await stage.press(BEN, await stage.card('waiting for approval'), 'change.approve');
  return { id, threshold: () => stage.alerts.alert(id)?.threshold };
}

test('a temporary alert edit is reverted to the previous values', async () => {
  const stage = await openStage();
  const { threshold } = await temporaryAlertEdit(stage);
  const planned = await stage.card('Edit alert 5xx rate: planned');
  expect(planned?.text).toContain('250 → 100');
  goTo(stage, '14:00');
  await expect.poll(threshold).toBe(100);
});

test('a temporary alert edit is not reverted after another edit', async () => {
  const stage = await openStage();
  const { id, threshold } = await temporaryAlertEdit(stage);
  await stage.card('Edit alert 5xx rate: planned');
  stage.alerts.editAlert(id, { threshold: 300 });
  goTo(stage, '14:00');
  const card = await stage.card('not run: it changed since the preview');
  expect(buttonsOf(card ?? empty)).toContain('change.take-back');
  expect(threshold()).toBe(300);
});

test('a revert that the policy refuses does not run, and its card offers a new request', async () => {
  const stage = await openStage({ databaseUrl: await freshUrl('sqlite') });
  await approved(stage, '/service stop staging for=4h');
  await stage.card('Start staging: planned');
  goTo(stage, '16:00');
  await stage.slack.admin.setGroup('db-operators', [FINN]);
  const card = await stage.card('not run: the current policy refuses it');
  expect(buttonsOf(card ?? empty)).toContain('change.take-back');
  expect(stage.cloud.effectCount('set state', STAGING)).toBe(1);
});

/** Creates a freeze at 15:00, an hour before the revert of a temporary stop is due. */
async function frozenBeforeRevert(span: string) {
  const stage = await openStage();
  await approved(stage, '/service stop staging for=4h');
  const planned = await stage.card('Start staging: planned');
  goTo(stage, '15:00');
  await stage.slack.command(ANA, 'ops', `/change freeze staging until=${span} backfill`);
  await stage.press(ANA, await stage.privateWord(ANA, 'Freeze staging?'), 'change.confirm');
  await stage.press(BEN, await stage.card('Freeze staging: waiting'), 'change.approve');
  const freeze = await stage.card('Freeze staging: done');
  goTo(stage, '16:00');
  await stage.card('Start staging: not run: the current policy refuses it');
  const ts = planned?.ts ?? '';
  const asked = () =>
    stage.slack
      .messages('db-approvals')
      .find(({ threadTs, text }) => threadTs === ts && text.includes('is no longer frozen'));
  return { stage, ts, freeze, asked };
}

test('a revert blocked by a freeze explains why, and is offered when the freeze ends', async () => {
  const { stage, ts, asked } = await frozenBeforeRevert('4h');
  await expect.poll(() => threadOf(stage, ts)).toContain('staging was frozen until');
  expect(threadOf(stage, ts)).toContain(`<@${ANA}>`);
  expect(threadOf(stage, ts)).toContain('When the freeze ends, Signalbox asks here again');
  goTo(stage, '18:59');
  await expect.poll(() => sent(stage)).toBe(1);
  expect(asked()).toBeUndefined();

  goTo(stage, '19:00');
  await expect.poll(asked).toBeDefined();
  expect(asked()?.text).toContain(`<@${ANA}> staging is no longer frozen.`);
  await stage.press(ANA, asked(), 'change.take-back');
  const preview = await stage.privateWord(ANA, 'Start staging?');
  expect(preview?.text).toContain('undo of');
  expect(sent(stage)).toBe(1);
});

test('a revert is offered as soon as its freeze is ended early', async () => {
  const { stage, freeze, asked } = await frozenBeforeRevert('2d');
  await stage.press(ANA, freeze, 'change.undo');
  await stage.press(ANA, await stage.privateWord(ANA, 'Unfreeze staging?'), 'change.confirm');
  await stage.press(BEN, await stage.card('Unfreeze staging: waiting'), 'change.approve');
  await stage.card('Unfreeze staging: done');
  stage.wake();
  await expect.poll(asked).toBeDefined();
});

test('a revert is offered only after the last of two freezes has ended', async () => {
  const { stage, asked } = await frozenBeforeRevert('4h');
  await stage.slack.command(FINN, 'ops', '/change freeze everything until=6h all hands');
  await stage.press(FINN, await stage.privateWord(FINN, 'Freeze everything?'), 'change.confirm');
  await stage.press(BEN, await stage.card('Freeze everything: waiting'), 'change.approve');
  await stage.card('Freeze everything: done');
  goTo(stage, '19:00');
  await stage.slack.command(FINN, 'ops', '/change freezes');
  await stage.privateWord(FINN, 'all hands');
  expect(asked()).toBeUndefined();

  await stage.slack.command(FINN, 'ops', '/change unfreeze everything');
  await stage.press(FINN, await stage.privateWord(FINN, 'Unfreeze everything?'), 'change.confirm');
  await stage.press(BEN, await stage.card('Unfreeze everything: waiting'), 'change.approve');
  await stage.card('Unfreeze everything: done');
  stage.wake();
  await expect.poll(asked).toBeDefined();
});

test('a revert is not offered if the target was edited elsewhere during the freeze', async () => {
  const stage = await openStage();
  const { id, threshold } = await temporaryAlertEdit(stage);
  const planned = await stage.card('Edit alert 5xx rate: planned');
  await stage.slack.command(ANA, 'ops', '/change freeze everything until=4h all hands');
  await stage.press(ANA, await stage.privateWord(ANA, 'Freeze everything?'), 'change.confirm');
  await stage.press(BEN, await stage.card('Freeze everything: waiting'), 'change.approve');
  await stage.card('Freeze everything: done');
  goTo(stage, '14:00');
  await stage.card('Edit alert 5xx rate: not run: the current policy refuses it');
  stage.alerts.editAlert(id, { threshold: 300 });
  const reads = () => stage.alerts.count('get alert');
  const before = reads();
  goTo(stage, '16:00');
  await expect.poll(reads).toBeGreaterThan(before);
  expect(threadOf(stage, planned?.ts ?? '')).not.toContain('no longer frozen');
  expect(threshold()).toBe(300);
});

async function resolveAsApplied(stage: Stage, title: string) {
  const unknown = await stage.card(`${title}: outcome unknown`);
  goTo(stage, '13:30');
  await stage.press(BEN, unknown, 'change.happened');
  await stage.slack.submit(BEN, await stage.modal(BEN, 'change.happened'), {
    reason: { reason: { type: 'plain_text_input', value: 'the console shows it' } },
  });
}

test.for<[string, string, string, unknown]>([
  ['Stop staging', '/service stop staging for=4h', 'Start staging', { command: 'start' }],
  ['Start archive', '/service start archive for=4h', 'Stop archive', { command: 'stop' }],
  [
    'Scale staging',
    '/service scale staging min=32 max=64 idle=off for=4h',
    'Scale staging',
    { minReplicaMemoryGb: 16, maxReplicaMemoryGb: 32, idleScaling: true },
  ],
])('%s: after its unknown outcome is resolved as applied, it is reverted on time', async (row) => {
  const [title, line, back, body] = row;
  const stage = await openStage();
  if (title.startsWith('Scale')) {
    await approved(stage, '/service scale staging min=16 max=32 idle=on');
    await stage.card('Scale staging: accepted');
  }
  goTo(stage, '13:00');
  const operation = title.startsWith('Scale') ? 'scale' : 'set state';
  stage.cloud.injectFault({ operation, fault: 'close-after-effect', times: 1 });
  await stage.slack.command(ANA, 'ops', line);
  await stage.press(ANA, await stage.privateWord(ANA, `${title}?`), 'change.confirm');
  await stage.press(BEN, await stage.card(`${title}: waiting for approval`), 'change.approve');
  await resolveAsApplied(stage, title);
  const planned = await stage.card(`${back}: planned`);
  // Four hours after it was sent, not after the outcome was recorded.
  expect(planned?.text).toContain('2026-11-20T17:00:00.000Z');
  const before = stage.cloud.effectCount(operation);
  goTo(stage, '17:00');
  await expect.poll(() => stage.cloud.effectCount(operation)).toBe(before + 1);
  expect(stage.cloud.requests().findLast((one) => one.operation === operation)?.body).toEqual(body);
});

test('an alert edit without an answer is verified by a read, and reverted on time', async () => {
  const stage = await openStage();
  stage.alerts.injectFault({ operation: 'update alert', fault: 'close-after-effect', times: 1 });
  const { threshold } = await temporaryAlertEdit(stage);
  await stage.card('Edit alert 5xx rate: planned');
  expect(threshold()).toBe(250);
  goTo(stage, '14:00');
  await expect.poll(threshold).toBe(100);
});

test('an alert edit that a user resolves as applied is reverted on time', async () => {
  const stage = await openStage();
  stage.alerts.injectFault({ operation: 'update alert', fault: 'reset', times: 1 });
  const { id, threshold } = await temporaryAlertEdit(stage);
  await stage.card('Edit alert 5xx rate: outcome unknown');
  stage.alerts.editAlert(id, { threshold: 250 });
  await resolveAsApplied(stage, 'Edit alert 5xx rate');
  await stage.card('Edit alert 5xx rate: planned');
  goTo(stage, '14:00');
  await expect.poll(threshold).toBe(100);
});
