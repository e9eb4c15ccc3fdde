import type { Booth } from './booth.ts';
import type { Operation } from './contract.ts';
import type { Recorder, Replies } from './recorder.ts';
import { BACKUP, CONTRACT, TILE_ALERT } from './replies.ts';

type Json = Readonly<Record<string, unknown>>;

/** What a person does to see all that is shown of a reply. */
interface Showing {
  readonly writes?: readonly string[];
  readonly looks?: readonly string[];
}

const ENDPOINT = '/endpoint create staging description=feed';
const COST = '/cost 2026-11-01..2026-11-18';

const SHOWINGS: Readonly<Record<string, Showing>> = {
  'create service': {
    writes: [
      '/service create "analytics new" provider=aws region=eu-west-1 ip=10.0.0.0/8 min=16 max=64',
    ],
    looks: ['/service show 7a1d0c7e-0000-4000-8000-00000000a001'],
  },
  'create endpoint': {
    writes: [
      `${ENDPOINT} type=VPC_ENDPOINT_SERVICE service-name=vpce-svc-1`,
      `${ENDPOINT} type=VPC_RESOURCE resource-configuration=rcfg-1 resource-share=arn:share`,
      `${ENDPOINT} type=STREAMING_MULTI_VPC cluster=arn:cluster authentication=SASL_IAM`,
    ],
  },
  scale: { writes: ['/service scale staging min=16 max=64'], looks: ['/service show staging'] },
  'set state': { writes: ['/service stop staging'], looks: ['/service show staging'] },
  'usage cost': { looks: ['', ' by day', ' by metric', ' by warehouse'].map((by) => COST + by) },
  'pipe settings': { looks: ['/pipe settings analytics-prod orders'] },
  backup: { looks: [`/backup show analytics-prod ${BACKUP}`] },
  'list alerts': { looks: ['/alert list'] },
  'get alert': { looks: [`/alert show ${TILE_ALERT}`] },
  'update alert': { writes: [`/alert edit ${TILE_ALERT} threshold=250`] },
};

/**
 * Where each field of a reply is shown. Everything is looked at twice: once as the reply is, and
 * once with this one field changed; what reads otherwise is where it is shown.
 */
export async function replyCells(booth: Booth, recorder: Recorder, operation: Operation) {
  const route = routeOf(operation);
  const before = await seen(booth, recorder, operation, {
    [route]: (sent) => replyTo(route, sent),
  });
  const cells = new Map<string, string>();
  for (const field of operation.reply) {
    const path = pathIn(operation, field);
    const metric = /^costs\.metrics\.(\w+)$/.exec(field)?.[1];
    const changed = (sent: Json) =>
      metric ? withMoved(replyTo(route, sent), metric) : withChanged(replyTo(route, sent), path);
    const after = await seen(booth, recorder, operation, { [route]: changed });
    cells.set(field, difference(before, after));
  }
  return cells;
}

function routeOf({ method, path }: Operation): string {
  const pattern = new RegExp(`^${method} ${path.replace(/\{\w+\}/g, '[^/]+')}$`);
  return Object.keys(CONTRACT).find((route) => pattern.test(route)) ?? '';
}

/** What a server of the contract answers; a state goes with it, so that disbelief can be seen. */
function replyTo(route: string, sent: Json): Json {
  const reply = CONTRACT[route];
  const whole: Json = JSON.parse(JSON.stringify(typeof reply === 'function' ? reply(sent) : reply));
  // An envelope holds an object or a list.
  const result = whole.result as Json | undefined;
  return result && 'engineVersion' in result
    ? { ...whole, result: { ...result, state: 'running' } }
    : whole;
}

function pathIn({ api, name }: Operation, field: string): readonly string[] {
  const inside = field.split('.');
  if (api === 'cloud') return ['result', ...inside];
  return name === 'list alerts' ? ['data', '0', ...inside] : ['data', ...inside];
}

async function seen(booth: Booth, recorder: Recorder, { name }: Operation, replies: Replies) {
  const { writes = [], looks = [] } = SHOWINGS[name] ?? {};
  recorder.answer({ ...CONTRACT, ...replies });
  booth.time.pass(16 * 60_000);
  const lines: string[] = [];
  for (const line of writes) lines.push(...(await written(booth, line)));
  for (const line of looks) lines.push(...(await booth.said(line)));
  return lines
    .filter((line) => !line.startsWith('Seen  '))
    .map((line) => line.replace(/^Fetched \S+ \S+ UTC/, 'Fetched [now]'));
}

/** Of a card only what came of the reply: the rest was there before it. */
async function written(booth: Booth, line: string): Promise<readonly string[]> {
  booth.time.pass(61_000);
  const card = await booth.confirmed(await booth.typed(line));
  const drawn = booth.drawn(card);
  const told = drawn.filter((each, index) => index === 0 || /^The server /.test(each));
  if (!drawn.some((each) => each.includes('[Show the password]'))) return told;
  return [...told, `behind “Show the password”  ${await booth.revealed(card)}`];
}

/** A metric is shown only where all of them add up: what it gains, another one loses. */
function withMoved(reply: Json, metric: string): Json {
  // The report of the contract, as replies.ts has it.
  const { result } = reply as { result: { costs: { metrics: Readonly<Record<string, number>> } } };
  const { metrics } = result.costs;
  const from = metric === 'computeCredits' ? 'storageCredits' : 'computeCredits';
  const moved = { [metric]: (metrics[metric] ?? 0) + 0.2, [from]: (metrics[from] ?? 0) - 0.2 };
  return {
    ...reply,
    result: { ...result, costs: { ...result.costs, metrics: { ...metrics, ...moved } } },
  };
}

/** The same reply with one field other than it was; a field that was not there, is. */
function withChanged(reply: Json, [key = '', ...rest]: readonly string[]): Json {
  const inner = reply[key];
  if (rest.length === 0) return { ...reply, [key]: other(inner) };
  if (Array.isArray(inner)) {
    const items: readonly Json[] = inner;
    return {
      ...reply,
      [key]: items.map((one, at) => (`${at}` === rest[0] ? withChanged(one, rest.slice(1)) : one)),
    };
  }
  // Every other step of the path leads through an object.
  return { ...reply, [key]: withChanged((inner ?? {}) as Json, rest) };
}

function other(value: unknown): unknown {
  if (typeof value === 'number') return value + 4;
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\d/.test(value))
    return value.replace(/-1[89]|-20|-01/, '-17');
  if (typeof value === 'string') return `${value}-other`;
  if (Array.isArray(value)) return value.map(other);
  if (typeof value !== 'object' || value === null) return 'other';
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, other(one)]));
}

/** The label of the first line that reads otherwise; empty where none does. */
function difference(before: readonly string[], after: readonly string[]): string {
  const at = after.findIndex((line, index) => line !== before[index]);
  const line = after[at];
  if (line === undefined) return before.length > after.length ? 'whether it is there' : '';
  if (/Request failed|no details/.test(line)) return 'compared with the request';
  return labelOf(after, before, at);
}

function labelOf(after: readonly string[], before: readonly string[], at: number): string {
  const line = after[at] ?? '';
  const [, label] = /^(.+?) {2}/.exec(line) ?? /^(The server reports): /.exec(line) ?? [];
  if (label) return label;
  if (line.startsWith('Fetched')) return 'footer';
  const cells = line.split(' · ');
  const header = headerOf(after, at, cells.length);
  const column = cells.findIndex((cell, index) => cell !== before[at]?.split(' · ')[index]);
  if (header) return `column ${header[column] ?? header[0]}`;
  return at === 0 ? 'title' : 'a separate line';
}

/** The top of the table that a line is a row of: it has as many cells, and so has all between. */
function headerOf(lines: readonly string[], at: number, count: number): readonly string[] | null {
  if (count < 2) return null;
  let top = at;
  while (top > 0 && (lines[top - 1] ?? '').split(' · ').length === count) top -= 1;
  return top === at ? null : (lines[top] ?? '').split(' · ');
}
