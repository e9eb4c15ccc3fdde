import { parseArgs } from 'node:util';
import { exitWithError, readPort, WrongInput } from './command-line.ts';
import { largeWorkspace } from './slack/workspace/large-workspace.ts';
import { organizationWorkspace } from './slack/workspace/organization.ts';
import { sandboxWorkspace } from './slack/workspace/sandbox-workspace.ts';
import { startSandbox } from './start.ts';

const USAGE = `npm run sandbox -- [options]

  --port <port>   the port of the page; 4000 by default
  --at <time>     begins at this time, for example 2026-11-27T16:00+01:00
  --socket        Socket Mode instead of HTTP between Slack and the bot
  --hard-limits   the rate limits of Slack without bursts
  --large         20,000 channels and 10,000 people more
  --organization  two workspaces of an organization of Enterprise Grid
  --prices        a price of a credit, so that costs are shown as money too
  --organizations 2   a second organization, with services of the same names
  --help          this text
`;

const GUIDE = ({ url, envFile }: { url: string; envFile: string }) => `
Signalbox is running in a sandbox: ${url}

Open the page. A guide of six steps leads from the first request to an approved change, a refusal, an
unknown outcome, costs and a request in words.

Links that act as one person in one channel:
  ${url}/?as=ana&channel=ops
  ${url}/?as=ben&channel=db-approvals

To check the installation, run this in another shell before you move the clock:
  bin/signalbox --env ${envFile} doctor

The sandbox uses no network outside this machine. Press Ctrl-C to stop it.
`;

function readOptions() {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '4000' },
      at: { type: 'string' },
      socket: { type: 'boolean', default: false },
      'hard-limits': { type: 'boolean', default: false },
      large: { type: 'boolean', default: false },
      organization: { type: 'boolean', default: false },
      prices: { type: 'boolean', default: false },
      organizations: { type: 'string', default: '1' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    process.exit(0);
  }
  const begin = values.at === undefined ? {} : { at: new Date(values.at) };
  const hasZone = /T.*(Z|[+-]\d\d:\d\d)$/.test(values.at ?? 'T+00:00');
  if (!hasZone || Number.isNaN(begin.at?.getTime())) {
    throw new WrongInput(`--at must be like 2026-11-27T16:00+01:00, not ${values.at}.`);
  }
  const one = values.large ? largeWorkspace() : sandboxWorkspace;
  if (!/^[12]$/.test(values.organizations)) throw new WrongInput('--organizations must be 1 or 2.');
  return {
    ...{ ...begin, port: readPort(values.port), priced: values.prices, history: true },
    workspace: values.organization ? organizationWorkspace : one,
    delivery: values.socket ? 'socket' : 'http',
    rateLimits: values['hard-limits'] ? 'hard' : 'with-bursts',
    organizations: values.organizations === '2' ? 2 : 1,
  } as const;
}

try {
  const options = readOptions();
  const { build } = await import('vite');
  await build({ root: 'sandbox/page', logLevel: 'warn' });
  const sandbox = await startSandbox(options);
  process.stdout.write(GUIDE(sandbox));
  let isStopping = false;
  const stop = async () => {
    if (isStopping) return;
    isStopping = true;
    await sandbox.stop();
    process.exit(0);
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
} catch (error) {
  exitWithError(error, USAGE);
}
