import { App, HTTPReceiver, LogLevel } from '@slack/bolt';
import { Environment } from './environment.ts';

/** The least that a Bolt app can be: it acknowledges a command and answers with one line. */
const env = Environment.parse(process.env);
const receiver = new HTTPReceiver({
  signingSecret: env.SLACK_SIGNING_SECRET,
  logLevel: LogLevel.WARN,
});
const app = new App({
  token: env.SLACK_BOT_TOKEN,
  receiver,
  logLevel: LogLevel.WARN,
  clientOptions: { slackApiUrl: env.SLACK_API_URL },
});
app.command('/service', async ({ ack, respond }) => {
  await ack();
  await respond('There are services.');
});
await receiver.start({ port: env.PORT, host: '127.0.0.1' });
