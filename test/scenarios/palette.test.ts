import { expect, test } from 'vitest';
import type { Json } from '../../sandbox/json.ts';
import { ANA, DORA, EMIL, FINN, openStage, type Stage } from './stage.ts';

const OPS = 'C0OPS000001';
const GENERAL = 'C0GENERAL01';

/** Finn posts a message in a channel; with `answered`, Ana starts a thread below it. */
async function written(stage: Stage, { answered = true, channel = OPS } = {}) {
  await stage.slack.sendMessage({ as: FINN, channel, text: 'staging is slow' });
  const ts = stage.slack.messages(channel).at(-1)?.ts ?? '';
  if (answered) await stage.slack.sendMessage({ as: ANA, channel, threadTs: ts, text: 'I look' });
  return { channel, ts };
}

async function opened(stage: Stage, as: string, message: { channel: string; ts: string }) {
  await stage.slack.shortcut({ as, callbackId: 'command.palette', ...message });
  const view = await stage.modal(as, 'command.palette');
  await expect.poll(() => shown(stage, as)).not.toContain('Loading');
  return view;
}

function shown(stage: Stage, as: string): string {
  return JSON.stringify(stage.slack.clientState(as).views.at(-1)?.blocks);
}

async function chosen(stage: Stage, as: string, viewId: string, name: string): Promise<string> {
  const option = { text: { type: 'plain_text', text: name }, value: name };
  await stage.slack.press({
    as,
    place: { in: 'view', viewId },
    blockId: 'command',
    actionId: 'command',
    element: { type: 'static_select', action_id: 'command', selected_option: option },
  });
  return stage.modal(as, name.replace(' ', '.'));
}

async function service(stage: Stage, as: string, viewId: string, name: string): Promise<Json> {
  const place = { in: 'view', viewId } as const;
  const asked = { as, place, blockId: 'service', actionId: 'service', value: name };
  const [option] = (await stage.slack.suggest(asked)).options;
  return { type: 'external_select', selected_option: option };
}

test('a query from a thread is answered in the thread, visible only to its user', async () => {
  const stage = await openStage();
  const message = await written(stage);
  const palette = await opened(stage, DORA, message);
  const form = await chosen(stage, DORA, palette, 'service show');
  expect(form).toBe(palette);
  const staging = await service(stage, DORA, form, 'staging');
  await stage.slack.submit(DORA, form, { service: { service: staging } });
  const answer = await stage.privateWord(DORA, '/service show staging');
  expect(answer).toMatchObject({ channel: OPS, threadTs: message.ts, ephemeral: true });
  expect(stage.slack.clientState(DORA).views).toEqual([]);
  const seen = stage.slack
    .clientState(FINN)
    .messages.filter(({ threadTs }) => threadTs === message.ts);
  expect(seen.map(({ text }) => text)).toEqual(['I look']);
});

test('a command without arguments works in a thread', async () => {
  const stage = await openStage();
  const palette = await opened(stage, DORA, await written(stage));
  const form = await chosen(stage, DORA, palette, 'service list');
  await stage.slack.submit(DORA, form);
  expect(await stage.privateWord(DORA, '12 services')).toMatchObject({ channel: OPS });
});

test('a change requested in a thread stays there until it is confirmed', async () => {
  const stage = await openStage();
  const message = await written(stage);
  const form = await chosen(stage, ANA, await opened(stage, ANA, message), 'service stop');
  await stage.slack.submit(ANA, form, {
    service: { service: await service(stage, ANA, form, 'staging') },
    reason: { reason: { type: 'plain_text_input', value: 'too slow' } },
  });
  const preview = await stage.privateWord(ANA, 'Stop staging?');
  expect(preview).toMatchObject({ channel: OPS, threadTs: message.ts });

  await stage.press(ANA, preview, 'change.edit');
  const again = await stage.modal(ANA, 'service.stop');
  await stage.slack.submit(ANA, again, {
    service: { service: await service(stage, ANA, again, 'staging') },
    reason: { reason: { type: 'plain_text_input', value: 'much too slow' } },
  });
  const edited = await stage.privateWord(ANA, 'much too slow');
  expect(edited).toMatchObject({ channel: OPS, threadTs: message.ts });
  await stage.press(ANA, edited, 'change.confirm');
  await stage.card('Stop staging: waiting for approval');
});

test('below a message without a thread, the answer is posted in the channel', async () => {
  const stage = await openStage();
  const palette = await opened(stage, DORA, await written(stage, { answered: false }));
  await stage.slack.submit(DORA, await chosen(stage, DORA, palette, 'service list'));
  const answer = await stage.privateWord(DORA, '12 services');
  expect(answer).toMatchObject({ channel: OPS, threadTs: null, ephemeral: true });
});

test('in a channel without the app, the answer is a direct message', async () => {
  const stage = await openStage();
  const palette = await opened(stage, DORA, await written(stage, { channel: GENERAL }));
  await stage.slack.submit(DORA, await chosen(stage, DORA, palette, 'service list'));
  expect((await stage.privateWord(DORA, '12 services'))?.channel).toMatch(/^D/);
});

test('the palette offers only the permitted commands', async () => {
  const stage = await openStage();
  const message = await written(stage);
  await opened(stage, DORA, message);
  expect(shown(stage, DORA)).toContain('service list');
  expect(shown(stage, DORA)).not.toContain('service stop');
  await opened(stage, ANA, message);
  expect(shown(stage, ANA)).toContain('service stop');
  await opened(stage, EMIL, message);
  expect(shown(stage, EMIL)).toContain('No rule of the policy allows you a command.');
});

test('a command that was not offered is refused on submission', async () => {
  const stage = await openStage();
  const palette = await opened(stage, DORA, await written(stage));
  const form = await chosen(stage, DORA, palette, 'service stop');
  await stage.slack.submit(DORA, form, {
    service: { service: await service(stage, DORA, form, 'staging') },
  });
  await stage.privateWord(DORA, 'You can’t use /service stop on staging');
});

test('the palette shows that the membership lookup failed', async () => {
  const stage = await openStage();
  const message = await written(stage);
  stage.clock.now = new Date(stage.clock.now.getTime() + 2 * 60_000);
  stage.slack.failNext({ method: 'users.info', times: 9, how: { error: 'internal_error' } });
  await opened(stage, DORA, message);
  expect(shown(stage, DORA)).toContain('Slack did not answer the membership lookup');
});

test('when the modal does not open, the error is shown in the thread', async () => {
  const stage = await openStage();
  const message = await written(stage);
  stage.slack.failNext({ method: 'views.open', times: 1, how: { error: 'internal_error' } });
  await stage.slack.shortcut({ as: DORA, callbackId: 'command.palette', ...message });
  const told = await stage.privateWord(DORA, 'Signalbox had an internal error');
  expect(told).toMatchObject({ channel: OPS, threadTs: message.ts });
});
