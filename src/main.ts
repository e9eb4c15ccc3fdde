import { readFileSync } from 'node:fs';
import { startApp } from './app.ts';
import { commandNames } from './commands/index.ts';
import { formatProblems, loadConfig, type Problem } from './config.ts';
import { createLog, secretsIn } from './log.ts';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const STOP_WITHIN_MS = 20_000;
const LEAVE_WITHIN_MS = 1_500;

function refuseStart(problems: readonly Problem[]): never {
  process.stderr.write(formatProblems(problems));
  process.exit(1);
}

function hintFor(error: unknown): string | null {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'EADDRINUSE') return 'another process has that PORT';
  return code.startsWith('slack_webapi') ? 'is Slack reachable, and SLACK_BOT_TOKEN right?' : null;
}

const load = () =>
  loadConfig({
    env: process.env,
    readFile: (path) => readFileSync(path, 'utf8'),
    commands: commandNames,
  });
const loaded = load();
if (!loaded.ok) refuseStart(loaded.problems);

const hidden = new Set(secretsIn(loaded.config));
const log = createLog({ level: loaded.config.logLevel, hidden });
const started = await startApp({
  config: loaded.config,
  version,
  log,
  leaveWithinMs: LEAVE_WITHIN_MS,
}).catch((error: unknown) => {
  const problem = error instanceof Error ? error.message : String(error);
  log.debug({ err: error }, 'the start failed');
  return refuseStart([{ where: 'start', problem, hint: hintFor(error) }]);
});
if (!started.ok) refuseStart(started.problems);

let stopping = false;
async function stop(signal: string): Promise<void> {
  if (stopping || !started.ok) return;
  stopping = true;
  log.info({ signal }, 'stopping: what is under way is finished first');
  // Whatever still hangs then is found by its lease: it ends as unknown, never twice.
  setTimeout(() => process.exit(1), STOP_WITHIN_MS).unref();
  await started.stop();
  log.info('stopped');
}

/** Another file, and secrets that are read from files. What is wrong changes nothing. */
async function reload(): Promise<void> {
  if (stopping || !started.ok) return;
  const next = load();
  if (next.ok) for (const secret of secretsIn(next.config)) hidden.add(secret);
  const reloaded = next.ok ? await started.reload(next.config) : next;
  if (reloaded.ok) return log.info('works by the new configuration');
  const { problems } = reloaded;
  log.error({ problems }, 'the new configuration is refused, and the old one goes on');
}
process.on('SIGHUP', () => {
  reload().catch((error: unknown) => {
    log.error({ err: error }, 'the new configuration could not be taken, and the old one goes on');
  });
});
process.on('SIGTERM', () => stop('SIGTERM'));
process.on('SIGINT', () => stop('SIGINT'));
process.on('unhandledRejection', (error) => {
  log.fatal({ err: error }, 'a promise was dropped; leaving, so that nothing goes on half known');
  process.exit(1);
});

// Last: whoever waits for this line may send a signal at once.
log.info({ port: started.port, version }, 'Signalbox is ready');
