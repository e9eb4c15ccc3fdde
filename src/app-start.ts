// The steps of a start, each repeated until it succeeds or needs a person. A step that cannot succeed throws.
import type { Logger } from 'pino';
import type { Probes } from './app-server.ts';
import { withinTime } from './base/errors.ts';
import { postJson, type RecordExchange } from './base/http.ts';
import { createOutageLog, type Measures } from './base/log.ts';
import type { ConfigProblem } from './base/problem.ts';
import { backoffMs, type Clock } from './base/time.ts';
import { commands } from './commands/index.ts';
import type { RoleName, UserId } from './domain/change.ts';
import type { Policy } from './domain/policy.ts';
import { impossibleRequirements, membersNeeded } from './domain/policy-schema.ts';
import { Damaged, KeyProblem, type Log, openLog, readKeys, recordIds } from './log/index.ts';
import { type Config, channelUses, type Readings, refuseUnusable } from './ops/index.ts';
import { connect, type Slack } from './slack/index.ts';
import {
  databaseProblem,
  FullDisk,
  isLastingDatabaseError,
  UnusableDatabase,
} from './storage/errors.ts';
import { followClock, openStore, type SharedClock, type Store } from './storage/index.ts';
import type { Messenger } from './workflow/index.ts';

export interface AppOptions {
  readonly config: Config;
  readonly version: string;
  readonly log: Logger;
  readonly now?: () => Date;
  /** Replaces the system clock of the API clients. */
  readonly clock?: Clock;
  /** Replaces the clock by which requests for readiness or metrics share one check. */
  readonly elapsed?: () => number;
  /** Slack refuses new Socket Mode connections, and only a person can change that. */
  readonly onAppTokenRefused?: (problem: ConfigProblem) => void;
  /** Ends a start that is not complete; it resolves as refused, without a problem that is new. */
  readonly cancel?: AbortSignal | undefined;
  /** Aborts requests that still run shortly before the process exits; their outcome is unknown. */
  readonly leaving?: AbortSignal | undefined;
  /** Keeps serving for this long after readiness ends, until load balancers have noticed. */
  readonly leaveWithinMs?: number;
  /** Of SIGNALBOX_RECORD. */
  readonly record?: RecordExchange | undefined;
}

/** What a bot shares with the one that replaces it after a reload of the configuration. */
export interface BotOptions extends AppOptions {
  readonly now: () => Date;
  readonly store: Store;
  readonly events: Log;
  readonly measures: Measures;
  readonly messenger: Messenger;
  /** No other process uses the database, and none in this process: a start, not a reload. */
  readonly takesOver: boolean;
  /** The bot that begins no work any more once this one begins; null at a start. */
  readonly replaces: { readonly pause: () => Promise<void> } | null;
}

/** Why Signalbox does not start. `lasting`: a restart cannot help, a person must fix the problems first. */
export class RefusedStart extends Error {
  override readonly name = 'RefusedStart';
  readonly problems: readonly ConfigProblem[];
  readonly lasting: boolean;

  constructor(problems: readonly ConfigProblem[], lasting: boolean, cause?: unknown) {
    super(problems.map(({ where, problem }) => `${where} ${problem}`).join('; '), { cause });
    this.problems = problems;
    this.lasting = lasting;
  }
}

const INSPECT_WITHIN_MS = 5_000;

/** Connects to Slack. Throws every problem of Slack and of the database that stops the start. */
export async function connectForStart(
  options: AppOptions,
  shared: Pick<BotOptions, 'now' | 'measures'>,
): Promise<Slack> {
  try {
    return await connectSlack(options, shared, true);
  } catch (error) {
    if (!(error instanceof RefusedStart)) throw error;
    // Only read: a start that is refused must not migrate the database.
    const url = options.config.databaseUrl.reveal();
    const read = await withinTime(INSPECT_WITHIN_MS, () => refuseUnusable(url));
    const database = read.ok ? null : refusedStart(read.error);
    if (database === null) throw error;
    const problems = [...error.problems, ...database.problems];
    throw new RefusedStart(problems, error.lasting || database.lasting, error);
  }
}

const DATABASE_OUTAGE = {
  began: 'database connection lost; Signalbox connects again',
  ended: 'database connection restored',
};

/** Opens the database and migrates it. */
export async function openForStart({ config, log, now }: AppOptions) {
  const outage = createOutageLog(log, DATABASE_OUTAGE);
  const onConnectionError = (error: Error) => {
    // Not the error itself: it contains the client of the driver with all of its settings.
    const problem = databaseProblem(error) ?? error.message;
    outage.failed(problem, { problem });
  };
  const url = config.databaseUrl.reveal();
  await refuseUnusable(url);
  // Before the database, which a first start creates: a key file is made for a new one only.
  const keys = readKeys({ databaseUrl: url, key: config.key, previous: config.previousKeys });
  const store = await openStore(url, {
    ...(now && { now: () => now().getTime() }),
    ...{ onConnectionError, onConnected: outage.ended },
  });
  try {
    return { store, events: await openLog(store, keys) };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Why the error of a step stops the start; null for an error of another kind. */
export function refusedStart(error: unknown): RefusedStart | null {
  if (error instanceof RefusedStart) return error;
  const log = refusedLog(error);
  if (log) return new RefusedStart([log], true, error);
  const problem = databaseProblem(error);
  if (problem === null) return null;
  const isExplained = error instanceof UnusableDatabase || error instanceof FullDisk;
  const problems = [{ where: 'DATABASE_URL', problem, hint: isExplained ? error.hint : null }];
  return new RefusedStart(problems, isLastingDatabaseError(error), error);
}

/** A process that cannot verify the log writes nothing. */
function refusedLog(error: unknown): ConfigProblem | null {
  if (error instanceof KeyProblem) {
    return { where: 'SIGNALBOX_KEY', problem: error.message, hint: error.hint };
  }
  if (!(error instanceof Damaged)) return null;
  const hint =
    'run signalbox audit verify; signalbox audit close ends this log and begins a new chapter';
  return { where: 'DATABASE_URL', problem: `The log is damaged: ${error.message}`, hint };
}

/**
 * Connects to Slack. Throws every problem with tokens, scopes, groups and people. A reload opens no socket: it keeps
 * the connections of the start.
 */
export async function connectSlack(
  { config, log, clock, record }: AppOptions,
  { now, measures }: Pick<BotOptions, 'now' | 'measures'>,
  opensSocket: boolean,
): Promise<Slack> {
  const { policy, channels }: Config = config;
  const configuredChannels = channelUses(config).map(({ word }) => word);
  const connected = await connect({
    ...{ ...config.slack, policy, channels, configuredChannels, console: config.console },
    workspaces: config.workspaces,
    ...{ post: recordedPost(record), commands, log, now, clock, measures, opensSocket, record },
  });
  if (!connected.ok) {
    const { problems } = connected;
    const isLasting = problems.some(({ passing }) => !passing);
    throw new RefusedStart(problems, isLasting);
  }
  await refuseUnmetRules(connected.slack, policy);
  return connected.slack;
}

function recordedPost(record?: RecordExchange): typeof postJson {
  return async (url, content, withinMs) => {
    const { status, text } = await postJson(url, content, withinMs);
    record?.({ door: 'answer', call: 'POST', sent: content, status, arrived: text });
    return { status, text };
  };
}

/** Refuses the start where a rule has no user who satisfies it, before an emergency shows it. */
async function refuseUnmetRules({ actors }: Slack, policy: Policy): Promise<void> {
  const enough = membersNeeded(policy);
  const found: (readonly [RoleName, readonly UserId[] | null])[] = [];
  // One after the other: reads that wait for Slack's limit together use up each other's attempts.
  for (const role of policy.roles.keys()) found.push([role, await actors.someOf(role, enough)]);
  const problems = found.flatMap(([role, people]) => {
    if (people !== null) return [];
    return [{ where: 'Slack', problem: `did not list the members of role ${role}`, hint: null }];
  });
  // The lookup may succeed at the next start.
  if (problems.length > 0) throw new RefusedStart(problems, false);
  const members = new Map(found.map(([role, people]) => [role, new Set(people)]));
  const unmet = impossibleRequirements(policy, members);
  if (unmet.length > 0) throw new RefusedStart(unmet, true);
}

/**
 * A handle keeps the group that it named first: a person who may rename groups would otherwise become an approver.
 * Refuses the start where a handle means another group now.
 */
export async function refuseMovedGroups(
  events: Log,
  found: ReadonlyMap<string, string>,
): Promise<void> {
  const recorded = await recordIds(events, found);
  const problems = [...found].flatMap(([handle, id]) => {
    const before = recorded.get(handle) ?? id;
    if (before === id) return [];
    const problem = `${handle} means another user group now: ${id} instead of ${before}`;
    const hint = `name the group by its id in signalbox.yaml, ${id} if this is intended`;
    return [{ where: 'roles', problem, hint }];
  });
  if (problems.length > 0) throw new RefusedStart(problems, true);
}

const CLOCK_OUTAGE = {
  began: 'database clock could not be read; Signalbox counts on by itself',
  ended: 'database clock can be read again',
};

/** Returns the database's clock, on which all replicas agree. A given `now` takes its place. */
export async function openClock(
  { now, log }: AppOptions,
  store: Store,
): Promise<Pick<SharedClock, 'now' | 'stop'>> {
  if (now) return { now, stop: () => undefined };
  const outage = createOutageLog(log, CLOCK_OUTAGE);
  const onError = (error: unknown) => outage.failed(String(error), { err: error });
  return followClock(store, { onError, onRead: outage.ended });
}

const START_OUTAGE = {
  began: 'the start waits; Signalbox retries until it succeeds',
  ended: 'the start proceeds after a temporary problem',
};

/**
 * Repeats the steps of a start after 1 s to 30 s while their problems pass without a person. A
 * supervisor that restarts the process instead would give up during a long outage.
 */
export function createStartRetries({
  log,
  clock,
  cancel,
}: Pick<AppOptions, 'log' | 'cancel'> & { readonly clock: Clock }) {
  const outage = createOutageLog(log, START_OUTAGE);
  let problems: readonly ConfigProblem[] = [];
  return {
    /** The problems for which the start waits; empty while it proceeds. */
    problems: () => problems,
    /** Repeats a step until it succeeds; throws its error where it needs a person or the start is cancelled. */
    repeat: async <Result>(step: () => Promise<Result>): Promise<Result> => {
      for (let failures = 1; ; failures += 1) {
        try {
          const result = await step();
          outage.ended();
          problems = [];
          return result;
        } catch (error) {
          const refused = refusedStart(error);
          problems = refused?.problems ?? [];
          if (refused === null || refused.lasting || cancel?.aborted) throw error;
          log.debug({ err: error }, 'a step of the start failed');
          for (const { where, problem } of problems) outage.failed(problem, { where, problem });
          await clock.sleep(backoffMs(failures, clock), cancel);
          if (cancel?.aborted) throw error;
        }
      }
    },
  };
}

/** The probes until the bot runs: alive, but not ready. */
export function startingProbes(
  problems: () => readonly ConfigProblem[],
  configuration: string,
  textOf: (readings: Readings) => Promise<string>,
): Probes {
  const disconnected = () => problems()[0]?.problem ?? 'Signalbox is starting.';
  const isDatabase = () => problems().some(({ where }) => where === 'DATABASE_URL');
  const readings = (): Readings => ({
    gauges: isDatabase() ? () => Promise.reject(new Error('not open')) : null,
    isWritable: async () => false,
    isConnected: () => false,
    configuration: () => configuration,
  });
  return {
    notReady: async () => disconnected(),
    readinessWarning: async () => null,
    disconnected,
    metrics: () => textOf(readings()),
  };
}
