import { afterAll, beforeAll, expect, test } from 'vitest';
import { OPERATIONS, type Operation } from './contract.ts';
import { type ContractBot, openContractBot } from './contract-bot.ts';
import { type Recorder, startRecorder } from './recorder.ts';
import { CONTRACT } from './replies.ts';
import { replyCells } from './reply-cells.ts';
import { type Known, knownExchanges, type RequestCells, requestCells } from './request-cells.ts';

const LINES = [
  ...['service-start', 'service-stop', 'service-scale', 'service-create'],
  ...['service-create-own-cloud', 'endpoint-create', 'endpoint-create-resource'],
  ...['endpoint-create-streaming', 'backup-show', 'pipe-settings', 'cost', 'alert-list'],
  ...['alert-show', 'alert-edit', 'alert-edit-everything'],
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

const HEAD = ['Field', 'Words', 'Modal', 'Preview', 'Request', 'Reply shown'];
const REPLY_ONLY: RequestCells = {
  words: 'reply only',
  modal: 'reply only',
  preview: 'reply only',
  request: 'reply only',
};

let recorder: Recorder;
let bot: ContractBot;
let exchanges: readonly Known[];
let shown: ReadonlyMap<string, ReadonlyMap<string, string>>;
beforeAll(async () => {
  recorder = await startRecorder();
  recorder.answer(CONTRACT);
  const urls = { cloud: recorder.url, alerts: recorder.url };
  bot = await openContractBot({ urls, of: { tier: 'enterprise' } });
  exchanges = await knownExchanges(bot, LINES);
  const cells = new Map<string, ReadonlyMap<string, string>>();
  for (const operation of OPERATIONS) {
    cells.set(operation.name, await replyCells(bot, recorder, operation));
  }
  shown = cells;
});
afterAll(async () => {
  await bot.close();
  await recorder.stop();
});

test('docs/fields.md lists every field of the contracts and where it appears', async () => {
  const page = `${[INTRODUCTION, ...OPERATIONS.map(partOf)].join('\n\n')}\n`;
  await expect(page).toMatchFileSnapshot('../../docs/fields.md');
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

const INTRODUCTION = `# Fields of the two APIs

\`test/contracts/fields.test.ts\` generates this page from the behaviour of the program. It types recorded command lines,
opens their forms, and changes each field of each reply once to see where the change appears. The test fails if a field
appears nowhere.`;

function partOf(operation: Operation): string {
  const { name, method, path } = operation;
  const all = [HEAD, HEAD.map(() => '---'), ...rowsOf(operation)];
  const table = all.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
  return [`## ${name}`, `\`${method} ${path}\``, table].join('\n\n');
}

function rowsOf(operation: Operation): readonly (readonly string[])[] {
  const { inPath, query, body, reply } = operation;
  const parts = body.flatMap(
    ({ name, parts: inner }) => inner?.map((part) => `${name}.${part}`) ?? [name],
  );
  const requested = [...inPath, ...query, ...parts];
  const replied = new Map(reply.map((field) => [requestName(field, requested), field]));
  return [...new Set([...requested, ...replied.keys()])].map((field) => {
    const isRequested = requested.includes(field);
    const cells = isRequested ? requestCells(operation, field, exchanges) : REPLY_ONLY;
    const replyField = replied.get(field);
    const { words = '', modal = '', preview = '', request = '' } = cells ?? {};
    return [
      `\`${field}\``,
      words,
      modal,
      preview,
      request,
      replyField ? placeOf(operation, replyField) : NOT_IN_REPLY,
    ];
  });
}

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
