import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { actions, button, plain, section } from './block-samples.ts';
import { ana, approvals, ben, general, httpBot, socketBot, startSlack } from './bolt-app.ts';
import { posted } from './client.ts';

type SlackForTest = Awaited<ReturnType<typeof startSlack>>;

const transports = [
  ['HTTP', httpBot, {}],
  ['Socket Mode', socketBot, { delivery: { mode: 'socket' } }],
] as const;

describe.for(transports)('a Bolt app over %s', ([, bot, options]) => {
  async function withBot(listen: Parameters<typeof httpBot>[1]) {
    const slack = await startSlack(options);
    const app = await bot(slack, listen);
    return { slack, app };
  }

  test('receives a command and replies with an ephemeral message', async () => {
    const { slack } = await withBot((app) => {
      app.command('/service', async ({ command, ack }) => {
        await ack({ text: `${command.user_id} typed ${command.text} in ${command.channel_id}` });
      });
    });
    const delivery = await slack.command(ana, general, '/service stop analytics-prod');
    expect(delivery).toMatchObject({ status: 200, error: null });
    const said = `${ana} typed stop analytics-prod in ${general}`;
    expect(slack.clientState(ana).messages).toMatchObject([
      { text: said, ephemeral: true, byBot: true },
    ]);
    expect(slack.clientState(ben).messages).toEqual([]);
  });

  test('opens a modal, receives the submission and shows errors in it', async () => {
    const { slack } = await withBot((app) => {
      app.command('/service', async ({ ack, client, body }) => {
        await ack();
        await client.views.open({ trigger_id: body.trigger_id, view: stopModal });
      });
      app.view('service.stop', async ({ ack, view }) => {
        const reason = view.state.values.reason?.reason?.value ?? '';
        if (reason.length < 5) {
          await ack({ response_action: 'errors', errors: { reason: 'Too short.' } });
        } else await ack();
      });
    });
    await slack.command(ana, general, '/service stop');
    const [view] = await open(slack, ana);
    expect(view).toMatchObject({ callbackId: 'service.stop', title: 'Stop', submit: 'Ask' });
    await slack.submit(ana, view?.id ?? '', filled('no'));
    expect(slack.clientState(ana).views).toMatchObject([{ errors: { reason: 'Too short.' } }]);
    await slack.submit(ana, view?.id ?? '', filled('maintenance'));
    expect(slack.clientState(ana).views).toEqual([]);
  });

  test('receives the press of a button and updates the message', async () => {
    const { slack, app } = await withBot((on) => {
      on.action('change.approve', async ({ ack, body, client, action }) => {
        await ack();
        const { channel, message, user } = Pressed.parse(body);
        const text = `${'value' in action && action.value} approved by ${user.id}`;
        await client.chat.update({ channel: channel.id, ts: message.ts, text });
      });
    });
    const ts = await posted(app.client, {
      channel: approvals,
      text: 'Ana asks',
      blocks: [section('Ana asks'), approveButton],
    });
    const place = { in: 'message', channel: approvals, ts } as const;
    expect(await slack.click(ben, place, 'change.approve')).toMatchObject({ error: null });
    await expect.poll(() => slack.messages(approvals)[0]?.text).toBe(`7KQ2MX approved by ${ben}`);
    expect(slack.messages(approvals)[0]?.blocks).toEqual([]);
  });

  test('supplies the options of a select', async () => {
    const { slack, app } = await withBot((on) => {
      on.options('service', async ({ ack, options }) => {
        await ack({ options: [{ text: { type: 'plain_text', text: options.value }, value: 'v' }] });
      });
    });
    const element = { type: 'external_select' as const, action_id: 'service' };
    const posted = await app.client.chat.postMessage({
      channel: approvals,
      text: 'x',
      blocks: [{ type: 'actions', block_id: 'b', elements: [element] }],
    });
    const place = { in: 'message', channel: approvals, ts: posted.ts ?? '' } as const;
    const searched = { as: ana, place, blockId: 'b', actionId: 'service', value: 'analy' };
    expect(await slack.suggest(searched)).toMatchObject({
      error: null,
      options: [{ text: { text: 'analy' }, value: 'v' }],
    });
  });

  test('receives the opening of the Home tab and publishes it', async () => {
    const { slack } = await withBot((app) => {
      app.event('app_home_opened', async ({ event, client }) => {
        const view = { type: 'home', blocks: [section(`Hello ${event.user}`)] };
        await client.apiCall('views.publish', { user_id: event.user, view });
      });
    });
    expect(slack.clientState(ana).home).toBeNull();
    await slack.openHome({ as: ana });
    await expect.poll(() => JSON.stringify(slack.clientState(ana).home)).toContain(`Hello ${ana}`);
    expect(slack.clientState(ben).home).toBeNull();
  });

  test('receives shortcuts, with the message of a message shortcut', async () => {
    const received: unknown[] = [];
    const { slack } = await withBot((app) => {
      app.shortcut('service.stop', async ({ ack, shortcut }) => {
        received.push(shortcut.type);
        await ack();
      });
      app.shortcut({ callback_id: 'ask', type: 'message_action' }, async ({ ack, shortcut }) => {
        received.push(shortcut.message.text);
        await ack();
      });
    });
    await slack.sendMessage({ as: ben, channel: general, text: 'What is this?' });
    const ts = slack.messages(general)[0]?.ts ?? '';
    await slack.shortcut({ as: ana, callbackId: 'service.stop' });
    await slack.shortcut({ as: ana, callbackId: 'ask', channel: general, ts });
    expect(received).toEqual(['shortcut', 'What is this?']);
  });

  test('that does not run causes a dispatch error for the user', async () => {
    const slack = await startSlack(options);
    expect(await slack.command(ana, general, '/service stop')).toMatchObject({
      error: '/service failed with the error "dispatch_failed"',
    });
    expect(slack.clientState(ben).messages).toEqual([]);
    expect(slack.clientState(ana).messages).toMatchObject([
      {
        ...{ channel: general, ephemeral: true, author: 'USLACKBOT', authorName: 'Slackbot' },
        ...{ byBot: false, text: '/service failed with the error "dispatch_failed"' },
      },
    ]);
  });

  test('that acknowledges with invalid blocks causes an error for the user', async () => {
    const { slack } = await withBot((app) => {
      app.command('/service', async ({ ack }) => {
        await ack({ blocks: [{ type: 'blink' }] });
      });
    });
    const { error } = await slack.command(ana, general, '/service stop');
    expect(error).toBe('/service failed with the error "invalid_command_response"');
  });
});

test('an app over HTTP that never acknowledges causes a time-out error for the user', async () => {
  const slack = await startSlack({ ackTimeoutMs: 60 });
  await httpBot(slack, (app) => app.command('/service', async () => {}));
  expect(await slack.command(ana, general, '/service stop')).toMatchObject({
    status: 0,
    error: '/service failed with the error "operation_timeout"',
  });
});

test('a wrong signing secret makes Bolt refuse the delivery', async () => {
  const slack = await startSlack({ delivery: { mode: 'http', signingSecret: 'another' } });
  await httpBot(slack, (app) => app.command('/service', ({ ack }) => ack()));
  expect(await slack.command(ana, general, '/service stop')).toMatchObject({
    status: 401,
    error: '/service failed with the error "dispatch_failed"',
  });
});

test('a signature older than five minutes makes Bolt refuse the delivery', async () => {
  const slack = await startSlack({ signedAt: () => new Date(Date.now() - 6 * 60_000) });
  await httpBot(slack, (app) => app.command('/service', ({ ack }) => ack()));
  expect(await slack.command(ana, general, '/service stop')).toMatchObject({ status: 401 });
});

const Id = z.looseObject({ id: z.string() });
const Pressed = z.object({
  channel: Id,
  user: Id,
  message: z.looseObject({ ts: z.string() }),
});

const stopModal = {
  type: 'modal' as const,
  callback_id: 'service.stop',
  title: { type: 'plain_text' as const, text: 'Stop' },
  submit: { type: 'plain_text' as const, text: 'Ask' },
  blocks: [
    {
      type: 'input' as const,
      block_id: 'reason',
      label: { type: 'plain_text' as const, text: 'Reason' },
      element: { type: 'plain_text_input' as const, action_id: 'reason' },
    },
  ],
};
const approveButton = actions(
  button({ action_id: 'change.approve', value: '7KQ2MX', text: plain('Approve') }),
);
const filled = (value: string) => ({ reason: { reason: { type: 'plain_text_input', value } } });
async function open(slack: SlackForTest, person: string) {
  await expect.poll(() => slack.clientState(person).views).toHaveLength(1);
  return slack.clientState(person).views;
}
