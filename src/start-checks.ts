import { withinTime } from './base/errors.ts';
import { postJson } from './base/http.ts';
import type { Measures } from './base/log.ts';
import { createOutageLog } from './base/log.ts';
import type { AppOptions } from './bot-options.ts';
import { commands } from './commands/registry.ts';
import type { RoleName, UserId } from './domain/change.ts';
import type { Policy } from './domain/policy.ts';
import { impossibleRequirements, membersNeeded } from './domain/policy-schema.ts';
import type { Config, ConfigProblem } from './ops/config.ts';
import { channelUses } from './ops/config.ts';
import { refuseUnusable } from './ops/inspect.ts';
import { connect, type Slack } from './slack/connect.ts';
import {
  databaseProblem,
  FullDisk,
  isLastingDatabaseError,
  UnusableDatabase,
} from './storage/errors.ts';
import { type Database, openDatabase } from './storage/old/database.ts';
import type { Db } from './storage/old/schema.ts';
import type { PostedAnchors } from './workflow/old/anchors.ts';
import { isOtherInstallations, OTHER_INSTALLATION } from './workflow/old/other-installation.ts';

const INSPECT_WITHIN_MS = 5_000;
const OUTAGE = {
  began: 'database connection lost; Signalbox connects again',
  ended: 'database connection restored',
};

export interface RefusedStart {
  readonly ok: false;
  readonly problems: readonly ConfigProblem[];
  /** A restart cannot help: a person must fix the problems first. */
  readonly lasting: boolean;
}

interface ConnectOptions {
  readonly now: () => Date;
  readonly measures: Measures;
  /** False for a reload, which keeps the connections of the start. */
  readonly opensSocket: boolean;
}

type ConnectedSlack = { readonly ok: true; readonly slack: Slack } | RefusedStart;

/** Connects to Slack, or returns every problem of Slack and of the database that stops the start. */
export async function connectForStart(
  options: AppOptions,
  clock: Omit<ConnectOptions, 'opensSocket'>,
): Promise<ConnectedSlack> {
  const connected = await connectSlack(options, { ...clock, opensSocket: true });
  if (connected.ok) return connected;
  // Only read: a start that is refused must not migrate the database.
  const url = options.config.databaseUrl.reveal();
  const read = await withinTime(INSPECT_WITHIN_MS, () => refuseUnusable(url));
  const database = read.ok ? null : refusedDatabase(read.error);
  if (database === null) return connected;
  const problems = [...connected.problems, ...database.problems];
  return { ok: false, problems, lasting: connected.lasting || database.lasting };
}

type OpenedDatabase = { readonly ok: true; readonly database: Database } | RefusedStart;

/** Opens the database and migrates it, or returns why it cannot be used. */
export async function openForStart(
  { config, log }: AppOptions,
  now: () => Date,
): Promise<OpenedDatabase> {
  const outage = createOutageLog(log, OUTAGE);
  const onConnectionError = (error: Error) => {
    // Not the error itself: it contains the client of the driver with all of its settings.
    const problem = databaseProblem(error) ?? error.message;
    outage.failed(problem, { problem });
  };
  const onNewerSchema = (schema: number) =>
    log.warn({ schema }, 'the database has a newer schema, with which this release is compatible');
  const listeners = { onConnectionError, onConnected: outage.ended, onNewerSchema };
  const poolSize = config.databasePoolSize;
  try {
    const url = config.databaseUrl.reveal();
    const database = await openDatabase(url, { now, poolSize, ...listeners });
    return { ok: true, database };
  } catch (error) {
    const refused = refusedDatabase(error);
    if (refused === null) throw error;
    log.debug({ err: error }, 'database cannot be used');
    return refused;
  }
}

/** The refusal for an error of the database; null for an error of another kind. */
export function refusedDatabase(error: unknown): RefusedStart | null {
  const problem = databaseProblem(error);
  if (problem === null) return null;
  const isExplained = error instanceof UnusableDatabase || error instanceof FullDisk;
  const hint = isExplained ? error.hint : null;
  const problems = [{ where: 'DATABASE_URL', problem, hint }];
  return { ok: false, problems, lasting: isLastingDatabaseError(error) };
}

/** Connects to Slack, or returns every problem with tokens, scopes, groups and people. */
export async function connectSlack(
  { config, log, clock }: AppOptions,
  { now, measures, opensSocket }: ConnectOptions,
): Promise<ConnectedSlack> {
  const { policy, channels }: Config = config;
  const configuredChannels = channelUses(config).map(({ word }) => word);
  const own = { post: postJson, commands, log, now, clock, measures, opensSocket };
  const connected = await connect({
    ...{ ...config.slack, policy, channels, configuredChannels, console: config.console },
    ...own,
  });
  if (!connected.ok) {
    const { problems } = connected;
    return { ok: false, problems, lasting: problems.some(({ passing }) => !passing) };
  }
  return (await peopleProblems(connected.slack, policy)) ?? connected;
}

/** Refuses the start where a rule has no user who satisfies it, before an emergency shows it. */
async function peopleProblems(slack: Slack, policy: Policy): Promise<RefusedStart | null> {
  const members = new Map<RoleName, ReadonlySet<UserId>>();
  const problems: ConfigProblem[] = [];
  for (const role of policy.roles.keys()) {
    const people = await slack.actors.someOf(role, membersNeeded(policy));
    const problem = `did not list the members of role ${role}`;
    if (people === null) problems.push({ where: 'Slack', problem, hint: null });
    members.set(role, new Set(people ?? []));
  }
  // The lookup may succeed at the next start.
  if (problems.length > 0) return { ok: false, problems, lasting: false };
  const unmet = impossibleRequirements(policy, members);
  return unmet.length > 0 ? { ok: false, problems: unmet, lasting: true } : null;
}

/** The problem of an audit channel that another installation with the same app and key uses. */
export async function auditChannelProblem(
  db: Db,
  posted: PostedAnchors,
): Promise<ConfigProblem | null> {
  if (!(await isOtherInstallations(db, posted))) return null;
  return { where: 'channels.audit', ...OTHER_INSTALLATION };
}

/** What is wrong with `SIGNALBOX_KEY` where it does not fit the audit trail. */
export const KEY_PROBLEMS: Readonly<Record<'key-missing' | 'key-differs', ConfigProblem>> = {
  'key-missing': {
    where: 'SIGNALBOX_KEY',
    problem: 'is not set, but the audit trail of this database is keyed',
    hint: 'set the key that was used before; without it the trail would break permanently',
  },
  'key-differs': {
    where: 'SIGNALBOX_KEY',
    problem: 'is not the key of the audit trail in this database',
    hint: 'set the key that was used before, or list it in SIGNALBOX_PREVIOUS_KEYS',
  },
};
