// A Slack on this machine for any Bolt app. README.md has an example.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { exitWithError, readPort, WrongInput } from './command-line.ts';
import type { Json } from './json.ts';
import { readManifest } from './slack/manifest.ts';
import { startSlackSimulator } from './slack/server.ts';

/** What people on the page cause. */
const DELIVERED = ['app_home_opened', 'app_mention', 'message.im'];

const USAGE = `npm run slack --silent -- <manifest.json> [options]

  <manifest.json>  the manifest of your app: its commands, shortcuts and scopes hold as in Slack. Of its events
                   ${DELIVERED.join(', ')} are delivered
  --events <url>   delivers over HTTP to this address; without it over Socket Mode
  --port <port>    the port of the page and of the Web API; 4000 by default
  --no-page        without the page
  --help           this text

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
      help: { type: 'boolean' },
    },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    process.exit(0);
  }
  const [file] = positionals;
  if (file === undefined) throw new WrongInput('Name the file of your manifest.');
  return { ...values, ...manifestIn(file), port: readPort(values.port) };
}

function manifestIn(file: string) {
  try {
    const manifest: Json = JSON.parse(readFileSync(file, 'utf8'));
    return { manifest, subscribed: readManifest(manifest).events };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new WrongInput(
      `${file} cannot be read as the manifest of an app: ${why}. Copy it, as JSON, from “App Manifest” of your app.`,
    );
  }
}

try {
  const { manifest, subscribed, port, events, page } = readOptions();
  const silent = subscribed.filter((name) => !DELIVERED.includes(name));
  if (silent.length > 0)
    process.stderr.write(`Not simulated, and never delivered: ${silent.join(', ')}\n`);
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
  exitWithError(error, USAGE);
}
