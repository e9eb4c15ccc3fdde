import { expect, test } from 'vitest';
import { z } from 'zod';
import { input, modal, plain, section, words } from './block-samples.ts';
import { ana, ben, clock, general, startSlack } from './bolt-app.ts';
import { clientOf, listener, outcome } from './client.ts';

/** Ana has typed a command; the trigger of it is at hand. */
async function afterCommand(answer?: () => unknown) {
  const time = clock();
  const slack = await startSlack({ now: time.now });
  const received = await listener(slack, answer);
  const trigger = async () => {
    await slack.command(ana, general, '/service stop');
    return String(received.at(-1)?.trigger_id);
  };
  const client = clientOf(slack);
  const open = async (view: object = asking) =>
    client.apiCall('views.open', { trigger_id: await trigger(), view: view });
  return { slack, received, trigger, client, time, open };
}

const reason = (more: object = {}) =>
  input({ type: 'plain_text_input', action_id: 'reason', ...more }, { block_id: 'reason' });
const asking = modal({
  callback_id: 'service.stop',
  private_metadata: 'id',
  submit: plain('Ask'),
  blocks: [section('Sure?'), reason({ initial_value: 'because' })],
});
const filled = (value: string) => ({ reason: { reason: { type: 'plain_text_input', value } } });
const viewId = (slack: { clientState: (as: string) => { views: readonly { id: string }[] } }) =>
  slack.clientState(ana).views.at(-1)?.id ?? '';

test('a trigger opens one modal within three seconds', async () => {
  const { trigger, client, time } = await afterCommand();
  const openWith = (trigger_id: string) =>
    outcome(client.apiCall('views.open', { trigger_id, view: asking }));
  const [first, second] = [await trigger(), await trigger()];
  time.advance(3000);
  expect(await openWith(first)).toBe('ok');
  expect(await openWith(first)).toBe('exchanged_trigger_id');
  time.advance(1);
  expect(await openWith(second)).toBe('expired_trigger_id');
  expect(await openWith('made.up')).toBe('invalid_trigger_id');
});

test('a modal that Slack refuses leaves the trigger unused', async () => {
  const { trigger, client } = await afterCommand();
  const trigger_id = await trigger();
  const view = modal({ title: plain(words(25)) });
  const messages = ['[ERROR] must be less than 25 characters [json-pointer:/view/title/text]'];
  await expect(client.apiCall('views.open', { trigger_id, view })).rejects.toMatchObject({
    data: { error: 'invalid_arguments', response_metadata: { messages } },
  });
  expect(await outcome(client.apiCall('views.open', { trigger_id, view: asking }))).toBe('ok');
});

test('a modal of more than 250 kB is too large', async () => {
  const { client, trigger } = await afterCommand();
  const view = modal({ blocks: Array(90).fill(section(words(3000))) });
  const opened = client.apiCall('views.open', { trigger_id: await trigger(), view });
  expect(await outcome(opened)).toBe('view_too_large');
});

test('a submission has the typed values and the unchanged initial values', async () => {
  const { slack, received, open } = await afterCommand();
  await open();
  await slack.submit(ana, viewId(slack));
  const own = { callback_id: 'service.stop', private_metadata: 'id' };
  const view = { ...own, state: { values: filled('because') } };
  expect(received.at(-1)).toMatchObject({ type: 'view_submission', user: { id: ana }, view });
  expect(slack.clientState(ana).views).toEqual([]);
});

test.for<[string, object, string, string]>([
  ['nothing at all', {}, '', 'Please complete this required field.'],
  ['too few letters', { min_length: 3 }, 'ab', 'Please enter at least 3 characters.'],
  ['too many letters', { max_length: 3 }, 'abcd', 'Please enter at most 3 characters.'],
])('Slack refuses %s in a field without a request to the app', async (example) => {
  const [, element, value, error] = example;
  const { slack, received, open } = await afterCommand();
  await open(modal({ submit: plain('Ask'), blocks: [reason(element)] }));
  const before = received.length;
  await slack.submit(ana, viewId(slack), filled(value));
  expect(slack.clientState(ana).views).toMatchObject([{ errors: { reason: error } }]);
  expect(received).toHaveLength(before);
});

test.for<[string, object, string[]]>([
  ['errors', { errors: { reason: 'Too short.' } }, ['Stop?']],
  ['update', { view: modal({ title: plain('Working') }) }, ['Working']],
  ['clear', {}, []],
])(
  'the response action “%s” to a submission takes effect',
  async ([response_action, more, titles]) => {
    let answer: unknown;
    const { slack, open } = await afterCommand(() => answer);
    await open();
    answer = { response_action, ...more };
    expect(await slack.submit(ana, viewId(slack))).toMatchObject({ error: null });
    expect(slack.clientState(ana).views.map(({ title }) => title)).toEqual(titles);
  },
);

test.for<[string, unknown]>([
  ['errors for no input of the modal', { response_action: 'errors', errors: { other: 'x' } }],
  ['no errors at all', { response_action: 'errors', errors: {} }],
  ['a modal that Slack refuses', { response_action: 'update', view: modal({ width: 1 }) }],
  ['an unknown action', { response_action: 'explode' }],
  ['a second modal', { response_action: 'push', view: modal() }],
  ['something else', { text: 'Thank you' }],
])('the response %s to a submission is an error', async ([, body]) => {
  let answer: unknown;
  const { slack, open } = await afterCommand(() => answer);
  await open();
  answer = body;
  expect(await slack.submit(ana, viewId(slack))).toMatchObject({
    status: 200,
    error: 'We had some trouble connecting. Try again?',
  });
  expect(slack.clientState(ana).views).toMatchObject([{ title: 'Stop?', errors: {} }]);
});

const Opened = z.object({ view: z.object({ id: z.string(), hash: z.string() }) });

test('an update with an old hash or of a closed modal is refused', async () => {
  const { slack, client, open } = await afterCommand();
  const { id: view_id, hash } = Opened.parse(await open()).view;
  const update = (withHash: string) =>
    outcome(client.apiCall('views.update', { view_id, hash: withHash, view: asking }));
  expect(await update(hash)).toBe('ok');
  expect(await update(hash)).toBe('hash_conflict');
  await slack.close(ana, view_id);
  expect(await update('')).toBe('not_found');
});

test('a user neither sees nor submits the modal of another user', async () => {
  const { slack, open } = await afterCommand();
  await open();
  expect(slack.clientState(ben).views).toEqual([]);
  await expect(slack.submit(ben, viewId(slack))).rejects.toThrow('Ben has no open modal');
});
