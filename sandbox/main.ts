import { parseArgs } from 'node:util';
import { startSandbox } from './start.ts';

const USAGE = 'npm run sandbox -- [--port 4000] [--socket] [--verbose]';

const STORY = ({ url, envFile }: { url: string; envFile: string }) => `
Signalbox is running in a sandbox: ${url}

  1. As Ana, in #ops, type  /service stop analytics-prod nightly maintenance  and ask for approval.
  2. Act as Ben, then as Cleo: open #db-approvals and press Approve.
  3. Look at the card's thread, and behind the scenes at the one request that the cloud received.
  4. Read #db-costs, and type  /cost  or  /cost budget. A start of lab-core shows its size; from
     then on  /service scale lab-core min=8 max=8  tells what that saves.

Whether all is well with it, from another shell:
  npm run doctor -- --env ${envFile}

Nothing leaves this machine. Ctrl-C stops it.
`;

function readOptions() {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '4000' },
      socket: { type: 'boolean', default: false },
      verbose: { type: 'boolean', default: false },
    },
  });
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new Error(`--port must be a number from 0 to 65535 (you said ${values.port})`);
  }
  const delivery: 'http' | 'socket' = values.socket ? 'socket' : 'http';
  return { port, delivery, logLevel: values.verbose ? 'info' : 'warn' };
}

function leave(error: unknown): never {
  const taken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
  const words = error instanceof Error ? error.message : String(error);
  const sentence = taken
    ? 'That port is taken. Choose another one: npm run sandbox -- --port 4100'
    : `${words}\n${USAGE}`;
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}

try {
  const sandbox = await startSandbox(readOptions());
  process.stdout.write(STORY(sandbox));
  let stopping = false;
  const stop = async () => {
    if (stopping) return;
    stopping = true;
    await sandbox.stop();
    process.exit(0);
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
} catch (error) {
  leave(error);
}
