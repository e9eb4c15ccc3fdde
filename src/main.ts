import { readFileSync } from 'node:fs';
import { startApp } from './app.ts';
import { commandNames } from './commands/index.ts';
import { type ConfigProblem, formatProblems, loadConfig } from './config/load-config.ts';
import { createLog, secretsIn } from './observability/log.ts';
import { refusedBySlack } from './slack/slack-error.ts';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const LEAVE_WITHIN_MS = 1_500;
/** EX_CONFIG: the supervisor must not restart in a loop, because the configuration needs a fix. */
const EX_CONFIG = 78;

function refuseStart(problems: readonly ConfigProblem[], isPermanent: boolean): never {
  process.stderr.write(formatProblems(problems));
  process.exit(isPermanent ? EX_CONFIG : 1);
}

function hintFor(error: unknown): string | null {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'EADDRINUSE') return 'another process uses this PORT';
  return code.startsWith('slack_webapi')
    ? 'check that Slack is reachable and SLACK_BOT_TOKEN is correct'
    : null;
}

/** An auth error of Slack is permanent; a rate limit or a network error is not. */
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

// Registered first: the stack of an error can contain secrets, which only the log removes.
process.on('uncaughtException', (error, origin) => {
  log.fatal({ err: error, origin }, 'uncaught error: the process exits');
  process.exit(1);
});

// OpenTelemetry is loaded only if tracing is configured.
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
  log.debug({ err: error }, 'start failed');
  return refuseStart([{ where: 'start', problem, hint: hintFor(error) }], isRefused(error));
});
if (!started.ok) refuseStart(started.problems, started.lasting);

let stopping = false;
async function stop(signal: string): Promise<void> {
  if (stopping || !started.ok) return;
  stopping = true;
  log.info({ signal }, 'stopping: open work is finished first');
  const { stopWithinMs } = config;
  // Aborts hanging requests while there is time left to record their unknown outcome.
  setTimeout(() => leaving.abort(), stopWithinMs * 0.75).unref();
  setTimeout(() => leave(), stopWithinMs * 0.95).unref();
  await started.stop();
  const hangs = traces !== null && !(await traces.close());
  log.info('stopped');
  // A slow trace collector must not delay the exit.
  if (hangs) process.exit(0);
}

/** Nothing is lost: all started work is in the database with a lease that ends. */
function leave(): never {
  log.warn('stopped before all work was finished: another process continues after the lease');
  process.exit(0);
}

/** Reads the configuration file and secret files again. An invalid configuration changes nothing. */
async function reload(): Promise<void> {
  if (stopping || !started.ok) return;
  const next = load();
  if (next.ok) for (const secret of secretsIn(next.config)) hidden.add(secret);
  const reloaded = next.ok ? await started.reload(next.config) : next;
  if (reloaded.ok) return log.info('the new configuration is active');
  const { problems } = reloaded;
  log.error({ problems }, 'the new configuration is invalid; the previous one stays active');
}
process.on('SIGHUP', () => {
  reload().catch((error: unknown) => {
    log.error({ err: error }, 'the reload failed; the previous configuration stays active');
  });
});
process.on('SIGTERM', () => stop('SIGTERM'));
process.on('SIGINT', () => stop('SIGINT'));

// Last, because a supervisor may send a signal as soon as it reads this line.
log.info({ port: started.port, version }, 'Signalbox is ready');
