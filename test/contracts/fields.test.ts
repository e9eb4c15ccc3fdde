import { afterAll, beforeAll, expect, test } from 'vitest';
import { OPERATIONS, type Operation } from './contract.ts';
import { type ContractBot, openContractBot } from './contract-bot.ts';
import { type Recorder, startRecorder } from './recorder.ts';
import { CONTRACT } from './replies.ts';
import { replyCells } from './reply-cells.ts';
import { type Known, knownExchanges, requestCells } from './request-cells.ts';
import { allValueCells, type ValueCells } from './value-cells.ts';

const LINES = [
  ...['service-start', 'service-stop', 'service-scale', 'service-create'],
  ...['service-create-own-cloud', 'service-create-deprecated', 'endpoint-create'],
  ...['endpoint-create-resource', 'endpoint-create-streaming', 'backup-show', 'pipe-settings'],
  ...['cost', 'alert-list', 'alert-show', 'alert-edit', 'alert-edit-everything'],
];

/** Fields that no message shows, with the reason. The test asserts that hidden fields do not appear. */
const NOT_SHOWN: Readonly<Record<string, string>> = {
  encryptionKey: 'hidden: a key',
  encryptionAssumedRoleIdentifier: 'hidden: a role',
  encryptionRoleId: 'hidden: a role',
  transparentDataEncryptionKeyId: 'hidden: a key',
  minTotalMemoryGb: 'ignored: deprecated, and correct for three replicas only',
  maxTotalMemoryGb: 'ignored: deprecated, and correct for three replicas only',
  name: 'ignored: the configuration defines the name',
};

const HEAD = [
  ...['Field', 'Words', 'Modal', 'Preview', 'Request', 'Accepted', 'Refused', 'Emptied input'],
  'Reply shown',
];
const REPLY_HEAD = ['Field of the reply', 'Shown'];

/** Some 200 values are typed, filled in and sent, and each field of each reply is changed once. */
const LONG_MS = 600_000;

let recorder: Recorder;
let bot: ContractBot;
let exchanges: readonly Known[];
let shown: ReadonlyMap<string, ReadonlyMap<string, string>>;
/** By operation and field of its body. */
let values: ReadonlyMap<string, ValueCells>;
beforeAll(async () => {
  recorder = await startRecorder();
  recorder.answer(CONTRACT);
  const urls = { cloud: recorder.url, alerts: recorder.url };
  bot = await openContractBot({ urls, of: { tier: 'enterprise' } });
  exchanges = await knownExchanges(bot, LINES);
  values = await allValueCells();
  const cells = new Map<string, ReadonlyMap<string, string>>();
  for (const operation of OPERATIONS) {
    cells.set(operation.name, await replyCells(bot, recorder, operation));
  }
  shown = cells;
}, LONG_MS);
afterAll(async () => {
  await bot.close();
  await recorder.stop();
});

test('two pages list every field of the contracts and where it appears', async () => {
  const listed = new Set<string>();
  const parts = OPERATIONS.map((operation) => partOf(operation, listed));
  const pages = [
    { file: 'fields.md', all: [INTRODUCTION, ...parts.slice(0, CHANGES)] },
    { file: 'fields-reads.md', all: [INTRODUCTION_OF_READS, ...parts.slice(CHANGES)] },
  ];
  for (const { file, all } of pages)
    await expect(`${all.join('\n\n')}\n`).toMatchFileSnapshot(`../../docs/${file}`);
});

test.for(OPERATIONS.map((operation) => [operation.name, operation] as const))(
  'every field of “%s” appears somewhere',
  ([, operation]) => {
    const empty = rowsOf(operation).filter((cells) => cells.some((cell) => cell.trim() === ''));
    expect(empty).toEqual([]);
  },
);

test.for(OPERATIONS.map(({ name }) => name))(
  'no message shows a hidden field of the reply to “%s”',
  (name) => {
    const leaks = [...(shown.get(name) ?? [])].filter(([field, place]) => {
      const why = NOT_SHOWN[lastOf(field)] ?? '';
      return why.startsWith('hidden') && place !== '';
    });
    expect(leaks).toEqual([]);
  },
);

/** The first operations, which create and change services and endpoints. */
const CHANGES = 4;

const INTRODUCTION_OF_READS = `# Fields of costs, pipes, backups and alerts

Generated like [the fields of services and endpoints](fields.md), which says how.`;

const INTRODUCTION = `# Fields of services and endpoints

\`test/contracts/fields.test.ts\` generates this page and [that of reads and alerts](fields-reads.md) from the behaviour
of the program. It types recorded command lines, opens their forms, types and fills in the values at the bounds of each
field and one beyond them, calls the clients with them, and changes each field of each reply once to see where the change
appears. The test fails if a field appears nowhere, if a value of the contract is refused, and if a refusal does not name
its field. The rules are those of
\`test/contracts/openapi.yaml\`. A row that is the same for several operations stands at the first one only.`;

/** `listed`: the rows of the operations before, to which it adds its own. */
function partOf(operation: Operation, listed: Set<string>): string {
  const { name, method, path } = operation;
  const rows = rowsOf(operation).filter((row) => !listed.has(row.join()));
  for (const row of rows) listed.add(row.join());
  const tables = [HEAD, REPLY_HEAD].flatMap((head) => {
    const own = rows.filter((row) => row.length === head.length);
    return own.length > 0 ? [tableOf(head, own)] : [];
  });
  return [`## ${name}`, `\`${method} ${path}\``, ...tables].join('\n\n');
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, head.map(() => '---'), ...rows];
  return all.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function requestedBy({ inPath, query, body }: Operation): readonly string[] {
  const parts = body.flatMap(({ name, parts: inner }) =>
    inner.length > 0 ? inner.map((part) => `${name}.${part}`) : [name],
  );
  return [...inPath, ...query, ...parts];
}

/** Of a field of the request all cells, of one that only the reply has where it is shown. */
function rowsOf(operation: Operation): readonly (readonly string[])[] {
  const requested = requestedBy(operation);
  const replied = new Map(operation.reply.map((field) => [requestName(field, requested), field]));
  return [...new Set([...requested, ...replied.keys()])].map((field) => {
    const replyField = replied.get(field);
    const place = replyField ? placeOf(operation, replyField) : NOT_IN_REPLY;
    if (!requested.includes(field)) return [`\`${field}\``, place];
    const cells = requestCells(operation, field, exchanges);
    const { words = '', modal = '', preview = '', request = '' } = cells ?? {};
    const [top = field] = field.split('.');
    const isArgument = field !== 'channel.type';
    const { accepted, refused, emptied } =
      (isArgument && values.get(`${operation.name} ${top}`)) || NO_VALUES;
    return [...[`\`${field}\``, words, modal, preview, request, accepted, refused, emptied], place];
  });
}

/** The organization of the file, and what is sent as it was read. */
const NO_VALUES: ValueCells = { accepted: '–', refused: '–', emptied: '–' };
const NOT_IN_REPLY = 'not in the reply';

/** A reply may hold a field of the request below another one, or without the “Id” at its end. */
function requestName(field: string, requested: readonly string[]): string {
  const inside = field.replace(/^service\./, '');
  return [field, inside, `${inside}Id`].find((name) => requested.includes(name)) ?? field;
}

function placeOf({ name }: Operation, field: string): string {
  const place = shown.get(name)?.get(field) ?? '';
  if (place !== '') return place;
  // Fields that the list or the update reply does not show may be shown by /alert show.
  const alone =
    name.endsWith('alerts') || name === 'update alert' ? shown.get('get alert')?.get(field) : '';
  return alone ? `on \`/alert show\`: ${alone}` : (NOT_SHOWN[lastOf(field)] ?? '');
}

function lastOf(field: string): string {
  return field.split('.').at(-1) ?? field;
}
