import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Booth, openBooth } from './booth.ts';
import { OPERATIONS, type Operation } from './contract.ts';
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

/** Fields that are kept back or passed over, and why; the test sees to it that they are. */
const NOT_SHOWN: Readonly<Record<string, string>> = {
  ipAccessList: 'kept back: it tells from where the data can be reached',
  encryptionKey: 'kept back: a key',
  encryptionAssumedRoleIdentifier: 'kept back: a role',
  encryptionRoleId: 'kept back: a role',
  iamRole: 'kept back: a role',
  transparentDataEncryptionKeyId: 'kept back: a key',
  privateEndpointIds: 'kept back: a way into the network',
  availablePrivateEndpointIds: 'kept back: a way into the network',
  minTotalMemoryGb: 'passed over: deprecated, and wrong but for three replicas',
  maxTotalMemoryGb: 'passed over: deprecated, and wrong but for three replicas',
  name: 'passed over: the configuration says what a service is called',
};

const HEAD = ['Field', 'Words', 'Modal', 'Preview', 'Request', 'Reply shown'];
const REPLY_ONLY: RequestCells = {
  words: 'reply only',
  modal: 'reply only',
  preview: 'reply only',
  request: 'reply only',
};

let recorder: Recorder;
let booth: Booth;
let exchanges: readonly Known[];
let shown: ReadonlyMap<string, ReadonlyMap<string, string>>;
beforeAll(async () => {
  recorder = await startRecorder();
  recorder.answer(CONTRACT);
  const urls = { cloud: recorder.url, alerts: recorder.url };
  booth = await openBooth({ urls, of: { tier: 'enterprise' } });
  exchanges = await knownExchanges(booth, LINES);
  const cells = new Map<string, ReadonlyMap<string, string>>();
  for (const operation of OPERATIONS) {
    cells.set(operation.name, await replyCells(booth, recorder, operation));
  }
  shown = cells;
}, 120_000);
afterAll(async () => {
  await booth.close();
  await recorder.stop();
});

test('docs/fields.md has every field of the contracts, and where people meet it', async () => {
  const page = `${[INTRODUCTION, ...OPERATIONS.map(partOf)].join('\n\n')}\n`;
  await expect(page).toMatchFileSnapshot('../../docs/fields.md');
});

test.for(OPERATIONS.map((operation) => [operation.name, operation] as const))(
  'no field of “%s” is without a place',
  ([, operation]) => {
    const empty = rowsOf(operation).filter((cells) => cells.some((cell) => cell.trim() === ''));
    expect(empty).toEqual([]);
  },
);

test.for(OPERATIONS.map(({ name }) => name))(
  'of the reply to “%s” nothing is shown that is kept back',
  (name) => {
    const leaks = [...(shown.get(name) ?? [])].filter(([field, place]) => {
      const why = NOT_SHOWN[lastOf(field)] ?? '';
      return why.startsWith('kept back') && place !== '';
    });
    expect(leaks).toEqual([]);
  },
);

const INTRODUCTION = `# Every field of the two contracts

Written by \`test/contracts/fields.test.ts\` from what the program does: recorded lines are typed again,
their forms are opened, and each field of each reply is changed once to see where that shows. A field
that people meet nowhere would leave a cell empty, and fail.`;

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
    const told = replied.get(field);
    const { words = '', modal = '', preview = '', request = '' } = cells ?? {};
    return [
      `\`${field}\``,
      words,
      modal,
      preview,
      request,
      told ? placeOf(operation, told) : NOT_TOLD,
    ];
  });
}

const NOT_TOLD = 'not in the reply';

/** A reply may hold a field of the request below another one, or without the “Id” at its end. */
function requestName(field: string, requested: readonly string[]): string {
  const inside = field.replace(/^service\./, '');
  return [field, inside, `${inside}Id`].find((name) => requested.includes(name)) ?? field;
}

function placeOf({ name }: Operation, field: string): string {
  const place = shown.get(name)?.get(field) ?? '';
  if (place !== '') return place;
  // What the list or the reply to an update leaves out is shown of the alert itself.
  const alone =
    name.endsWith('alerts') || name === 'update alert' ? shown.get('get alert')?.get(field) : '';
  return alone ? `on \`/alert show\`: ${alone}` : (NOT_SHOWN[lastOf(field)] ?? '');
}

function lastOf(field: string): string {
  return field.split('.').at(-1) ?? field;
}
