import { readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { pino } from 'pino';
import packageJson from '../../package.json' with { type: 'json' };
import { type TimedResult, withinTime } from '../base/errors.ts';
import { secretsIn } from '../base/log.ts';
import { addDays, dayOf } from '../base/time.ts';
import { commandNames, commands, nouns } from '../commands/index.ts';
import { storedChannelIds } from '../log/old/channel-ids.ts';
import { readKeyRing } from '../log/old/key-ring.ts';
import type { LastOutcome } from '../log/old/last-outcomes.ts';
import {
  type DaySnapshot,
  LEARNED_DAYS,
  learnLockAge,
  lockAgeText,
  longestWait,
  snapshotHistory,
} from '../maths/days.ts';
import { createInstallationReads, type InstallationReads } from '../slack/index.ts';
import { openReader } from '../storage/old/reader.ts';
import { type Config, loadConfig } from './config.ts';
import {
  checkApis,
  checkReads,
  isReachable,
  openApiClients,
  permissionLines,
  type ReadChecks,
  readLines,
} from './doctor-apis.ts';
import { databaseLines, instanceLines, replicaLines } from './doctor-database.ts';
import {
  type CheckContext,
  type CheckLine,
  type CheckSection,
  cleaned,
  collectorLines,
  configurationLines,
  countText,
  type DoctorReport,
  ok,
  passed,
  problemLines,
  readManifest,
  reportText,
  skipped,
  toJson,
  wantsColour,
} from './doctor-report.ts';
import {
  channelIds,
  channelLines,
  manualSlackChecks,
  peopleLines,
  slackLines,
} from './doctor-slack.ts';
import type { Env, ReadFile } from './environment.ts';
import {
  checkWritable,
  type DatabaseInspection,
  fileFacts,
  inspectDatabase,
  readCostSnapshots,
  readLastOutcomes,
} from './inspect.ts';
import { parseOptions } from './options.ts';

const NAME = 'cost days';

/** How late the days of the usage report become final, from the stored snapshots. */
export async function costDayLines(
  { config, now, withinMs }: CheckContext,
  examined: TimedResult<DatabaseInspection> | null,
): Promise<readonly CheckLine[]> {
  if (!examined?.ok || !examined.value.isReadable) {
    return [skipped(NAME, 'not checked: their snapshots are in the database')];
  }
  const first = addDays(dayOf(now()), -LEARNED_DAYS);
  const url = config.databaseUrl.reveal();
  const read = await withinTime(withinMs, () =>
    readCostSnapshots(url, config.organization.id, first),
  );
  return [read.ok ? lockAgeLine(read.value) : skipped(NAME, 'their snapshots could not be read')];
}

/** Source: docs/costs.md#lock-age. */
export function lockAgeLine(snapshots: readonly DaySnapshot[]): CheckLine {
  const age = learnLockAge(snapshotHistory(snapshots));
  const text = lockAgeText(age);
  if (age === null || text === null) {
    const says =
      'not known yet how late days become final: it takes 3 days that were seen to become final';
    return skipped(NAME, says);
  }
  const basis = countText(age.days, 'observed day');
  return ok(NAME, `${text}, from ${basis}; Signalbox waits for ${longestWait(age)} days`);
}

interface CheckInput extends Pick<CheckContext, 'version' | 'now' | 'withinMs'> {
  readonly env: Env;
  readonly readFile: ReadFile;
}

/** Runs all checks. The report contains no secret, even if a server quotes one. */
export async function runChecks(input: CheckInput): Promise<DoctorReport> {
  const { env, readFile, version } = input;
  const loaded = loadConfig({ env, readFile, commands: commandNames });
  if (!loaded.ok) {
    const rest = skipped(
      'other checks',
      'not run',
      'fix the configuration and run the doctor again',
    );
    const sections = [
      { title: 'Configuration', lines: problemLines(loaded.problems) },
      { title: 'Slack, APIs, database', lines: [rest] },
    ];
    return { version, sections };
  }
  const { config } = loaded;
  const sections = await checkAll({
    ...{ ...input, config, commands, nouns },
    manifest: readManifest(readFile),
  });
  return { version, sections: cleaned(sections, secretsIn(config)) };
}

/** The address at which this machine reaches the ports, as in a URL. */
function hostOf(bindAddress: string | null): string {
  if (bindAddress === null || /^(0\.0\.0\.0|::)$/.test(bindAddress)) return '127.0.0.1';
  return isIPv6(bindAddress) ? `[${bindAddress}]` : bindAddress;
}

/** All checks run at the same time, so that the slowest answer limits the duration. */
async function checkAll(context: CheckContext): Promise<readonly CheckSection[]> {
  const { config, withinMs } = context;
  const host = hostOf(config.bindAddress);
  const target = { host, port: config.port, opsPort: config.opsPort ?? config.port, withinMs };
  const [slack, apis, collector, database, instance] = await Promise.all([
    slackSections(context),
    checkApisAndReads(context),
    collectorLines(context),
    checkDatabase(context),
    config.port === 0 ? [] : instanceLines(target, config.slack.signingSecret),
  ]);
  const [costs, outcomes] = await Promise.all([
    costDayLines(context, database.examined),
    readOutcomes(context, database.examined),
  ]);
  return [
    { title: 'Configuration', lines: configurationLines(config) },
    ...slack,
    { title: 'APIs', lines: apis.lines },
    ...(config.reads === 'extended' ? [optionalReads(context, apis.reads)] : []),
    {
      title: 'Permissions of the cloud key',
      lines: permissionLines(context, {
        ...{ usage: apis.usage, outcomes },
        capabilities: apis.reads?.capabilities ?? [],
      }),
    },
    ...(collector.length > 0 ? [{ title: 'Traces', lines: collector }] : []),
    { title: 'Database', lines: databaseLines(database) },
    { title: 'Running', lines: [...instance, ...replicas(context, database.examined), ...costs] },
    { title: 'Check manually', lines: manualSlackChecks(config.slack.appToken === null) },
  ];
}

async function checkApisAndReads(context: CheckContext) {
  const clients = openApiClients(context);
  const { lines, usage } = await checkApis(context, clients);
  const reads = isReachable(usage) ? await checkReads(context, clients) : null;
  return { lines, usage, reads };
}

function optionalReads(context: CheckContext, reads: ReadChecks | null): CheckSection {
  const title = 'Optional reads';
  if (reads) return { title, lines: readLines(reads, context) };
  return { title, lines: [skipped('not checked', 'the cloud API could not be read')] };
}

async function readOutcomes(
  { config, withinMs }: CheckContext,
  examined: TimedResult<DatabaseInspection> | null,
): Promise<readonly LastOutcome[]> {
  if (!examined?.ok || !examined.value.isReadable) return [];
  const read = await withinTime(withinMs, () => readLastOutcomes(config.databaseUrl.reveal()));
  return read.ok ? read.value : [];
}

/** A large workspace has some 20 pages of channels. Each page has the time limit of one call. */
const LIST_CALLS = 6;

async function slackSections(context: CheckContext): Promise<readonly CheckSection[]> {
  const { config, withinMs } = context;
  const stored = await withinTime(withinMs, () => readChannelIds(config));
  const ids = channelIds(config, stored.ok ? stored.value : new Map());
  const { slack: settings, policy } = config;
  // Longer than withinTime, so that one timer decides which call was too slow.
  const log = pino({ level: 'silent' });
  const slack = createInstallationReads({ ...settings, log, withinMs: withinMs + 500 });
  const call = <T>(work: (from: InstallationReads) => Promise<T>) =>
    withinTime(withinMs, () => work(slack));
  const listed = <T>(work: (from: InstallationReads) => Promise<T>) =>
    withinTime(withinMs * LIST_CALLS, () => work(slack));
  const { appToken } = settings;
  const [self, channels, people, groups, connection] = await Promise.all([
    call((from) => from.self()),
    listed((from) => from.channels([...ids.values()])),
    listed((from) => from.people()),
    call((from) => from.groups(policy)),
    appToken ? call((from) => from.openConnection(appToken)) : null,
  ]);
  const withoutToken = [skipped('not checked', 'the bot token does not work')];
  return [
    { title: 'Slack', lines: slackLines(context, { self, people, connection }) },
    {
      title: 'Channels',
      lines: self.ok
        ? channelLines(config, { rooms: channels, ids }, self.value.botName)
        : withoutToken,
    },
    {
      title: 'People',
      lines: self.ok ? peopleLines(policy, { self: self.value, groups, people }) : withoutToken,
    },
  ];
}

/** The channels that Signalbox has resolved; none where the database does not exist yet. */
async function readChannelIds({ databaseUrl }: Config): Promise<ReadonlyMap<string, string>> {
  const url = databaseUrl.reveal();
  if (fileFacts(url)?.exists === false) return new Map();
  const reader = await openReader(url);
  try {
    return await storedChannelIds(reader.db);
  } finally {
    await reader.close();
  }
}

async function checkDatabase({ config, withinMs }: CheckContext) {
  const url = config.databaseUrl.reveal();
  const key = readKeyRing(
    config.key?.reveal() ?? null,
    config.previousKeys.map((one) => one.reveal()),
  );
  const facts = await withinTime(withinMs, async () => fileFacts(url));
  if (!facts.ok) return { url, file: null, examined: facts, written: null };
  const file = facts.value;
  const exists = file ? file.exists : !url.startsWith('file:');
  const examined = exists ? await withinTime(withinMs, () => inspectDatabase(url, key)) : null;
  const isWritable =
    examined?.ok === true && examined.value.isReadable && file?.ownedByUs !== false;
  const written = isWritable ? await withinTime(withinMs, () => checkWritable(url)) : null;
  return { url, file, examined, written };
}

function replicas(
  { now, version }: CheckContext,
  examined: TimedResult<DatabaseInspection> | null,
) {
  if (!examined?.ok) return [skipped('replicas', 'not checked: they are listed in the database')];
  const { instances, clock } = examined.value;
  return replicaLines(instances, { now: clock?.server ?? now(), version });
}

const USAGE = `signalbox doctor [--json]
    Checks the installation: configuration, Slack, channels, people, both APIs, the database and
    running replicas. It changes no setting, and it works next to a running Signalbox.
    --json      JSON output with the fields ok, version, failed, warnings and checks

✓ ok   ! warning   ✗ failed, with the next step   – not checked
Exit code: 0 no check failed, 1 a check failed, 2 wrong options.
`;

const OPTIONS = { json: { type: 'boolean' }, help: { type: 'boolean' } } as const;

const { version } = packageJson;
const { stdout, stderr } = process;
const WITHIN_MS = 5_000;

function leave(sentence: string): never {
  stderr.write(`${sentence}\n\n${USAGE}`);
  process.exit(2);
}

function readOptions(args: readonly string[]) {
  const parsed = parseOptions(args, OPTIONS);
  if ('sentence' in parsed) return leave(parsed.sentence);
  const [word] = parsed.positionals;
  return word === undefined ? parsed.values : leave(`doctor takes options only, not ${word}.`);
}

/** `signalbox doctor`: exits with the result. */
export async function runDoctor(args: readonly string[]): Promise<void> {
  const options = readOptions(args);
  if (options.help) {
    stdout.write(USAGE);
    process.exit(0);
  }
  const report = await runChecks({
    env: process.env,
    readFile: (path) => readFileSync(path, 'utf8'),
    version,
    withinMs: WITHIN_MS,
    now: () => new Date(),
  });
  const colour = wantsColour(stdout.isTTY === true, process.env);
  const text = options.json ? toJson(report) : reportText(report, { colour });
  // The process exits after this write, even if a check still waits for an answer.
  stdout.write(text, () => process.exit(passed(report) ? 0 : 1));
}
