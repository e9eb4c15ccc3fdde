import { expect, test } from 'vitest';
import { commands, fieldsOf, parseLine } from '../../src/commands/index.ts';
import { REFUSALS, STATES, type UserId } from '../../src/domain/change.ts';
import { createDenial } from '../../src/domain/gate.ts';
import { fieldLabel, meaningsOf, STATE_WORDS, wordOf } from '../../src/domain/words.ts';
import { Alert } from '../../src/servers/alerts-schema.ts';
import {
  ComplianceType,
  EndpointType,
  ReleaseChannel,
  StreamAuthentication,
} from '../../src/servers/cloud-schema.ts';
import { answerMessage, sentenceMessage } from '../../src/slack/answer.ts';
import { changeCard } from '../../src/slack/card.ts';
import { recordedLine, threadLine } from '../../src/slack/card-thread.ts';
import { homeView } from '../../src/slack/home.ts';
import { elementFor } from '../../src/slack/inputs.ts';
import { fullRequest, preview } from '../../src/slack/preview.ts';
import { lateSentence, refusalMessage, stoppedLine } from '../../src/slack/refusals.ts';
import { vocabularyOf } from '../commands/fixtures.ts';
import { changeIn, NOON } from '../domain/changes-fixtures.ts';
import { drawing, EMPTY_LISTS, everyone, withNews } from './fixtures.ts';

// No screen shows a name of the code: camelCase, snake_case, capitals, the number of a rule, a message of zod.

const INTERNAL =
  /\b[a-z]+[a-z\d]*[A-Z]\w*|\b\w+_\w+|\b[A-Z]{3,}[a-z]*_|\b[Rr]ule \d|Invalid (input|option|string|type)|expected .*received/;
/** Names of people and products, and what the API itself writes like this. */
const NAMES = /\b(S?U0[A-Z]+|db-\w+|VPCs?|ARN|SASL|IAM|SCRAM|CIDR|UTC|GiB|GB)\b/g;

/** The texts that a reader sees: not the values and ids of buttons, and no request in code style. */
function textsIn(shown: unknown): readonly string[] {
  if (Array.isArray(shown)) return shown.flatMap(textsIn);
  if (typeof shown !== 'object' || shown === null) return [];
  const { style, ...fields } = shown as Readonly<Record<string, unknown>>;
  if (style !== null && typeof style === 'object' && 'code' in style) return [];
  return Object.entries(fields).flatMap(([key, value]) =>
    typeof value === 'string' ? (READ.has(key) ? [value] : []) : textsIn(value),
  );
}

const READ = new Set(['text', 'caption', 'label']);

function expectWords(shown: unknown): void {
  const found = (typeof shown === 'string' ? [shown] : textsIn(shown)).flatMap((text) => {
    const read = text.replace(/<[^>]*>/g, '').replace(NAMES, '');
    return INTERNAL.exec(read)?.[0] ?? [];
  });
  expect(found).toEqual([]);
}

test.for(STATES)('a change that is %s is drawn in words', (state) => {
  const change = changeIn(state);
  const { blocks } = changeCard(change, drawing);
  expectWords(blocks);
  expectWords(fullRequest(change, true, drawing).blocks);
  expectWords(sentenceMessage(threadLine(change, drawing)).blocks);
  expectWords(sentenceMessage(recordedLine({ verb: 'approve', change }, drawing)).blocks);
  expectWords(lateSentence(state));
  expectWords(preview(withNews(change, { others: [change] }), drawing).blocks);
  const shown = { waiting: [change], toAnswer: [{ change, mayAnswer: true }], mine: [change] };
  const lists = { ...EMPTY_LISTS, ...shown, running: [change], recent: [change] };
  expectWords(homeView({ ok: true, actor: everyone, lists }, { drawing, commands }));
});

test.for(REFUSALS)('the refusal %s is said in words', (refusal) => {
  const change = changeIn('pending');
  for (const over of [{ change }, { change, rule: 2, role: 'operator' }, { rule: 2 }]) {
    expectWords(refusalMessage(createDenial(refusal, over), drawing).blocks);
  }
  expectWords(sentenceMessage(stoppedLine({ ...change, stopReason: refusal }, drawing)).blocks);
});

const among = { plan: 'paid', tier: 'enterprise', organizations: [] } as const;
const vocabulary = { ...vocabularyOf([]), commands };

const FIELDS = commands.flatMap((command) =>
  fieldsOf(command.args).map(
    (field) => [`${command.name} · ${field.name}`, { command, field }] as const,
  ),
);

test.for(FIELDS)('%s has a label, a hint and choices in words, which can be typed', ([, at]) => {
  const { command, field } = at;
  const { label, hint = '', input, pickHint = '' } = field;
  expectWords(`${label}\n${hint}\n${pickHint}`);
  if (input?.kind !== 'choice') return;
  const filled = { among: { ...among, given: {} }, value: '', chosen: null, isPicked: false };
  expectWords(elementFor(field, filled as unknown as Parameters<typeof elementFor>[1]));
  for (const option of input.options({ ...among, given: {} })) {
    const read = (typed: string) =>
      command.args.shape[field.name]?.safeParse(field.means?.[typed] ?? typed).data;
    expect(read(wordOf(option))).toEqual(read(option));
  }
});

test.for(FIELDS.filter(([, { field }]) => field.word))(
  'a wrong value of %s is refused in words',
  ([, at]) => {
    const { command, field } = at;
    const [noun = '', ...verb] = command.name.split(' ');
    const read = parseLine(noun, `${verb.join(' ')} ${field.word}=zz$zz`, vocabulary);
    expectWords('sentence' in read ? read.sentence : '');
  },
);

test.for([EndpointType, StreamAuthentication, ReleaseChannel, ComplianceType])(
  'the values of a list of the API are printed and refused in words: %#',
  (schema) => {
    for (const value of schema.options) expectWords(wordOf(value));
    expectWords(schema.safeParse('OTHER').error?.issues[0]?.message ?? '');
  },
);

test('each word for a state of a change means one state, and can be typed', () => {
  expect(new Set(Object.values(STATE_WORDS)).size).toBe(STATES.length);
  const list = commands.find(({ name }) => name === 'change list');
  for (const state of STATES) {
    expect(list?.args.shape.state?.safeParse(STATE_WORDS[state]).data).toBe(state);
  }
});

const STATE_VALUES = ['OK', 'ALERT', 'PENDING', 'INSUFFICIENT_DATA', 'DISABLED', 'active', 'NEW'];

/** What a query answers. */
function answerOf(name: string, given: object, context: object) {
  const query = commands.find((command) => command.name === name);
  if (query?.kind !== 'query') throw new Error(`There is no query ${name}`);
  const asker = { by: 'U0ANA' as UserId, channel: null };
  return query.answer(given as never, context as never, asker);
}

test('each alert is listed and shown in words, and its state can be typed', async () => {
  const alerts = STATE_VALUES.map((state, index) =>
    Alert.parse({
      ...{ id: `a${index}`, name: `alert ${index}`, state, source: 'saved_search' },
      ...{ threshold: 5, thresholdType: 'below_or_equal', interval: '5m' },
      ...{ numConsecutiveWindows: 2, executionErrors: [], newField: 'A_B' },
      channels: [{ type: 'slack_webhook', webhookId: 'w1' }],
    }),
  );
  const context = {
    ...{ now: () => NOON, reads: { alerts: null } },
    listAlerts: async () => ({ alerts, complete: true, total: null }),
    alerts: { getAlert: async () => ({ result: alerts[1], requestId: null }) },
  };
  const ask = (name: string, given: object) => answerOf(name, given, context);
  const list = await ask('alert list', {});
  expect(list.title).toBe('1 of 7 alerts firing');
  expectWords(answerMessage(list).blocks);
  expectWords(
    answerMessage(await ask('alert show', { alert: { id: 'a1', name: 'alert 1' } })).blocks,
  );
  const typed = meaningsOf(STATE_VALUES);
  for (const state of STATE_VALUES) {
    const found = await ask('alert list', { state: typed[wordOf(state)] });
    expect(found.title).toMatch(/^1 of 7 alerts/);
  }
  expectWords(answerMessage(await ask('alert list', { state: 'zzz' })).blocks);
});

test('each service is listed in words', async () => {
  const states = ['running', 'degraded', 'partially_running', 'softdeleting', 'NEW_STATE'];
  const services = states.map((state, index) => ({
    ...{ id: `s${index}`, name: `service ${index}`, aliases: [], tags: ['dev'], warehouse: 'main' },
    ...{ team: null, pipes: [], source: 'configuration' },
    lastSeen: { fields: { state }, seenAt: NOON, source: 'reply' },
  }));
  const context = {
    services,
    reads: { cloud: { services: async () => ({ known: false, gap: 'off', why: 'off' }) } },
    changes: { openOf: async () => [] },
  };
  const list = await answerOf('service list', {}, context);
  expect(list.title).toBe('2 of 5 services degraded');
  expectWords(answerMessage(list).blocks);
});

test('each field of a reply has a label in words', () => {
  const unknown = ['minReplicaMemoryGb', 'someNewField', 'some_field'];
  const { asRead: _, ...known } = Alert.parse({});
  for (const field of [...Object.keys(known), ...unknown]) {
    expectWords(fieldLabel(field));
  }
});
