// A Slack on this machine for any Bolt app. README.md has an example.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startSlackSimulator } from './slack/server.ts';

const USAGE = `npm run slack --silent -- <manifest.json> [options]

  <manifest.json>  the manifest of your app: its commands, shortcuts, scopes and events hold as in Slack
  --events <url>   delivers over HTTP to this address; without it over Socket Mode
  --port <port>    the port of the page and of the Web API; 4000 by default
  --no-page        without the page

It writes the variables of your app to standard output, and runs until Ctrl-C.
`;

function readOptions() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    allowNegative: true,
    options: {
      events: { type: 'string' },
      port: { type: 'string', default: '4000' },
      page: { type: 'boolean', default: true },
    },
  });
  const [file = ''] = positionals;
  const manifest = JSON.parse(readFileSync(file, 'utf8'));
  return { ...values, manifest, port: Number(values.port) };
}

try {
  const { manifest, port, events, page } = readOptions();
  const root = join(import.meta.dirname, 'page');
  if (page) await (await import('vite')).build({ root, logLevel: 'warn' });
  const signingSecret = randomBytes(16).toString('hex');
  const slack = await startSlackSimulator({
    ...{ manifest, port, rateLimits: 'with-bursts', page: join(root, 'dist') },
    delivery: events ? { mode: 'http', eventsUrl: events, signingSecret } : { mode: 'socket' },
  });
  const way = events
    ? `SLACK_SIGNING_SECRET=${signingSecret}`
    : `SLACK_APP_TOKEN=${slack.appToken}`;
  const lines = [`SLACK_API_URL=${slack.apiUrl}`, `SLACK_BOT_TOKEN=${slack.botToken}`, way];
  process.stdout.write(`${lines.join('\n')}\n`);
  if (page) process.stderr.write(`Act as Ana: ${slack.url}/?as=ana&channel=ops&guide=off\n`);
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.once(signal, () => void slack.stop().then(() => process.exit(0)));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  process.exit(1);
}
