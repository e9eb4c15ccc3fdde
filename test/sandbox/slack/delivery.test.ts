import { describe, expect, test } from 'vitest';
import { ana, ben, general, httpBot, socketBot, startSlack } from './bolt-app.ts';

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

test.for<[string, Parameters<typeof startSlack>[0]]>([
  ['a wrong signing secret', { delivery: { mode: 'http', signingSecret: 'another' } }],
  ['an old signature', { signedAt: () => new Date(Date.now() - 6 * 60_000) }],
])('%s makes Bolt refuse the delivery', async ([, options]) => {
  const slack = await startSlack(options);
  await httpBot(slack, (app) => app.command('/service', ({ ack }) => ack()));
  expect(await slack.command(ana, general, '/service stop')).toMatchObject({
    status: 401,
    error: '/service failed with the error "dispatch_failed"',
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
