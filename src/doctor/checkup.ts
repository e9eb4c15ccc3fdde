import { pino } from 'pino';
import type { ConfigProblem } from '../config/load-config.ts';
import { createSlackChecks, type SlackChecks } from '../slack/slack-checks.ts';
import {
  checkWritable,
  type DatabaseInspection,
  fileFacts,
  inspectDatabase,
} from '../storage/engine/examine.ts';
import type { CheckContext } from './check-context.ts';
import { apiLines } from './checks/apis.ts';
import { channelLines } from './checks/channels.ts';
import { collectorLines } from './checks/collector.ts';
import { configurationLines, problemLines } from './checks/configuration.ts';
import { databaseLines } from './checks/database.ts';
import { peopleLines, readRegister } from './checks/people.ts';
import { doorLines, replicaLines } from './checks/running.ts';
import { slackByHand, slackLines } from './checks/slack.ts';
import { type CheckSection, skipped } from './line.ts';
import { type TimedResult, withinTime } from './with-timeout.ts';

/** Where the configuration cannot be read there is nobody to ask. */
export function configurationRefused(problems: readonly ConfigProblem[]): readonly CheckSection[] {
  const later = skipped('the rest', 'not looked at', 'mend the configuration, then run this again');
  return [
    { title: 'Configuration', lines: problemLines(problems) },
    { title: 'Slack, APIs, database', lines: [later] },
  ];
}

/** Looks at everything at once, so that all of it takes no longer than the slowest answer. */
export async function checkup(patient: CheckContext): Promise<readonly CheckSection[]> {
  const { config } = patient;
  const [slack, apis, collector, database, door] = await Promise.all([
    slackSections(patient),
    apiLines(patient),
    collectorLines(patient),
    lookAtDatabase(patient),
    config.port === 0 ? [] : doorLines(doorOf(patient), config.slack.signingSecret),
  ]);
  return [
    { title: 'Configuration', lines: configurationLines(config) },
    ...slack,
    { title: 'APIs', lines: apis },
    ...(collector.length > 0 ? [{ title: 'Traces', lines: collector }] : []),
    { title: 'Database', lines: databaseLines(database) },
    { title: 'Running', lines: [...door, ...replicas(patient, database.examined)] },
    { title: 'By hand', lines: [...slackByHand(), keyByHand()] },
  ];
}

async function slackSections(patient: CheckContext): Promise<readonly CheckSection[]> {
  const { config, withinMs } = patient;
  const { slack: settings, policy } = config;
  // A little longer than the question itself, so that one clock says what was too late.
  const log = pino({ level: 'silent' });
  const slack = createSlackChecks({ ...settings, log, withinMs: withinMs + 500 });
  const ask = <T>(work: (from: SlackChecks) => Promise<T>) =>
    withinTime(withinMs, () => work(slack));
  const { appToken } = settings;
  const [self, rooms, people, register, wayIn] = await Promise.all([
    ask((from) => from.self()),
    ask((from) => from.channels()),
    ask((from) => from.people()),
    ask((from) => readRegister(from, policy)),
    appToken ? ask((from) => from.openConnection(appToken)) : null,
  ]);
  const lines = slackLines(patient, { self, people, wayIn });
  const title = { slack: 'Slack', channels: 'Channels', people: 'People' };
  const blind = [skipped('not looked at', 'the bot token has to work first')];
  return [
    { title: title.slack, lines },
    {
      title: title.channels,
      lines: self.ok ? channelLines(config, rooms, self.value.botName) : blind,
    },
    {
      title: title.people,
      lines: self.ok ? peopleLines(policy, { self: self.value, register, people }) : blind,
    },
  ];
}

async function lookAtDatabase({ config, withinMs }: CheckContext) {
  const url = config.databaseUrl.reveal();
  const key = config.key ? Buffer.from(config.key.reveal(), 'base64') : null;
  const seen = await withinTime(withinMs, async () => fileFacts(url));
  if (!seen.ok) return { url, file: null, examined: seen, written: null };
  const file = seen.value;
  const isThere = file ? file.exists : !url.startsWith('file:');
  const examined = isThere ? await withinTime(withinMs, () => inspectDatabase(url, key)) : null;
  const fits = examined?.ok === true && isOfUs(examined.value) && file?.ownedByUs !== false;
  const written = fits ? await withinTime(withinMs, () => checkWritable(url)) : null;
  return { url, file, examined, written };
}

function isOfUs({ schema, known }: DatabaseInspection): boolean {
  return schema > 0 && schema <= known;
}

function replicas(
  { now, version }: CheckContext,
  examined: TimedResult<DatabaseInspection> | null,
) {
  if (!examined?.ok) return [skipped('replicas', 'they are listed in the database')];
  const { instances, clock } = examined.value;
  return replicaLines(instances, { now: clock?.server ?? now(), version });
}

function doorOf({ config, withinMs }: CheckContext) {
  return { port: config.port, withinMs };
}

function keyByHand() {
  const says = 'nothing was written, so a cloud key that may only read passes here';
  return skipped('write rights', says, 'the first change shows it: a refusal with 403');
}
