import { readFileSync } from 'node:fs';
import { startApp } from './app.ts';
import { commandNames } from './commands/index.ts';
import { type ConfigProblem, formatProblems, loadConfig } from './config/load-config.ts';
import { createLog, secretsIn } from './observability/log.ts';
import { refusedBySlack } from './slack/slack-error.ts';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const LEAVE_WITHIN_MS = 1_500;
/** EX_CONFIG: whoever looks after the process need not try again before somebody has mended it. */
const BAD_CONFIGURATION = 78;

function refuseStart(problems: readonly ConfigProblem[], lasting: boolean): never {
  process.stderr.write(formatProblems(problems));
  process.exit(lasting ? BAD_CONFIGURATION : 1);
}

function hintFor(error: unknown): string | null {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'EADDRINUSE') return 'another process has that PORT';
  return code.startsWith('slack_webapi') ? 'is Slack reachable, and SLACK_BOT_TOKEN right?' : null;
}

/** A token that Slack refuses today will be refused tomorrow as well. */
function isRefused(error: unknown): boolean {
  const refusal = refusedBySlack(error);
  return refusal !== null && refusal !== 'ratelimited';
}

const load = () =>
  loadConfig({
    env: process.env,
    readFile: (path) => readFileSync(path, 'utf8'),
    commands: commandNames,
  });
const loaded = load();
if (!loaded.ok) refuseStart(loaded.problems, true);
const { config } = loaded;

const hidden = new Set(secretsIn(config));
const log = createLog({ level: config.logLevel, hidden });

// Registered first: the stack of a fault may hold what only the log replaces.
process.on('uncaughtException', (error, origin) => {
  log.fatal({ err: error, origin }, 'a fault that nobody caught: leaving, before it does harm');
  process.exit(1);
});

// Whoever does not trace does not load what traces.
const traces =
  config.tracing &&
  (await import('./observability/open-tracing.ts')).openTracing(config.tracing, { version, log });

const leaving = new AbortController();
const started = await startApp({
  config,
  version,
  log,
  leaving: leaving.signal,
  leaveWithinMs: LEAVE_WITHIN_MS,
}).catch((error: unknown) => {
  const problem = error instanceof Error ? error.message : String(error);
  log.debug({ err: error }, 'the start failed');
  return refuseStart([{ where: 'start', problem, hint: hintFor(error) }], isRefused(error));
});
if (!started.ok) refuseStart(started.problems, started.lasting);

let stopping = false;
async function stop(signal: string): Promise<void> {
  if (stopping || !started.ok) return;
  stopping = true;
  log.info({ signal }, 'stopping: what is under way is finished first');
  const { stopWithinMs } = config;
  // What hangs by then is broken off, while there is time to record that nobody knows its outcome.
  setTimeout(() => leaving.abort(), stopWithinMs * 0.75).unref();
  setTimeout(() => leave(), stopWithinMs * 0.95).unref();
  await started.stop();
  const hangs = traces !== null && !(await traces.close());
  log.info('stopped');
  // A collector that takes its time keeps nobody here.
  if (hangs) process.exit(0);
}

/** Nothing is lost by it: all that was begun is in the database, and has a lease that runs out. */
function leave(): never {
  log.warn('stopped before all was finished: whoever is next finds it by its lease');
  process.exit(0);
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

// Last: whoever waits for this line may send a signal at once.
log.info({ port: started.port, version }, 'Signalbox is ready');
