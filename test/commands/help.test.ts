import { expect, test } from 'vitest';
import { nearest } from '../../src/base/text.ts';
import { type Command, nounOf, verbOf } from '../../src/commands/define.ts';
import { type HelpReader, helpFor, usageHint } from '../../src/commands/help.ts';
import { parseLine } from '../../src/commands/parse.ts';
import { commands as registry } from '../../src/commands/registry.ts';
import type { Answer, CommandOffer } from '../../src/domain/answer.ts';
import { commands, plainText, serviceTune, vocabularyOf } from './fixtures.ts';

const OPERATOR: HelpReader = {
  who: ['Your roles: operator (@db-operators).'],
  mayUse: () => true,
  frequent: [],
  prefix: '',
};
const VIEWER = { ...OPERATOR, mayUse: ({ kind }: Command) => kind === 'query' };
const READERS = [
  ['may use everything', OPERATOR],
  ['may only read', VIEWER],
  ['may only change', { ...OPERATOR, mayUse: ({ kind }: Command) => kind === 'change' }],
] as const;
const NOUNS = [null, ...new Set(registry.map(nounOf))];

function linesOf({ title, parts }: Answer): readonly string[] {
  const lines = parts.flatMap((part) => (part.kind === 'lines' ? part.lines.map(plainText) : []));
  return [title, ...lines.flatMap((text) => text.split('\n'))];
}

function offersOf({ parts }: Answer): readonly CommandOffer[] {
  return parts.flatMap((part) => (part.kind === 'offers' ? part.offers : []));
}

test.for(NOUNS.map((noun) => [noun ?? 'everything', noun] as const))(
  'the help for %s shows a user without roles how to get one, and no command',
  ([, noun]) => {
    const who = ['You have no role. Ask to join @engineering (viewer).'];
    const none = { ...OPERATOR, who, mayUse: () => false };
    const help = helpFor({ noun, about: null }, registry, none);
    expect(linesOf(help)).toEqual([
      'Commands of Signalbox',
      ...who,
      'No rule of the policy allows you a command.',
    ]);
    expect(offersOf(help)).toEqual([]);
  },
);

test.for(
  READERS.flatMap(([who, reader]) =>
    NOUNS.map((noun) => [noun ?? 'everything', who, noun, reader] as const),
  ),
)('the help for %s has at most 12 lines for a user who %s', ([, , noun, reader]) => {
  const help = helpFor({ noun, about: null }, registry, reader);
  expect(linesOf(help).length).toBeLessThanOrEqual(12);
  expect(linesOf(help)[1]).toBe(OPERATOR.who[0]);
  expect(offersOf(help).at(-1)?.label).toBe('Show all commands');
  expect(offersOf(help).length).toBeLessThanOrEqual(5);
  for (const command of registry.filter((each) => noun !== null && nounOf(each) === noun)) {
    const isShown = linesOf(help).some(
      (line) =>
        line.startsWith(`/${command.examples[0]}  `) ||
        (line.startsWith('More: ') && line.slice(6, -1).split(', ').includes(command.name)),
    );
    expect(isShown).toBe(reader.mayUse(command));
  }
});

test.for(registry.map((command) => [command.name, command] as const))(
  'the help for %s has its examples before its syntax, in at most 12 lines',
  ([, command]) => {
    const about = verbOf(command);
    // A command without a verb has the help of its noun.
    if (about === '') return expect(nounOf(command)).toBe(command.name);
    const lines = linesOf(helpFor({ noun: nounOf(command), about }, registry, OPERATOR));
    expect(lines.length).toBeLessThanOrEqual(12);
    const syntax = lines.findIndex((line) => line.startsWith('Syntax: '));
    const examples = command.examples.map((example) => lines.lastIndexOf(`/${example}`));
    expect(Math.min(...examples)).toBeGreaterThan(0);
    expect(Math.max(...examples)).toBeLessThan(syntax);
  },
);

test('with more commands than fit, the rest is named', () => {
  const many = Array.from({ length: 20 }, (_, index) => ({
    ...serviceTune,
    name: `service tune${index}`,
  }));
  const lines = linesOf(helpFor({ noun: 'service', about: null }, many, OPERATOR));
  expect(lines).toHaveLength(12);
  expect(lines.at(-1)).toMatch(/^More: service tune9, service tune10, .*, service tune19\.$/);
});

test('help says who the reader is, what the roles allow, and who may do the rest', () => {
  expect(linesOf(helpFor({ noun: 'service', about: null }, commands, VIEWER))).toEqual([
    '/service',
    'Your roles: operator (@db-operators).',
    '/service list  List the services and their last known state',
    '/service show analytics-prod  Show the state, size and last changes of a service',
    'Not for your roles: service start, service stop, service tune. /change who service start shows who may.',
  ]);
});

test('the overview has one example of each noun, a change where one is allowed', () => {
  const lines = linesOf(helpFor({ noun: null, about: null }, registry, OPERATOR));
  expect(lines.filter((line) => line.startsWith('service  '))).toEqual([
    expect.stringMatching(
      /^service {2}\/service start analytics-prod .* · also list, show, stop, /,
    ),
  ]);
});

test.for<[string, readonly string[], readonly string[]]>([
  ['used nothing yet', [], ['service list', 'change list', 'cost', 'service show']],
  ['requests stops', ['service stop'], ['service stop', 'service list', 'change list', 'cost']],
])('a reader who %s gets these buttons', ([, frequent, names]) => {
  const help = helpFor({ noun: null, about: null }, registry, { ...OPERATOR, frequent });
  expect(offersOf(help).map(({ line }) => line)).toEqual([...names, 'signalbox help all']);
});

test('what a reader may not use is no button', () => {
  const help = helpFor({ noun: null, about: null }, registry, {
    ...VIEWER,
    frequent: ['service stop'],
  });
  expect(offersOf(help).map(({ line }) => line)).not.toContain('service stop');
});

test('“Show all commands” has each command once, with example and syntax', () => {
  const [button] = offersOf(helpFor({ noun: 'cost', about: null }, registry, VIEWER)).slice(-1);
  const [noun = '', ...words] = (button?.line ?? '').split(' ');
  const topic = parseLine(noun, words.join(' '), { ...vocabularyOf(), commands: registry });
  expect(topic).toEqual({ kind: 'help', noun: 'signalbox', about: 'all' });
  const { parts } = helpFor({ noun: null, about: 'all' }, registry, VIEWER);
  const rows = parts.flatMap((part) => (part.kind === 'table' ? part.rows : []));
  const shown = new Map(rows.map(([example, , syntax]) => [example, String(syntax)]));
  const missing = registry.filter(
    ({ name, examples }) => !shown.get(`/${examples[0]}`)?.startsWith(`/${name}`),
  );
  expect([rows.length, missing]).toEqual([registry.length, []]);
  expect(parts[0]).toMatchObject({ columns: ['You can use', 'What it does', 'Syntax'] });
});

test('the words of help are those that Slack shows while people type', () => {
  expect(usageHint(commands, 'service')).toBe('list | show | start | stop | tune | help');
  const help = helpFor({ noun: 'service', about: 'tune' }, commands, OPERATOR);
  const syntax = 'Syntax: /service tune <service> [min=] [idle-timeout=] [message=] [reason]';
  expect(linesOf(help)).toContain(syntax);
});

test.for<[string, string[]]>([
  ['stag', ['staging', 'stop']],
  ['STAGIN', ['staging']],
  ['prod', ['prod-a', 'prod-b', 'prod-c']],
  ['b-prod', ['b-product']],
  ['sta', ['staging']],
  ['quite-another-thing', []],
])('nearest to “%s”', ([typed, found]) => {
  const known = ['staging', 'stop', 'prod-d', 'prod-c', 'prod-b', 'prod-a', 'b-product', 'stop'];
  expect(nearest(typed, known)).toEqual(found);
});
