import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { StatementSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { fileOf, go, SRC, type Way } from './trace-bot.ts';

const USAGE = 'npm run trace -- command|approve|cost [--json] [--no-chains]';
/** The functions that read a change, hash its record and check its signatures. */
const OF_CHANGES = { decoded: 'recordedEvents', hashed: 'eventHash', checked: 'verifySignature' };
const HOW = `The ten longest chains of calls until the first point: the call stack at each entry of a named
function, across await, in a second run of the same way. A callback has the name of the function around it.
Of chains that share two thirds of their functions, only the longest is listed.`;

/** A function of `src` that ran; a callback has no name. */
interface Ran {
  readonly file: string;
  readonly name: string;
  readonly calls: number;
  readonly from: number;
  readonly to: number;
}

// A compiler that inlines a function loses the number of its calls.
for (const compiler of ['opt', 'maglev']) setFlagsFromString(`--no-${compiler}`);
const session = new Session();
session.connect();
const src = pathToFileURL(SRC).href;
const ran = new Map<string, Ran>();

/** A batch: statements between which the bot waits for nothing else. */
const statements: { readonly sql: string; readonly batch: number }[] = [];
const count = () => statements.length;
const batch = { id: 0 };
for (const name of ['all', 'get', 'run', 'iterate'] as const) {
  const original: (...values: never[]) => unknown = StatementSync.prototype[name];
  const noted = function (this: StatementSync, ...values: never[]) {
    statements.push({ sql: this.sourceSQL, batch: batch.id });
    process.nextTick(() => Object.assign(batch, { id: batch.id + 1 }));
    return original.apply(this, values);
  };
  Object.assign(StatementSync.prototype, { [name]: noted });
}

/** Adds the calls since the last time. */
async function addCalls(): Promise<void> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  for (const { url, functions } of result.filter(({ url }) => url.startsWith(src))) {
    const file = url.slice(src.length);
    for (const { functionName, ranges } of functions) {
      const { startOffset: from = 0, endOffset: to = 0, count = 0 } = ranges[0] ?? {};
      const [key, name] = [`${file}:${from}`, functionName.startsWith('<') ? '' : functionName];
      const calls = count + (ran.get(key)?.calls ?? 0);
      if (calls > 0) ran.set(key, { file, name, from, to, calls });
    }
  }
}

const isNamed = ({ name }: Ran) => name !== '';

function figuresOf(until: string, all: typeof statements) {
  const named = [...ran.values()].filter(isNamed);
  const callsOf = (wanted: string) =>
    named.reduce((sum, { name, calls }) => (name === wanted ? sum + calls : sum), 0);
  const own = all.filter(({ sql }) => !/^(begin|commit|rollback|savepoint|release)\b/i.test(sql));
  return {
    until,
    functions: named.length,
    callbacks: ran.size - named.length,
    files: new Set(ran.values().map(({ file }) => file)).size,
    statements: own.length,
    transactionStatements: all.length - own.length,
    batches: new Set(all.map(({ batch }) => batch)).size,
    ...Object.fromEntries(Object.entries(OF_CHANGES).map(([what, name]) => [what, callsOf(name)])),
  };
}

/** The figures at each point, and what ran until it. */
async function measure(way: Way) {
  const points: { figures: ReturnType<typeof figuresOf>; ran: readonly Ran[] }[] = [];
  const begin = async () => {
    await addCalls();
    ran.clear();
    statements.length = 0;
  };
  const reached = async (point: string) => {
    // The coverage is taken before the first wait.
    const [adding, all] = [addCalls(), [...statements]];
    await adding;
    points.push({ figures: figuresOf(point, all), ran: [...ran.values()] });
  };
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  await go(way, { count, begin, reached });
  return points;
}

/** Line and column, both from 0, as one number. */
const place = (line: number, column: number) => line * 1_000 + column;

function placeAt(file: string, offset: number): number {
  const before = readFileSync(SRC + file, 'utf8').slice(0, offset);
  return place(before.split('\n').length - 1, offset - before.lastIndexOf('\n') - 1);
}

/** Notes the call stacks in the condition of breakpoints, which is false: they stop nothing. */
async function stacks(way: Way, functions: readonly Ran[]): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const scripts = new Map<string, string>();
  session.on('Debugger.scriptParsed', ({ params }) => scripts.set(params.url, params.scriptId));
  await session.post('Debugger.enable');
  const listen = (active: boolean) => session.post('Debugger.setBreakpointsActive', { active });
  Error.stackTraceLimit = Number.POSITIVE_INFINITY;
  Object.assign(globalThis, { noteStack: () => void found.add(new Error().stack ?? '') });
  await listen(false);
  for (const { file, from } of functions) {
    // V8 moves it to the first place at which it could stop: the entry of the function.
    const [lineNumber, columnNumber] = [Math.floor(from / 1_000), from % 1_000];
    const location = { scriptId: scripts.get(src + file) ?? '', lineNumber, columnNumber };
    await session.post('Debugger.setBreakpoint', { location, condition: 'noteStack()' });
  }
  await go(way, { count, begin: () => listen(true), reached: () => listen(false) });
  return found;
}

async function longestChains(way: Way, first: readonly Ran[]): Promise<readonly string[][]> {
  const placed = first.map((one) => {
    return { ...one, from: placeAt(one.file, one.from), to: placeAt(one.file, one.to) };
  });
  const byFile = Map.groupBy(placed, ({ file }) => file);
  const functionAt = (frame: string) => {
    const [, url = '', line, column] = /(file:[^\s()]+):(\d+):(\d+)\)?$/.exec(frame) ?? [];
    if (!url.startsWith(src)) return [];
    const [file, at] = [url.slice(src.length), place(Number(line) - 1, Number(column) - 1)];
    // V8 lists a function before those in it.
    const inner = byFile.get(file)?.findLast(({ from, to }) => at >= from && at < to);
    return [`${inner?.name ?? 'callback'} (${file})`];
  };
  const listed: string[][] = [];
  const chains = [...(await stacks(way, placed))]
    // Outermost first, and each function once: a recursion makes no chain longer.
    .map((stack) => [...new Set(stack.split('\n').flatMap(functionAt).toReversed())])
    .toSorted((one, other) => other.length - one.length || (`${one}` < `${other}` ? -1 : 1));
  for (const chain of chains) {
    const shared = (one: readonly string[]) => chain.filter((each) => one.includes(each)).length;
    const isNew = listed.every((one) => 3 * shared(one) < 2 * chain.length);
    if (isNew && listed.length < 10) listed.push(chain);
  }
  return listed;
}

const [given, ...options] = process.argv.slice(2);
const way = (['command', 'approve', 'cost'] as const).find((each) => each === given);
if (!way || options.some((each) => !USAGE.includes(`[${each}]`))) throw new Error(USAGE);
for (const name of Object.values(OF_CHANGES)) fileOf(name);
const measured = await measure(way);
const first = (measured[0]?.ran ?? []).filter(isNamed);
const points = measured.map((each) => each.figures);
const chains = options.includes('--no-chains') ? [] : await longestChains(way, first);
const functions = first.map(({ file, name, calls }) => `${file} ${name} ${calls}`).toSorted();
const parts = [
  ...points.map((point) => Object.entries(point).map((each) => each.join(': '))),
  ...(chains.length > 0 ? [[HOW]] : []),
  ...chains.map((chain) => [`${chain.length} functions`, ...chain.map((each) => `  ${each}`)]),
  ['Functions that ran until the first point, and their calls', ...functions],
];
const text = parts.map((lines) => lines.join('\n')).join('\n\n');
const json = JSON.stringify({ way, points, chains, functions }, null, 2);
process.stdout.write(`${options.includes('--json') ? json : text}\n`, () => process.exit());
