import { isDeepStrictEqual } from 'node:util';
import type { View } from '../../sandbox/protocol.ts';
import { ALERTS_TOKEN, CLOUD_KEY, ORGANIZATION } from '../../sandbox/seed/organization.ts';
import { InvalidRequest, Secret } from '../../src/base/errors.ts';
import { createAlertsClient } from '../../src/servers/alerts.ts';
import { AlertEdit } from '../../src/servers/alerts-schema.ts';
import { createCloudClient } from '../../src/servers/cloud.ts';
import { ANA } from '../harness/users.ts';
import { type FieldSchema, OPERATIONS, type Operation, type RequestField } from './contract.ts';
import { type ContractBot, openContractBot } from './contract-bot.ts';
import { fieldOf, fillForm, formOf } from './forms.ts';
import { linesOf } from './message-lines.ts';
import { type Recorder, startRecorder } from './recorder.ts';
import { BACKUP, CONTRACT, PIPE, STAGING, TILE_ALERT, WAREHOUSE } from './replies.ts';

type Body = Readonly<Record<string, unknown>>;

/** What a field accepts and refuses: at its bounds, and one step beyond them. */
export interface ValueCells {
  readonly accepted: string;
  readonly refused: string;
  /** What happens to a field whose input is emptied. */
  readonly emptied: string;
}

interface Vector {
  /** As a user types it. */
  readonly typed: string;
  /** As the API takes it. */
  readonly value: unknown;
}

/** The values at the bounds of a field, all of a list, and its examples. */
function acceptedValues({ type, enum: list, examples, ...bounds }: FieldSchema): Vector[] {
  const { minimum: min, maximum: max, multipleOf: step = 1, maxLength, format } = bounds;
  const inside = (bound: number | undefined, by: number) =>
    bound === undefined ? [] : [bound, bound + by];
  const values = [
    ...(list ?? []),
    ...examples,
    ...(type === 'boolean' ? [true, false] : []),
    ...inside(min, step),
    ...inside(max, -step).reverse(),
    ...(maxLength === undefined ? [] : ['a', 'a'.repeat(maxLength)]),
    ...(format === 'uuid' ? ['53837fde-9e4f-4c3d-b63e-8c949cf4822f'] : []),
  ];
  return values
    .filter((value) => value !== null)
    .map((value) => ({ typed: typedOf(value), value }));
}

/** One step beyond each bound, a value that is in no list, and a text where none is accepted. */
function refusedValues({ type, enum: list, ...bounds }: FieldSchema): Vector[] {
  const { minimum: min, maximum: max, multipleOf: step, maxLength, format } = bounds;
  const values = [
    ...(min === undefined ? [] : [min - (step ?? 1)]),
    ...(min === undefined || step === undefined ? [] : [min + step / 2]),
    ...(max === undefined ? [] : [max + (step ?? 1)]),
    ...(type === 'number' ? ['many'] : []),
    ...(type === 'boolean' ? ['maybe'] : []),
    ...(list === undefined ? [] : ['something-else']),
    ...(maxLength === undefined ? [] : ['a'.repeat(maxLength + 1)]),
    ...(format === 'uuid' ? ['yesterday'] : []),
    ...bounds['x-refused'],
  ];
  return values.map((value) => ({ typed: typedOf(value), value }));
}

/** `10.0.0.0/8 office`, `mysql on`. */
function typedOf(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (Array.isArray(value)) return value.map(typedOf).join(',');
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.values(value).map(typedOf).join(' ').trim();
}

const SHARE =
  'resource-share=arn:aws:ram:eu-west-1:123456789012:resource-share/11111111-2222-4333-8444-555555555555';
const CLUSTER =
  'cluster=arn:aws:kafka:eu-west-1:123456789012:cluster/feed/11111111-2222-4333-8444-555555555555-1';
const TYPES: Readonly<Record<string, string>> = {
  VPC_ENDPOINT_SERVICE: 'service-name=vpce-svc-0a1b2c3d',
  VPC_RESOURCE: `resource-configuration=rcfg-0a1b2c3d ${SHARE}`,
  STREAMING_MULTI_VPC: `${CLUSTER} authentication=SASL_IAM`,
};
const REGION: Readonly<Record<string, string>> = { gcp: 'us-east1', azure: 'eastus' };

function providerOf(region: string): string {
  if (/-\d$/.test(region)) return 'aws';
  return /-.*\d$/.test(region) ? 'gcp' : 'azure';
}

const PLACE = 'provider=aws region=eu-west-1';
const AWS = `${PLACE} ip=10.0.0.0/8`;
const FEED = 'staging description=feed';
type Others = (typed: string) => string;

/** The command that sends an operation, and the other arguments that a value of each field needs. */
const WORDS: Readonly<
  Record<string, { command: string; others: Others; of?: Readonly<Record<string, Others>> }>
> = {
  'create service': {
    command: 'service create',
    others: () => `right ${AWS}`,
    of: {
      name: () => AWS,
      provider: (typed) => `right region=${REGION[typed] ?? 'eu-west-1'} ip=10.0.0.0/8`,
      region: (typed) => `right provider=${providerOf(typed)} ip=10.0.0.0/8`,
      ipAccessList: () => `right ${PLACE}`,
      minTotalMemoryGb: () => `right ${AWS} max-total=1068`,
      minReplicaMemoryGb: () => `right ${AWS} max=356`,
      numReplicas: () => `right ${AWS} warehouse=${WAREHOUSE}`,
      isReadonly: () => `right ${AWS} warehouse=${WAREHOUSE}`,
      byocId: () => `right ${AWS} min=48 max=48`,
    },
  },
  'create endpoint': {
    command: 'endpoint create',
    others: () => `${FEED} type=VPC_ENDPOINT_SERVICE`,
    of: {
      description: () => `staging type=VPC_ENDPOINT_SERVICE ${TYPES.VPC_ENDPOINT_SERVICE}`,
      type: (typed) => `${FEED} ${TYPES[typed] ?? TYPES.VPC_ENDPOINT_SERVICE}`,
      vpcResourceConfigurationId: () => `${FEED} type=VPC_RESOURCE ${SHARE}`,
      vpcResourceShareArn: () => `${FEED} type=VPC_RESOURCE resource-configuration=rcfg-0a1b2c3d`,
      streamClusterArn: () => `${FEED} type=STREAMING_MULTI_VPC authentication=SASL_IAM`,
      streamAuthentication: () => `${FEED} type=STREAMING_MULTI_VPC ${CLUSTER}`,
    },
  },
  scale: {
    command: 'service scale',
    others: () => 'staging',
    of: {
      minReplicaMemoryGb: () => 'staging max=356',
      maxReplicaMemoryGb: () => 'staging min=8',
      idleScaling: () => 'staging replicas=3',
      numReplicas: () => 'staging idle=on',
      idleTimeoutMinutes: () => 'staging idle=on',
    },
  },
  'update alert': {
    command: 'alert edit',
    others: () => `${TILE_ALERT} threshold=7`,
    of: { threshold: () => `${TILE_ALERT} interval=1h` },
  },
};

/** The cells by operation and field of its body: `scale numReplicas`. */
export async function allValueCells(): Promise<ReadonlyMap<string, ValueCells>> {
  const recorder = await startRecorder();
  recorder.answer(CONTRACT);
  const urls = { cloud: recorder.url, alerts: recorder.url };
  const bot = await openContractBot({ urls, of: { tier: 'enterprise' } });
  const clients = openClients(recorder, bot);
  const all = new Map<string, ValueCells>();
  for (const operation of OPERATIONS) {
    for (const field of operation.body) {
      const cells = await valueCells({ bot, recorder, clients }, operation, field);
      if (cells) all.set(`${operation.name} ${field.name}`, cells);
    }
  }
  for (const [name, asked] of Object.entries(ASKED)) {
    all.set(name, await askedCells({ bot, recorder }, name, asked));
  }
  await Promise.all([clients.close(), bot.close()]);
  await recorder.stop();
  return all;
}

/** What a path or a query holds, and the command of a start or stop. */
interface Asked {
  readonly line: (typed: string) => string;
  /** A part of the answer to an accepted value, or of the path of its request. */
  readonly shows: (typed: string) => string;
  readonly accepted: readonly string[];
  readonly refused: readonly string[];
}

const LONGEST = `${'a'.repeat(62)}-1`;
const IDS = {
  shows: (typed: string) => `/${typed}`,
  ...{ accepted: ['p-0123456789', LONGEST], refused: ['../p-0123456789', `${LONGEST}0`] },
};
const UUIDS = { ...IDS, accepted: [BACKUP], refused: ['../latest', `${BACKUP}/x`] };
const OF_SERVICE = { accepted: ['staging', STAGING], refused: ['../staging', 'stagign'] };
const CHANGED = { ...OF_SERVICE, shows: () => ' staging?' };
const READ = { ...OF_SERVICE, shows: () => `/services/${STAGING}/` };
const DAYS = { shows: () => '(UTC)' };
const ENDPOINT = `description=feed type=VPC_ENDPOINT_SERVICE ${TYPES.VPC_ENDPOINT_SERVICE}`;

const ASKED: Readonly<Record<string, Asked>> = {
  'create endpoint serviceId': {
    line: (typed) => `/endpoint create "${typed}" ${ENDPOINT}`,
    ...CHANGED,
  },
  'scale serviceId': { line: (typed) => `/service scale "${typed}" replicas=3`, ...CHANGED },
  'set state serviceId': { line: (typed) => `/service stop "${typed}"`, ...CHANGED },
  'set state command': {
    line: (typed) => `/service ${typed} staging`,
    shows: (typed) => `${typed.slice(1)} staging?`,
    ...{ accepted: ['start', 'stop'], refused: ['awake', 'restart'] },
  },
  'usage cost from_date': {
    line: (typed) => `/cost ${typed}..2026-11-18`,
    ...{ ...DAYS, accepted: ['2026-11-18', '2026-10-19'], refused: ['2026-11-19', '2026-02-30'] },
  },
  'usage cost to_date': {
    line: (typed) => `/cost 2026-10-19..${typed}`,
    ...{ ...DAYS, accepted: ['2026-10-19', '2026-11-18'], refused: ['2026-10-18', '2026-11-31'] },
  },
  'pipe settings serviceId': { line: (typed) => `/pipe settings "${typed}" ${PIPE}`, ...READ },
  'pipe settings pipeId': { line: (typed) => `/pipe settings staging "${typed}"`, ...IDS },
  'backup serviceId': { line: (typed) => `/backup show "${typed}" ${BACKUP}`, ...READ },
  'backup backupId': { line: (typed) => `/backup show staging "${typed}"`, ...UUIDS },
  'get alert id': { line: (typed) => `/alert show "${typed}"`, ...IDS },
  'update alert id': { line: (typed) => `/alert edit "${typed}" threshold=7`, ...IDS },
};

/** Types these values: an accepted one is shown or sent, a refused one is named and not sent. */
async function askedCells(
  { bot, recorder }: Pick<Tried, 'bot' | 'recorder'>,
  name: string,
  { line, shows, accepted, refused }: Asked,
): Promise<ValueCells> {
  const [, command = ''] = /^\/(\w+ \w+)/.exec(line('start')) ?? [];
  const answerTo = async (typed: string) => {
    bot.time.pass(61_000);
    recorder.takeRequests();
    const { answer, view } = await bot.answerOrForm(line(typed), formOf(command));
    if (view) await bot.slack.close(ANA, view.id);
    const lines = answer ? bot.linesIn(answer) : linesOf(view?.blocks.slice(0, 1) ?? []);
    const sent = recorder.takeRequests().map(({ path }) => path);
    const own = lines.filter((each) => !each.startsWith('/')).join(' ');
    const [sentence = ''] = own.replaceAll('\n', ' ').split(/ Did you mean:| \[/);
    return { said: lines.join(' '), sent, sentence };
  };
  for (const typed of accepted) {
    const { said, sent } = await answerTo(typed);
    if (![said, ...sent].join(' ').includes(shows(typed))) throw new Error(`${name}: ${said}`);
  }
  const sentences: { readonly vector: Vector; readonly sentence: string }[] = [];
  for (const typed of refused) {
    const { said, sent, sentence } = await answerTo(typed);
    const isSent = sent.some((path) => /(services|alerts)\/./.test(path));
    if (isSent || !said.includes(typed)) throw new Error(`${name}: ${typed}: ${said}`);
    const general = sentence.replace(/“[^”]*”/, '“…”').replace(/, not \S+$/, '');
    sentences.push({ vector: { typed, value: typed }, sentence: general });
  }
  const all = accepted.map((typed) => ({ typed, value: typed }));
  return { accepted: listed(all), refused: refusals(sentences), emptied: '–' };
}

/** Drives words, form and client with the vectors of one field, and throws where they disagree. */
async function valueCells(
  { bot, recorder, clients }: Pick<Tried, 'bot' | 'recorder' | 'clients'>,
  operation: Operation,
  field: RequestField,
): Promise<ValueCells | null> {
  const words = WORDS[operation.name];
  const name = argumentOf(operation, field.name);
  if (!words || name === null) return null;
  const others = words.of?.[name] ?? words.others;
  const tried = { bot, recorder, clients, operation, field, name, command: words.command, others };
  const schema = field.parts.length > 0 ? WEBHOOK : field.schema;
  const accepted = acceptedValues(schema);
  const [right] = accepted;
  if (!right) throw new Error(`${field.name} needs an example in the description`);
  const form = formOf(tried.command);
  const first = await typedPreview(tried, right);
  let preview = first.answer;
  // Of a list, people enter the first and the last value, and the client sends all.
  const entered = field.schema.enum ? [right, accepted.at(-1) ?? right] : accepted;
  for (const vector of entered) {
    const typed = vector === right ? first : await typedPreview(tried, vector);
    expectSame(tried, vector, typed.body);
    const needsOthers = others(vector.typed) !== others(right.typed);
    const view = await bot.edit(needsOthers ? typed.answer : preview, form);
    const { lines, answer } = await fillForm(bot, view, { [name]: vector.typed });
    if (!answer || !lines[0]?.endsWith('?')) throw wrong(tried, vector, `form: ${lines[0]}`);
    if (!needsOthers) preview = answer;
    await clientAccepts(tried, typed.body, vector);
  }
  for (const vector of accepted.filter((each) => others(each.typed) === others(right.typed))) {
    await clientAccepts(tried, first.body, vector);
  }
  const sentences: { readonly vector: Vector; readonly sentence: string }[] = [];
  for (const vector of refusedValues(schema)) {
    sentences.push({ vector, sentence: await typedRefusal(tried, vector) });
    await clientRefuses(tried, first.body, vector);
  }
  const { type, maximum } = schema;
  // Forms have an input for digits only.
  const spelled = type === 'number' && maximum === undefined ? ['1e3', '1,000'] : [];
  for (const typed of spelled) {
    const vector = { typed, value: 1_000 };
    expectSame(tried, vector, (await typedPreview(tried, vector)).body);
    accepted.push(vector);
  }
  const byClient = field.nullable ? await acceptsNull(tried) : '';
  const view = await bot.edit(preview, form);
  for (const { vector } of sentences) {
    const { errors, lines } = await fillForm(bot, view, { [name]: vector.typed });
    if (errors[name] === undefined) throw wrong(tried, vector, `form: ${lines[0]}`);
  }
  return {
    accepted: `${listed(accepted)}${byClient}`,
    refused: refusals(sentences),
    emptied: await emptied(tried, view, right),
  };
}

/** Null is a value of programs: the client sends it in the body of another type, which needs no such field. */
async function acceptsNull(tried: Tried): Promise<string> {
  const { word } = fieldOf(tried.command, tried.name);
  const [type, words] =
    Object.entries(TYPES).find(([, needed]) => !needed.includes(`${word}=`)) ?? [];
  const line = { ...tried, name: 'type', others: () => `${FEED} ${words}` };
  const { body } = await typedPreview(line, { typed: String(type), value: type });
  await clientAccepts(tried, body, { typed: '', value: null });
  return ' · null by the client';
}

const WEBHOOK: FieldSchema = { deprecated: false, examples: ['w2'], 'x-refused': [] };

/** The name of the argument that sets a field of the body; null: no argument does. */
function argumentOf({ name }: Operation, field: string): string | null {
  if (name === 'set state' || field === 'source') return null;
  return field === 'channel' ? 'webhookId' : field;
}

interface Tried {
  readonly bot: ContractBot;
  readonly recorder: Recorder;
  readonly clients: Clients;
  readonly operation: Operation;
  readonly field: RequestField;
  readonly name: string;
  readonly command: string;
  readonly others: Others;
}

function wrong({ operation, name }: Tried, { typed }: Vector, what: string): Error {
  return new Error(`${operation.name}: ${name}=${typed}: ${what}`);
}

function lineOf({ command, name, others }: Tried, typed: string): string {
  const { word } = fieldOf(command, name);
  const text = `"${typed}"`;
  const own = word === undefined ? text : `${word}=${text}`;
  const rest = others(typed);
  return word === undefined ? `/${command} ${own} ${rest}` : `/${command} ${rest} ${own}`;
}

async function typedAnswer(tried: Tried, { typed }: Vector) {
  const { bot, command } = tried;
  bot.time.pass(61_000);
  const { answer, view } = await bot.answerOrForm(lineOf(tried, typed), formOf(command));
  if (view) await bot.slack.close(ANA, view.id);
  return { answer, lines: answer ? bot.linesIn(answer) : linesOf(view?.blocks.slice(0, 1) ?? []) };
}

/** The preview of a typed value, and the body that it would send. */
async function typedPreview(tried: Tried, vector: Vector) {
  const { answer, lines } = await typedAnswer(tried, vector);
  if (!answer || !lines[0]?.endsWith('?')) throw wrong(tried, vector, `typed: ${lines.join(' ')}`);
  return { answer, body: bodyIn(await tried.bot.requestLines(answer)) };
}

function bodyIn(lines: readonly string[]): Body {
  const sends = lines.find((line) => line.startsWith('Sends  ')) ?? '{}';
  return JSON.parse(sends.slice(sends.indexOf('{')));
}

function expectSame(tried: Tried, vector: Vector, body: Body): void {
  const sent = body[tried.field.name];
  const value = tried.name === 'webhookId' ? Object(sent).webhookId : sent;
  if (!isDeepStrictEqual(value, vector.value)) {
    throw wrong(tried, vector, `typed: would send ${JSON.stringify(value)}`);
  }
}

/** The sentence about a typed value, which begins with the key or the label of its field. */
async function typedRefusal(tried: Tried, vector: Vector): Promise<string> {
  const { lines } = await typedAnswer(tried, vector);
  const { word, label } = fieldOf(tried.command, tried.name);
  const said = lines.flatMap((line) => line.split('\n'));
  const sentence = said.find((line) => line.startsWith(`${word ?? label} `));
  if (sentence === undefined) throw wrong(tried, vector, `typed: ${lines.join(' ')}`);
  return sentence.replace(/(, not [^,]+| \(you typed .*\)):?$/s, '');
}

async function clientAccepts(tried: Tried, body: Body, { value }: Vector): Promise<void> {
  const { recorder, field } = tried;
  recorder.takeRequests();
  await send(tried, { ...body, [field.name]: valueIn(tried, value) });
  const [request] = recorder.takeRequests().filter((each) => each.method !== 'GET');
  const sent = JSON.parse(request?.body ?? '{}')[field.name];
  if (!isDeepStrictEqual(sent, valueIn(tried, value))) {
    throw new Error(`The client sends ${field.name}=${JSON.stringify(sent)}`);
  }
}

function valueIn({ name }: Tried, value: unknown): unknown {
  return name === 'webhookId' ? { type: 'webhook', webhookId: value } : value;
}

async function clientRefuses(tried: Tried, body: Body, vector: Vector): Promise<void> {
  const { field, operation, name } = tried;
  const problems = await problemsOf(async () => {
    // The edit is checked apart: its body carries all other fields of the alert, also of other types.
    if (operation.name === 'update alert') {
      const { error } = AlertEdit.safeParse({ [name]: vector.value });
      if (error) throw new InvalidRequest('', [{ field: name, problem: error.message }]);
    }
    await send(tried, { ...body, [field.name]: valueIn(tried, vector.value) });
  });
  if (!problems.includes(name)) throw wrong(tried, vector, `client: ${problems.join(', ')}`);
}

async function problemsOf(call: () => Promise<unknown>): Promise<readonly string[]> {
  try {
    await call();
    return ['sent'];
  } catch (error) {
    if (error instanceof InvalidRequest) return error.problems.map(({ field }) => field);
    throw error;
  }
}

/** The clients of both APIs, calling the recorder; time passes while they wait for their budget. */
function openClients({ url }: Recorder, { time }: ContractBot) {
  const common = { version: 'test', privateAddresses: true, clock: time.clock, baseUrl: url };
  const cloud = createCloudClient({
    ...{ ...common, organizationId: ORGANIZATION.id },
    ...{ keyId: CLOUD_KEY.id, keySecret: new Secret(CLOUD_KEY.secret) },
  });
  const alerts = createAlertsClient({ ...common, token: new Secret(ALERTS_TOKEN) });
  return { cloud, alerts, close: () => Promise.all([cloud.close(), alerts.close()]) };
}
type Clients = ReturnType<typeof openClients>;

/** Wrong bodies are sent as well, so their types are not those of the clients. */
async function send({ clients, operation, bot }: Tried, body: Body): Promise<unknown> {
  bot.time.pass(61_000);
  const { cloud, alerts } = clients;
  const calls: Readonly<Record<string, (body: never) => Promise<unknown>>> = {
    'create service': cloud.createService,
    'create endpoint': (made) => cloud.createReversePrivateEndpoint(STAGING, made),
    scale: (sizes) => cloud.updateReplicaScaling(STAGING, sizes),
    'update alert': (update) => alerts.updateAlert(TILE_ALERT, update),
  };
  return calls[operation.name]?.(body as never);
}

/** What the form does with an emptied input: the body lacks the field, keeps it, or the form refuses. */
async function emptied(tried: Tried, view: View, right: Vector): Promise<string> {
  const { errors, lines, answer } = await fillForm(tried.bot, view, { [tried.name]: '' });
  if (errors[tried.name] !== undefined) {
    await tried.bot.slack.close(ANA, view.id);
    return 'required';
  }
  if (!answer || !lines[0]?.endsWith('?')) throw wrong(tried, right, `emptied: ${lines[0]}`);
  const body = bodyIn(await tried.bot.requestLines(answer));
  if (tried.field.name in body) return 'stays as it is';
  return tried.operation.name === 'update alert' ? 'removed from the alert' : 'not sent';
}

const LISTED_MAX = 6;

function listed(vectors: readonly Vector[]): string {
  const shown = [...new Set(vectors.map(({ typed }) => cell(typed)))];
  if (shown.length <= LISTED_MAX) return shown.join(' ');
  return `${shown[0]} … ${shown.at(-1)} (${shown.length} values)`;
}

/** `` `4` `10` `360`: max must be a multiple of 4 from 8 to 356 `` */
function refusals(all: readonly { readonly vector: Vector; readonly sentence: string }[]): string {
  if (all.length === 0) return 'no text';
  const sentences = [...new Set(all.map(({ sentence }) => sentence))];
  return sentences
    .map((sentence) => {
      const own = all.filter((each) => each.sentence === sentence).map(({ vector }) => vector);
      return `${listed(own)}: ${sentence.length > 90 ? `${sentence.slice(0, 89)}…` : sentence}`;
    })
    .join(' · ');
}

function cell(typed: string): string {
  return `\`${typed.replace(/(\w)\1{9,}/g, (run, letter) => `${letter}×${run.length}`)}\``;
}
