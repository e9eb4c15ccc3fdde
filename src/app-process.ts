import { readFileSync } from 'node:fs';
import packageJson from '../package.json' with { type: 'json' };
import { startApp } from './app.ts';
import { listenProblem } from './app-server.ts';
import { createLog, secretsIn } from './base/log.ts';
import type { ConfigProblem } from './base/problem.ts';
import { commandNames } from './commands/index.ts';
import { formatProblems, loadConfig, startTraces } from './ops/index.ts';
import { isLastingRefusal } from './slack/index.ts';

const { version } = packageJson;
const LEAVE_WITHIN_MS = 1_500;
/** EX_CONFIG: the supervisor must not restart in a loop, because the configuration needs a fix. */
const EX_CONFIG = 78;

function refuseStart(problems: readonly ConfigProblem[], isPermanent: boolean): never {
  process.stderr.write(formatProblems(problems));
  process.exit(isPermanent ? EX_CONFIG : 1);
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
const traces = config.tracing && (await startTraces(config.tracing, { version, log }));

const leaving = new AbortController();
const cancel = new AbortController();
const refusal = Promise.withResolvers<ConfigProblem>();
const starting = startApp({
  config,
  version,
  log,
  cancel: cancel.signal,
  leaving: leaving.signal,
  leaveWithinMs: LEAVE_WITHIN_MS,
  onAppTokenRefused: refusal.resolve,
}).catch((error: unknown) => {
  const problem = error instanceof Error ? error.message : String(error);
  log.debug({ err: error }, 'start failed');
  const listening = listenProblem(error, config);
  if (listening) return refuseStart([listening], listening.lasting);
  return refuseStart([{ where: 'start', problem, hint: null }], isLastingRefusal(error));
});

let stopping = false;
async function stop(reason: string, code = 0): Promise<void> {
  if (stopping) return;
  stopping = true;
  log.info({ reason }, 'stopping: open work is finished first');
  const { stopWithinMs } = config;
  // Aborts hanging requests while there is time left to record their unknown outcome.
  setTimeout(() => leaving.abort(), stopWithinMs * 0.84).unref();
  setTimeout(() => leave(code), stopWithinMs * 0.95).unref();
  cancel.abort();
  const app = await starting;
  if (app.ok) await app.stop();
  await traces?.close();
  log.info('stopped');
  // A slow trace collector or a socket that Slack leaves open must not delay the exit.
  process.exit(code);
}

/** Nothing is lost: all started work is in the database with a lease that ends. */
function leave(code: number): never {
  log.warn('stopped before all work was finished: another process continues after the lease');
  process.exit(code);
}

/** Reads the configuration file and secret files again, after the start is complete. An invalid configuration changes nothing. */
async function reload(): Promise<void> {
  const app = await starting;
  if (stopping || !app.ok) return;
  const next = load();
  if (next.ok) for (const secret of secretsIn(next.config)) hidden.add(secret);
  const reloaded = await app.reload(next);
  const config = next.ok ? next.config.configHash : null;
  if (reloaded.ok) return log.info({ config }, 'the new configuration is active');
  const { problems } = reloaded;
  log.error({ problems }, 'the new configuration is invalid; the previous one stays active');
}
process.on('SIGHUP', () => {
  reload().catch((error: unknown) => {
    log.error({ err: error }, 'the reload failed; the previous configuration stays active');
  });
});
void refusal.promise.then((problem) => {
  log.fatal(problem, 'Slack refuses new Socket Mode connections: the process stops');
  return stop('SLACK_APP_TOKEN', EX_CONFIG);
});
process.on('SIGTERM', () => stop('SIGTERM'));
process.on('SIGINT', () => stop('SIGINT'));

const started = await starting;
if (!started.ok && !stopping) refuseStart(started.problems, started.lasting);
// Last, because a supervisor may send a signal as soon as it reads this line.
if (started.ok) log.info({ port: started.port, version }, 'Signalbox is ready');
