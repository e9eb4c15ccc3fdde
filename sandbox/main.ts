import { parseArgs } from 'node:util';
import { largeWorkspace } from './slack/workspace/large-workspace.ts';
import { sandboxWorkspace } from './slack/workspace/sandbox-workspace.ts';
import { startSandbox } from './start.ts';

const USAGE =
  'npm run sandbox -- [--port 4000] [--socket] [--hard-limits] [--large] [--prices] [--verbose]';

const GUIDE = ({ url, envFile }: { url: string; envFile: string }) => `
Signalbox is running in a sandbox: ${url}

  1. As Ana, in #ops, type  /service stop analytics-prod nightly maintenance  and request approval.
  2. Act as Ben, then as Cleo: open #db-approvals and press Approve.
  3. Read the thread of the card. Open "API requests" to see the one request to the cloud API.
  4. Read #db-costs, then type  /cost  or  /cost budget.
     Start lab-core once, so that Signalbox learns its size. After that, the preview of
     /service scale lab-core min=8 max=8  shows the savings.

To check the installation, run this in another shell:
  npm run doctor -- --env ${envFile}

The sandbox uses no network outside this machine. Press Ctrl-C to stop it.
`;

function readOptions() {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '4000' },
      socket: { type: 'boolean', default: false },
      'hard-limits': { type: 'boolean', default: false },
      large: { type: 'boolean', default: false },
      prices: { type: 'boolean', default: false },
      verbose: { type: 'boolean', default: false },
    },
  });
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new Error(`--port must be a number from 0 to 65535, not ${values.port}`);
  }
  const delivery: 'http' | 'socket' = values.socket ? 'socket' : 'http';
  const rateLimits = values['hard-limits'] ? 'hard' : 'with-bursts';
  const workspace = values.large ? largeWorkspace() : sandboxWorkspace;
  const logLevel = values.verbose ? 'info' : 'warn';
  return { port, delivery, rateLimits, workspace, logLevel, priced: values.prices } as const;
}

function exitWithError(error: unknown): never {
  const isPortInUse = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
  const reason = error instanceof Error ? error.message : String(error);
  const text = isPortInUse
    ? 'The port is in use. Choose another one: npm run sandbox -- --port 4100'
    : `${reason}\n${USAGE}`;
  process.stderr.write(`${text}\n`);
  process.exit(1);
}

try {
  const sandbox = await startSandbox(readOptions());
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
  exitWithError(error);
}
