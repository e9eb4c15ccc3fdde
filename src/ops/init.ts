// `signalbox init`: from a created Slack app to a configuration that starts.
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { parseEnv } from 'node:util';
import { pino } from 'pino';
import { z } from 'zod';
import packageJson from '../../package.json' with { type: 'json' };
import { ApiError, Secret, withinTime } from '../base/errors.ts';
import { DAY_MS } from '../base/time.ts';
import { commandNames } from '../commands/index.ts';
import { entityOf } from '../maths/rows.ts';
import type { CloudClient } from '../servers/cloud.ts';
import { createInstallationReads } from '../slack/index.ts';
import { type FileContent, readConfigFile } from './config-file.ts';
import { LIST_CALLS, problemLines, runChecks } from './doctor.ts';
import { checkApis, isReachable, openApiClients } from './doctor-apis.ts';
import {
  type CheckLine,
  cleaned,
  countText,
  failed,
  linesText,
  ok,
  passed,
  reportText,
} from './doctor-report.ts';
import {
  botTokenLines,
  channelIds,
  channelLines,
  connectionLine,
  peopleLines,
  roleMembers,
} from './doctor-slack.ts';
import { type Env, FROM_FILES, isSet, readVariables, Variables } from './environment.ts';
import { manifestFile } from './manifest.ts';
import { leave, leaveWith, readOptions, readOrLeave, readText, writeText } from './options.ts';

const USAGE = `signalbox init
    Asks for the tokens of the Slack app and the key of the cloud API, checks each like the doctor, and writes
    the manifest of the app, .env and signalbox.yaml into this folder. It asks before it replaces a file. Each
    answer that passes is stored in .env: after Ctrl-C, run it again and it continues.
Exit code: 0 all checks passed, 1 a check failed or it was stopped, 2 wrong options.
`;

/** As it was typed: `bin/signalbox` in a checkout, `signalbox` where it is installed. */
const SELF = process.env.STARTED_AS ?? 'signalbox';
const ENV = '.env';
const YAML = 'signalbox.yaml';
const { stdin, stdout } = process;
const CONTEXT = { version: packageJson.version, now: () => new Date(), withinMs: 10_000 };
const inTime = <T>(work: () => Promise<T>, times = 1) => withinTime(times * CONTEXT.withinMs, work);

const Draft = Variables.partial();
type Known = z.output<typeof Draft>;
const NONE = new Secret('');

const WHO = 'Type numbers, handles or member ids (U…), with spaces between';
/** The questions, by the first name that the answer fills in: a variable, or a part of signalbox.yaml. */
const QUESTIONS: Readonly<Record<string, string>> = {
  SLACK_BOT_TOKEN: 'Bot token of the app, xoxb-…, from OAuth & Permissions',
  SLACK_APP_TOKEN: 'App-level token, xapp-…, with connections:write, from Basic Information',
  CLOUD_API_URL: 'Address of the cloud API, https://…',
  CLOUD_API_KEY_ID: 'Key of the cloud API: its id and its secret, with a space between',
  organization: 'Id of the organization at the cloud, a UUID from the console',
  operator: `Who may ask for changes? ${WHO}`,
  approver: `Who approves them? ${WHO}`,
  channel: 'Channel for the cards, of which the bot is a member: /invite it first',
};

/** `signalbox init`: exits with the result of the doctor. */
export async function runInit(args: readonly string[]): Promise<void> {
  readOptions(args, {}, USAGE);
  const form = openForm();
  const prefix = form.values().SLACK_COMMAND_PREFIX ?? '';
  const { file, text } = manifestFile({ prefix, url: null });
  if (await form.mayReplace(file, text)) writeText(file, text);
  stdout.write(`Create the app from ${file} at https://api.slack.com/apps, and install it.\n`);

  const slack = await askForSlack(form, prefix);
  const cloud = await askForCloud(form);
  if (!isSet('SIGNALBOX_KEY', form.values()))
    form.keep({ SIGNALBOX_KEY: randomBytes(32).toString('base64') });
  if (await form.mayReplace(YAML)) writeText(YAML, await askForFile(form, slack, cloud));
  const report = await runChecks({ ...CONTEXT, env: form.end(), readFile: readText });
  const isReady = passed(report);
  const next = `${isReady ? 'Start it' : 'Then check again'}: ${SELF} --env .env ${isReady ? 'start' : 'doctor'}`;
  const end = `\n${reportText(report)}${next}\n`;
  stdout.write(end, () => process.exit(isReady ? 0 : 1));
}

type SlackAnswers = Awaited<ReturnType<typeof askForSlack>>;

async function askForSlack(form: Form, prefix: string) {
  const bot = await form.settle(['SLACK_BOT_TOKEN'], async (known) => {
    const { SLACK_BOT_TOKEN: botToken = NONE, SLACK_API_URL: apiUrl = null } = known;
    const isProxied = Object.keys(proxies()).length > 0;
    const log = pino({ level: 'silent' });
    const { withinMs } = CONTEXT;
    const slack = createInstallationReads({
      ...{ botToken, apiUrl, isProxied, log, withinMs, workspaces: null },
    });
    const self = await inTime(() => slack.self());
    return { lines: botTokenLines(self, prefix), value: { slack, self } };
  });
  const { slack, self } = bot;
  if (!self.ok) throw self.error;
  if (!isSet('SLACK_SIGNING_SECRET', form.values())) {
    await form.settle(['SLACK_APP_TOKEN'], async ({ SLACK_APP_TOKEN: token = NONE }) => {
      const connection = await inTime(() => slack.openConnection(token));
      return { lines: [connectionLine(token, connection, self.value.appId)], value: null };
    });
  }
  return { slack, self: self.value };
}

/** `services`: their names by their ids. `isExtended`: the server has reads beyond the contract. */
type CloudAnswers = Awaited<ReturnType<typeof askForCloud>>;

async function askForCloud(form: Form) {
  await form.settle(['CLOUD_API_URL'], async (known) => {
    const { lines, usage } = await readCloud({ ...known, CLOUD_API_KEY_ID: 'none' });
    // The API refuses this key in its own words: another server, or a wrong path, does not.
    const isApi = usage.ok || (usage.error instanceof ApiError && usage.error.kind === 'answer');
    return { lines: isApi ? [] : lines, value: null };
  });
  await form.settle(['CLOUD_API_KEY_ID', 'CLOUD_API_KEY_SECRET'], async (known) => {
    const { lines, usage, clients } = await readCloud(known);
    if (!isReachable(usage)) return { lines, value: null };
    const own = await clients.cloud().reads.organizations({ waiting: true });
    const [organization] = own.known ? own.value : [];
    if (organization !== undefined) form.keep({ organization });
    return { lines: [], value: null };
  });
  return form.settle(['organization'], async (known, { organization = '' }) => {
    const { lines, clients } = await readCloud(known, organization);
    const { services, isExtended } = await servicesOf(clients.cloud());
    const line = ok('services', `${countText(services.size, 'service')} found`);
    return { lines: [...lines, line], value: { organization, services, isExtended } };
  });
}

/** Stands for the organization until it is known. */
const NO_ID = '00000000-0000-0000-0000-000000000000';

/** The doctor's check of the cloud API. */
async function readCloud(known: Known, organization = NO_ID) {
  const { CLOUD_API_URL: url = '', CLOUD_API_KEY_ID: keyId = '' } = known;
  const { CLOUD_API_KEY_SECRET: keySecret = NONE } = known;
  const id = z.guid().safeParse(organization).data ?? NO_ID;
  const context = {
    ...CONTEXT,
    config: {
      ...{ access: { privateAddresses: false }, alerts: null },
      ...{ cloud: { url }, reads: 'extended' as const },
    },
    organization: { id, name: null, keyId, keySecret },
  };
  const clients = openApiClients(context);
  const { cloud, usage } = await checkApis(context, clients);
  return { lines: [cloud], usage, clients };
}

/** The services that the server lists, otherwise those of the usage of four weeks. */
async function servicesOf(cloud: CloudClient) {
  const listed = await cloud.reads.services({ waiting: true });
  if (listed.known) {
    const named = listed.value.map(({ id, name }) => [id, name ?? id] as const);
    return { services: new Map(named), isExtended: true };
  }
  const day = (ago: number) => new Date(Date.now() - ago * DAY_MS).toISOString().slice(0, 10);
  const usage = await inTime(() => cloud.getUsageCost({ from_date: day(28), to_date: day(1) }));
  const rows = usage.ok ? usage.value.result.costs : [];
  const entities = rows.map((row) => entityOf(row, row.entityId ?? ''));
  const services = entities.filter(({ kind }) => kind === 'service');
  const named = services.map(({ entityId, entityName }) => [entityId, entityName] as const);
  return { services: new Map(named), isExtended: false };
}

/** The text of signalbox.yaml, whose roles and channel passed the checks. */
async function askForFile(form: Form, { slack, self }: SlackAnswers, cloud: CloudAnswers) {
  const listed = await inTime(() => slack.groups(null));
  const groups = (listed.ok ? listed.value : []).filter(({ disabled }) => !disabled);
  const handles = groups.map(({ handle }) => `@${handle}`);
  groups.forEach(({ handle, users }, at) => {
    stdout.write(`  ${at + 1}  @${handle}, ${countText(users.length, 'member')}\n`);
  });
  type LinesOf = (content: FileContent) => Promise<readonly CheckLine[]>;
  const settle = (name: string, linesOf: LinesOf) =>
    form.settle([name], async (_, answers) => {
      const file = fileText(cloud, answers, handles);
      const source = { path: YAML, readFile: () => file, commands: commandNames };
      const content = readConfigFile(source);
      const lines = content.ok ? await linesOf(content.value) : problemLines(content.problems);
      return { lines, value: null };
    });
  const people =
    (...shown: readonly string[]): LinesOf =>
    async ({ policy }) => {
      const named = await inTime(() => slack.groups(policy));
      const members = named.ok ? roleMembers(policy, named.value) : [];
      const accounts = await inTime(() => slack.accounts(members, self.home));
      const lines = peopleLines(policy, { groups: named, accounts });
      return lines.filter(({ name }) => shown.includes(name.replace(/^roles\.|\W.*/g, '')));
    };
  await settle('operator', people('operator', 'groups'));
  await settle('approver', people('approver', 'groups', 'rules', 'policy'));
  await settle('channel', async (content) => {
    const rooms = await inTime(() => slack.channels([null]), LIST_CALLS);
    const found = { rooms, ids: channelIds(content, new Map()), readTo: new Map() };
    return channelLines(content, found, self.botName);
  });
  return fileText(cloud, form.values(), handles);
}

function fileText(
  { organization, services, isExtended }: CloudAnswers,
  { operator = '', approver = operator, channel = '#approvals' }: Env,
  handles: readonly string[],
): string {
  const roleOf = (answer: string) => {
    const words = answer.split(/[\s,]+/).map((word) => handles[Number(word) - 1] ?? word);
    const [users, groups] = [true, false].map((isUser) =>
      [...new Set(words)].filter((word) => /^[UW][A-Z0-9]{4,}$/.test(word) === isUser),
    );
    return JSON.stringify({
      ...(groups?.length && { groups: groups.map((word) => word.replace(/^@?/, '@')) }),
      ...(users?.length && { users }),
    });
  };
  const items = typedNames(services).map((each) => `\n  - ${JSON.stringify(each)}`);
  const room = /^[#CG]/.test(channel) ? channel : `#${channel}`;
  return `# Written by signalbox init. Keep it in git and review each change; docs/policy.md explains it.
# plan and tier are assumed, see the console: they decide which sizes and estimates are offered.
organization: { id: ${organization}, plan: paid, tier: scale }
# Give services tags, for example tags: [prod], for rules of their own.
services:${items.join('') || ' []'}
cloud: { reads: ${isExtended ? 'extended' : 'contract'} }
roles:
  viewer: ${roleOf(`${operator} ${approver}`)}
  operator: ${roleOf(operator)}
  approver: ${roleOf(approver)}
channels: { approvals: ${JSON.stringify(room)} }
policy:                      # the first matching rule decides; no match: refused
  - allow: [service list, service show, alert list, alert show, cost,
            change list, change show, change cancel, change who]
    to: viewer
  - allow: [service start, service stop, service scale, alert edit]
    to: operator
    approvals: { from: approver }
`;
}

/** A name that a line cannot have, or that two services have, gets what makes it one: without quotes, with the id. */
export function typedNames(services: ReadonlyMap<string, string>) {
  const used = new Set<string>();
  return [...services].map(([id, given]) => {
    const plain = [...given.replaceAll(/[\p{C}"\\]/gu, '')].slice(0, 80).join('').trim();
    const isOwn = plain !== '' && !used.has(plain.toLowerCase());
    const name = isOwn ? plain : `${plain} ${id.slice(0, 8)}`.trim();
    used.add(name.toLowerCase());
    return { name, id };
  });
}

type Form = ReturnType<typeof openForm>;
type Check<T> = (
  known: Known,
  answers: Env,
) => Promise<{ readonly lines: readonly CheckLine[]; readonly value: T }>;

/** The questions on the terminal, and .env with each answer that passed. Parts of signalbox.yaml are comments there. */
function openForm() {
  let text = existsSync(ENV) ? readOrLeave(ENV) : '';
  let isHidden = false;
  const write = (part: unknown, _: unknown, done: () => void) => {
    if (!isHidden) stdout.write(String(part));
    done();
  };
  const terminal = stdin.isTTY === true;
  const lines = createInterface({ input: stdin, output: new Writable({ write }), terminal });
  const typed = lines[Symbol.asyncIterator]();
  const stop = () =>
    leave(`\nStopped. Each answer that passed is in .env: run ${SELF} init again to continue.`, 1);
  lines.on('SIGINT', stop);
  process.on('SIGINT', stop);

  const ask = async (question: string, names: readonly string[] = []): Promise<string> => {
    stdout.write(`\n${question}\n> `);
    isHidden = names.some((name) => FROM_FILES.includes(name));
    const { value, done } = await typed.next();
    isHidden = false;
    stdout.write('\n');
    return done ? stop() : value.trim();
  };
  const values = (): Env => parseEnv(text.replaceAll(/^# init /gm, ''));
  const keep = (answers: Env) => {
    for (const [name, value] of Object.entries(answers)) {
      if (values()[name] === value) continue;
      const isOther = (line: string) =>
        !line.replace(/^(export|# init) /, '').startsWith(`${name}=`);
      const others = text === '' ? [] : text.trimEnd().split('\n').filter(isOther);
      const mark = /^[a-z]/.test(name) ? '# init ' : '';
      text = [...others, `${mark}${name}=${quoted(value)}`, ''].join('\n');
      writeText(ENV, text, 0o600);
    }
  };
  const show = (checked: readonly CheckLine[]) => {
    const secrets = FROM_FILES.flatMap((name) => values()[name] ?? []);
    const [section] = cleaned([{ title: '', lines: checked }], secrets);
    stdout.write(linesText(section?.lines ?? []));
  };
  return {
    values,
    keep,
    /** Checks what .env has of these names, otherwise asks until an answer passes. */
    settle: async <T>(names: readonly string[], check: Check<T>): Promise<T> => {
      let given: Env | null = names.every((name) => isSet(name, values())) ? {} : null;
      for (;;) {
        if (given) {
          const answers = { ...values(), ...given };
          const { reading, unread } = readVariables(Draft, answers, readText);
          const problems = [...unread, ...(reading.ok ? [] : reading.problems)];
          if (problems.some(({ where }) => !names.includes(where))) leaveWith(problems);
          const isRead = reading.ok && unread.length === 0;
          const result = isRead ? await check(reading.value, answers) : null;
          const found = result?.lines ?? problemLines(problems);
          show(found);
          if (result && found.every(({ status }) => status !== 'failed')) {
            keep(given);
            return result.value;
          }
        }
        const answer = await ask(QUESTIONS[names[0] ?? ''] ?? '', names);
        const words = (names.length === 1 ? [answer] : answer.split(/\s+/)).map(withoutQuotes);
        const isWhole =
          words.length === names.length && words.every((word) => word !== '' && quoted(word));
        given = isWhole ? Object.fromEntries(names.map((name, at) => [name, words[at]])) : null;
        const all = names.length === 1 ? 'type it' : `type ${names.length} words`;
        if (!isWhole) show([failed(names.join(', '), 'not understood', all)]);
      }
    },
    /** Whether to write a file: it is missing, or a person agrees. Not if it has this text. */
    mayReplace: async (file: string, wanted: string | null = null): Promise<boolean> => {
      if (!existsSync(file)) return true;
      if (readOrLeave(file) === wanted) return false;
      for (;;) {
        const answer = await ask(`${file} exists. Replace it? yes or no`);
        if (/^(y|yes|n|no)$/i.test(answer)) return /^y/i.test(answer);
      }
    },
    /** Ends the questions, and removes the parts of signalbox.yaml from .env. Returns the environment. */
    end: (): Env => {
      lines.close();
      text = text.replaceAll(/^# init .*\n/gm, '');
      writeText(ENV, text, 0o600);
      return { ...proxies(), ...parseEnv(text) };
    },
  };
}

/** What was copied with quotes around it, or around each of its words. */
function withoutQuotes(answer: string): string {
  return answer.replaceAll(/(?<=^|\s)(["'])(\S+)\1(?=\s|$)/g, '$2');
}

/** As a value of .env, where nothing escapes a quote; null: the value has each kind of them. */
function quoted(value = ''): string | null {
  const quote = ["'", '`', '"'].find((each) => !value.includes(each));
  return quote ? `${quote}${value}${quote}` : null;
}

/** The variables of proxies hold for all programs, and .env need not have them. */
function proxies(): Env {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => /_proxy$/i.test(name)));
}
