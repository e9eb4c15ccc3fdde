import type { StoredMessage } from '../../sandbox/slack/records.ts';
import type { Operation } from './contract.ts';
import type { ContractBot } from './contract-bot.ts';
import type { Recorder, Replies } from './recorder.ts';
import { BACKUP, CONTRACT, TILE_ALERT } from './replies.ts';

type Json = Readonly<Record<string, unknown>>;

/** The commands that show all visible fields of a reply. */
interface Showing {
  readonly writes?: readonly string[];
  readonly reads?: readonly string[];
}

const ENDPOINT = '/endpoint create staging description=feed';
const COST = '/cost 2026-11-01..2026-11-18';

const SHOWINGS: Readonly<Record<string, Showing>> = {
  'create service': {
    writes: [
      '/service create "analytics new" provider=aws region=eu-west-1 ip=10.0.0.0/8 min=16 max=64',
    ],
    reads: ['/service show 7a1d0c7e-0000-4000-8000-00000000a001 details'],
  },
  'create endpoint': {
    writes: [
      `${ENDPOINT} type=VPC_ENDPOINT_SERVICE service-name=vpce-svc-0a1b2c3d`,
      `${ENDPOINT} type=VPC_RESOURCE resource-configuration=rcfg-0a1b2c3d resource-share=arn:aws:ram:eu-west-1:123456789012:resource-share/11111111-2222-4333-8444-555555555555`,
      `${ENDPOINT} type=STREAMING_MULTI_VPC cluster=arn:aws:kafka:eu-west-1:123456789012:cluster/feed/11111111-2222-4333-8444-555555555555-1 authentication=SASL_IAM`,
    ],
  },
  scale: {
    writes: ['/service scale staging min=16 max=64'],
    reads: ['/service show staging details'],
  },
  'set state': { writes: ['/service stop staging'], reads: ['/service show staging details'] },
  'usage cost': { reads: ['', ' by day', ' by metric', ' by warehouse'].map((by) => COST + by) },
  'pipe settings': { reads: ['/pipe settings analytics-prod orders'] },
  backup: { reads: [`/backup show analytics-prod ${BACKUP}`] },
  'list alerts': { reads: ['/alert list'] },
  'get alert': { reads: [`/alert show ${TILE_ALERT}`] },
  'update alert': { writes: [`/alert edit ${TILE_ALERT} threshold=250`] },
};

/**
 * Where each field of a reply is shown. The commands run twice, the second time with this one field
 * changed; the line that differs shows the field. What comes after it is not asked for.
 */
export async function replyCells(bot: ContractBot, recorder: Recorder, operation: Operation) {
  const route = routeOf(operation);
  const before: Lines[] = [];
  const unchanged = { [route]: (sent: Json) => replyTo(route, sent) };
  for await (const part of seen(bot, recorder, operation, unchanged)) before.push(part);
  const cells = new Map<string, string>();
  for (const field of operation.reply) {
    const path = pathIn(operation, field);
    const metric = /^costs\.metrics\.(\w+)$/.exec(field)?.[1];
    const changed = (sent: Json) =>
      metric ? withMoved(replyTo(route, sent), metric) : withChanged(replyTo(route, sent), path);
    const after = seen(bot, recorder, operation, { [route]: changed });
    cells.set(field, await firstDifference(before, after));
  }
  return cells;
}

function routeOf({ method, path }: Operation): string {
  const pattern = new RegExp(`^${method} ${path.replace(/\{\w+\}/g, '[^/]+')}$`);
  return Object.keys(CONTRACT).find((route) => pattern.test(route)) ?? '';
}

/** The contract's reply, plus a state so that a mismatch becomes visible. */
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

type Lines = readonly string[];

/** What the commands of an operation show, part by part. */
async function* seen(
  bot: ContractBot,
  recorder: Recorder,
  { name }: Operation,
  replies: Replies,
): AsyncGenerator<Lines> {
  const { writes = [], reads = [] } = SHOWINGS[name] ?? {};
  recorder.answer({ ...CONTRACT, ...replies });
  bot.time.pass(16 * 60_000);
  const cards: StoredMessage[] = [];
  for (const line of writes) {
    bot.time.pass(61_000);
    const card = await bot.confirm(await bot.type(line));
    cards.push(card);
    const drawn = bot.currentLines(card);
    // So that the target is free again.
    if (drawn[0]?.includes('outcome unknown')) await bot.resolveUnknown(card);
    yield drawn.filter((each, index) => index === 0 || /^(The server |⚠)/.test(each));
    const isShown = drawn.some((each) => each.includes('[Show the password]'));
    yield isShown ? [`behind “Show the password”  ${await bot.revealPassword(card)}`] : [];
  }
  for (const line of reads) {
    const lines = await bot.run(line);
    yield lines
      // The time and the last changes differ between two runs.
      .filter((each) => !/^Last seen {2}| · (@U\w+, \[|<@U\w+>, <!date)/.test(each))
      .map((each) => each.replace(/^As of .*?(?= ·|$)/, 'As of [now]'));
  }
  for (const card of cards) {
    yield (await bot.requestLines(card)).filter((each) => /^The server /.test(each));
  }
}

/** The reply with a part of one metric moved to another: the total must stay equal. */
function withMoved(reply: Json, metric: string): Json {
  // The usage report of replies.ts.
  const { result } = reply as { result: { costs: { metrics: Readonly<Record<string, number>> } } };
  const { metrics } = result.costs;
  const from = metric === 'computeCredits' ? 'storageCredits' : 'computeCredits';
  const moved = { [metric]: (metrics[metric] ?? 0) + 0.2, [from]: (metrics[from] ?? 0) - 0.2 };
  return {
    ...reply,
    result: { ...result, costs: { ...result.costs, metrics: { ...metrics, ...moved } } },
  };
}

/** The reply with one field changed, or added if it was missing. */
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
  // All other steps of the path are objects.
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

/** The first difference, after which no command runs any more. */
async function firstDifference(before: readonly Lines[], after: AsyncIterable<Lines>) {
  let part = 0;
  for await (const lines of after) {
    const found = difference(before[part] ?? [], lines);
    if (found !== '') return found;
    part += 1;
  }
  return '';
}

/** The label of the first line that differs; empty if none does. */
function difference(before: readonly string[], after: readonly string[]): string {
  const at = after.findIndex((line, index) => line !== before[index]);
  const line = after[at];
  if (line === undefined) return before.length > after.length ? 'whether it is there' : '';
  if (/Request failed|no details|outcome unknown/.test(line)) return 'compared with the request';
  return labelOf(after, before, at);
}

function labelOf(after: readonly string[], before: readonly string[], at: number): string {
  const line = after[at] ?? '';
  const [, label] = /^(.+?) {2}/.exec(line) ?? /^(The server reports): /.exec(line) ?? [];
  if (label) return label;
  if (line.startsWith('As of')) return 'footer';
  const cells = line.split(' · ');
  const header = headerOf(after, at, cells.length);
  const column = cells.findIndex((cell, index) => cell !== before[at]?.split(' · ')[index]);
  if (header) return `column ${header[column] ?? header[0]}`;
  return at === 0 ? 'title' : 'a separate line';
}

/** The header of the table around a row: the first of the adjacent lines with equally many cells. */
function headerOf(lines: readonly string[], at: number, count: number): readonly string[] | null {
  if (count < 2) return null;
  let top = at;
  while (top > 0 && (lines[top - 1] ?? '').split(' · ').length === count) top -= 1;
  return top === at ? null : (lines[top] ?? '').split(' · ');
}
