import { pino } from 'pino';
import { commandNames, commands, nouns } from '../commands/index.ts';
import type { Env, ReadFile } from '../config/environment.ts';
import { loadConfig } from '../config/load-config.ts';
import { secretsIn } from '../observability/log.ts';
import { createSlackChecks, type SlackChecks } from '../slack/slack-checks.ts';
import {
  checkWritable,
  type DatabaseInspection,
  fileFacts,
  inspectDatabase,
} from '../storage/engine/examine.ts';
import { type TimedResult, withinTime } from '../with-timeout.ts';
import type { CheckContext } from './check-context.ts';
import { apiLines } from './checks/apis.ts';
import { channelLines } from './checks/channels.ts';
import { collectorLines } from './checks/collector.ts';
import { configurationLines, problemLines } from './checks/configuration.ts';
import { databaseLines } from './checks/database.ts';
import { readManifest } from './checks/manifest.ts';
import { peopleLines, readRegister } from './checks/people.ts';
import { instanceLines, replicaLines } from './checks/running.ts';
import { manualSlackChecks, slackLines } from './checks/slack.ts';
import { type CheckSection, skipped } from './line.ts';
import { cleaned, type DoctorReport } from './report.ts';

export interface CheckInput extends Pick<CheckContext, 'version' | 'now' | 'withinMs'> {
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

/** All checks run at the same time, so that the slowest answer limits the duration. */
async function checkAll(context: CheckContext): Promise<readonly CheckSection[]> {
  const { config, withinMs } = context;
  const target = { port: config.port, withinMs };
  const [slack, apis, collector, database, instance] = await Promise.all([
    slackSections(context),
    apiLines(context),
    collectorLines(context),
    checkDatabase(context),
    config.port === 0 ? [] : instanceLines(target, config.slack.signingSecret),
  ]);
  return [
    { title: 'Configuration', lines: configurationLines(config) },
    ...slack,
    { title: 'APIs', lines: apis },
    ...(collector.length > 0 ? [{ title: 'Traces', lines: collector }] : []),
    { title: 'Database', lines: databaseLines(database) },
    { title: 'Running', lines: [...instance, ...replicas(context, database.examined)] },
    { title: 'Check manually', lines: [...manualSlackChecks(), writePermission()] },
  ];
}

async function slackSections(context: CheckContext): Promise<readonly CheckSection[]> {
  const { config, withinMs } = context;
  const { slack: settings, policy } = config;
  // Longer than withinTime, so that one timer decides which call was too slow.
  const log = pino({ level: 'silent' });
  const slack = createSlackChecks({ ...settings, log, withinMs: withinMs + 500 });
  const call = <T>(work: (from: SlackChecks) => Promise<T>) =>
    withinTime(withinMs, () => work(slack));
  const { appToken } = settings;
  const [self, channels, people, register, connection] = await Promise.all([
    call((from) => from.self()),
    call((from) => from.channels()),
    call((from) => from.people()),
    call((from) => readRegister(from, policy)),
    appToken ? call((from) => from.openConnection(appToken)) : null,
  ]);
  const withoutToken = [skipped('not checked', 'the bot token does not work')];
  return [
    { title: 'Slack', lines: slackLines(context, { self, people, connection }) },
    {
      title: 'Channels',
      lines: self.ok ? channelLines(config, channels, self.value.botName) : withoutToken,
    },
    {
      title: 'People',
      lines: self.ok ? peopleLines(policy, { self: self.value, register, people }) : withoutToken,
    },
  ];
}

async function checkDatabase({ config, withinMs }: CheckContext) {
  const url = config.databaseUrl.reveal();
  const key = config.key ? Buffer.from(config.key.reveal(), 'base64') : null;
  const facts = await withinTime(withinMs, async () => fileFacts(url));
  if (!facts.ok) return { url, file: null, examined: facts, written: null };
  const file = facts.value;
  const exists = file ? file.exists : !url.startsWith('file:');
  const examined = exists ? await withinTime(withinMs, () => inspectDatabase(url, key)) : null;
  const isWritable =
    examined?.ok === true && isSupported(examined.value) && file?.ownedByUs !== false;
  const written = isWritable ? await withinTime(withinMs, () => checkWritable(url)) : null;
  return { url, file, examined, written };
}

function isSupported({ schema, known }: DatabaseInspection): boolean {
  return schema > 0 && schema <= known;
}

function replicas(
  { now, version }: CheckContext,
  examined: TimedResult<DatabaseInspection> | null,
) {
  if (!examined?.ok) return [skipped('replicas', 'not checked: they are listed in the database')];
  const { instances, clock } = examined.value;
  return replicaLines(instances, { now: clock?.server ?? now(), version });
}

function writePermission() {
  const says = 'not checked, because the doctor changes nothing';
  return skipped('write permission', says, 'a cloud key without it shows 403 at the first change');
}
