import { isIPv6 } from 'node:net';
import { pino } from 'pino';
import packageJson from '../../package.json' with { type: 'json' };
import { withinTime } from '../base/errors.ts';
import { secretsIn } from '../base/log.ts';
import type { ConfigProblem } from '../base/problem.ts';
import { DAY_MS } from '../base/time.ts';
import { commandNames } from '../commands/index.ts';
import { READ_BACK_DAYS } from '../domain/place.ts';
import { type LogKeys, readKeys } from '../log/index.ts';
import { createInstallationReads } from '../slack/index.ts';
import { type Config, type ConfiguredOrganization, loadConfig } from './config.ts';
import {
  checkApis,
  checkReads,
  isReachable,
  openApiClients,
  permissionLines,
  readLines,
  sectionTitle,
} from './doctor-apis.ts';
import { databaseLines } from './doctor-database.ts';
import {
  type CheckContext,
  type CheckLine,
  type CheckSection,
  cleaned,
  countText,
  type DoctorReport,
  failed,
  ok,
  passed,
  reportText,
  skipped,
  toJson,
} from './doctor-report.ts';
import { agentLines, foreignLines, instanceLine, listedReplicas } from './doctor-running.ts';
import {
  cardChannels,
  channelIds,
  channelLines,
  peopleLines,
  roleMembers,
  slackLines,
} from './doctor-slack.ts';
import type { Env, ReadFile } from './environment.ts';
import { checkWritable, fileFacts, inspectDatabase, readChannelIds } from './inspect.ts';
import { readOptions, readText } from './options.ts';

const USAGE = `signalbox doctor [--json]
    Checks the installation: configuration, Slack, channels, people, both APIs, the database and
    running replicas. It changes no setting, and it works next to a running Signalbox.
    --json      JSON output with the fields ok, version, failed, warnings and checks

✓ ok   ! warning   ✗ failed, with the next step   – not checked
Exit code: 0 no check failed, 1 a check failed, 2 wrong options.
`;

const OPTIONS = { json: { type: 'boolean' } } as const;

const { stdout } = process;
const WITHIN_MS = 5_000;

/** `signalbox doctor`: exits with the result. */
export async function runDoctor(args: readonly string[]): Promise<void> {
  const options = readOptions(args, OPTIONS, USAGE);
  const report = await runChecks({
    env: process.env,
    readFile: readText,
    version: packageJson.version,
    withinMs: WITHIN_MS,
    now: () => new Date(),
  });
  const text = options.json ? toJson(report) : reportText(report);
  // The process exits after this write, even if a check still waits for an answer.
  stdout.write(text, () => process.exit(passed(report) ? 0 : 1));
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
    const fix = 'fix the configuration and run the doctor again';
    const rest = skipped('other checks', 'not run', fix);
    const sections = [
      { title: 'Configuration', lines: problemLines(loaded.problems) },
      { title: 'Slack, APIs, database', lines: [rest] },
    ];
    return { version, sections };
  }
  const { config } = loaded;
  const sections = await checkAll({ ...input, config });
  return { version, sections: cleaned(sections, secretsIn(config)) };
}

export function problemLines(problems: readonly ConfigProblem[]): readonly CheckLine[] {
  return problems.map(({ where, problem, hint }) =>
    failed(where, problem, hint ?? `correct ${where}`),
  );
}

/** All checks run at the same time, so that the slowest answer limits the duration. */
async function checkAll(context: CheckContext): Promise<readonly CheckSection[]> {
  const { config, withinMs } = context;
  const host = hostOf(config.bindAddress);
  const target = { host, opsPort: config.opsPort ?? config.port, withinMs };
  const [slack, apis, database, instance, agents] = await Promise.all([
    slackSections(context),
    Promise.all(config.organizations.map((each, at) => checkApisOf(context, each, at === 0))),
    checkDatabase(context),
    config.port === 0 ? [] : [await instanceLine(target)],
    agentLines(context),
  ]);
  return [
    { title: 'Configuration', lines: configurationLines(config) },
    ...slack.sections,
    {
      title: 'APIs',
      lines: [...apis.map(({ cloud }) => cloud), ...apis.flatMap(({ alerts }) => alerts)],
    },
    ...apis.flatMap(({ sections }) => sections),
    { title: 'Database', lines: databaseLines(database) },
    {
      title: 'Running',
      lines: [
        ...instance,
        ...agents,
        ...listedReplicas(context, database.examined),
        ...foreignLines(slack.connection, database.examined),
      ],
    },
  ];
}

/** The address at which this machine reaches the ports, as in a URL. */
function hostOf(bindAddress: string | null): string {
  if (bindAddress === null || /^(0\.0\.0\.0|::)$/.test(bindAddress)) return '127.0.0.1';
  return isIPv6(bindAddress) ? `[${bindAddress}]` : bindAddress;
}

function configurationLines(config: Config): readonly CheckLine[] {
  const { policy, services, digests, budgets, key, databaseUrl } = config;
  const parts = [
    countText(services.length, 'service'),
    countText(policy.roles.size, 'role'),
    countText(policy.rules.length, 'rule'),
    countText(digests.length, 'digest'),
    countText(budgets.length, 'budget'),
  ];
  const file = fileFacts(databaseUrl.reveal());
  const keyNote = 'store a copy apart from the backups of the database';
  return [
    ok('environment', 'all variables are valid'),
    ok('signalbox.yaml', parts.join(', ')),
    ...alertLines(config),
    ...(key === null && file ? [ok('key', `the file ${file.path}.key: ${keyNote}`)] : []),
  ];
}

/** Its channels are checked with all others. The path is a secret. */
function alertLines({ alertsSecret, alertChannels, port }: Config): readonly CheckLine[] {
  if (alertsSecret) return [ok('alert webhook', `POST /alerts/<secret> on port ${port}`)];
  if (alertChannels.length === 0) return [];
  return [skipped('alert webhook', 'off', 'set ALERTS_WEBHOOK_SECRET to receive alerts')];
}

/** To be called for a database that exists: reading the keys of a new one would create its key file. */
function keysOf({ databaseUrl, key, previousKeys: previous }: Config): () => LogKeys {
  return () => readKeys({ databaseUrl: databaseUrl.reveal(), key, previous });
}

/** A large workspace has some 20 pages of channels. Each page has the time limit of one call. */
export const LIST_CALLS = 6;

async function slackSections(context: CheckContext) {
  const { config, withinMs } = context;
  const stored = await withinTime(withinMs, () =>
    readChannelIds(config.databaseUrl.reveal(), keysOf(config)),
  );
  const ids = channelIds(config, stored.ok ? stored.value : new Map());
  const { slack: settings, policy } = config;
  // Longer than withinTime, so that one timer decides which call was too slow.
  const log = pino({ level: 'silent' });
  const slack = createInstallationReads({
    ...{ ...settings, workspaces: config.workspaces },
    ...{ log, withinMs: withinMs + 500 },
  });
  const call = <T>(work: () => Promise<T>) => withinTime(withinMs, work);
  const listed = <T>(work: () => Promise<T>) => withinTime(withinMs * LIST_CALLS, work);
  const { appToken } = settings;
  const [self, channels, groups, connection, blocks] = await Promise.all([
    call(() => slack.self()),
    listed(() => slack.channels([...ids.values()])),
    call(() => slack.groups(policy)),
    appToken ? call(() => slack.openConnection(appToken)) : null,
    call(() => slack.refusedBlocks()),
  ]);
  const since = new Date(context.now().getTime() - READ_BACK_DAYS * DAY_MS);
  const readTo = new Map<string, Date>();
  for (const id of cardChannels(config, { rooms: channels, ids })) {
    const read = await listed(() => slack.readTo(id, since));
    if (read.ok && read.value) readTo.set(id, read.value);
  }
  const members = groups.ok ? roleMembers(policy, groups.value) : [];
  const accounts = self.ok && (await listed(() => slack.accounts(members, self.value.home)));
  const withoutToken = [skipped('not checked', 'the bot token was not confirmed, see above')];
  const sections: readonly CheckSection[] = [
    { title: 'Slack', lines: slackLines(context, { self, connection, blocks }) },
    {
      title: 'Channels',
      lines: self.ok
        ? channelLines(config, { rooms: channels, ids, readTo }, self.value.botName)
        : withoutToken,
    },
    {
      title: 'People',
      lines: accounts ? peopleLines(policy, { groups, accounts }) : withoutToken,
    },
  ];
  return { sections, connection };
}

/** The checks of one organization. The alerts API is that of all of them, so that it is checked with the first one. */
async function checkApisOf(
  given: CheckContext,
  organization: ConfiguredOrganization,
  isFirst: boolean,
) {
  const { config } = given;
  const own = isFirst ? config : { ...config, alerts: null };
  const context = { ...given, config: own, organization };
  const clients = openApiClients(context);
  const { cloud, alerts, usage } = await checkApis(context, clients);
  const reads = isReachable(usage) ? await checkReads(context, clients) : null;
  const evidence = { usage, capabilities: reads?.capabilities ?? [] };
  const unread = [skipped('not checked', 'the cloud API could not be read')];
  const ofReads = {
    title: sectionTitle('Optional reads', organization),
    lines: reads ? readLines(reads, context) : unread,
  };
  const sections: readonly CheckSection[] = [
    ...(config.reads === 'extended' ? [ofReads] : []),
    {
      title: sectionTitle('Permissions of the cloud key', organization),
      lines: permissionLines(config.policy, evidence),
    },
  ];
  return { cloud, alerts: isFirst ? [alerts] : [], sections };
}

async function checkDatabase({ config, withinMs }: CheckContext) {
  const url = config.databaseUrl.reveal();
  const facts = await withinTime(withinMs, async () => fileFacts(url));
  if (!facts.ok) return { url, file: null, examined: facts, written: null };
  const file = facts.value;
  const exists = file ? file.exists : !url.startsWith('file:');
  const examined = exists
    ? await withinTime(withinMs, () => inspectDatabase(url, keysOf(config)))
    : null;
  const isWritable =
    examined?.ok === true && examined.value.schema === 'current' && file?.ownedByUs !== false;
  const written = isWritable ? await withinTime(withinMs, () => checkWritable(url)) : null;
  return { url, file, examined, written };
}
