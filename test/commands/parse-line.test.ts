import { expect, test } from 'vitest';
import { splitWords } from '../../src/base/text.ts';
import { commandLine, fieldsOf, oneOf } from '../../src/commands/arguments.ts';
import { fieldContext } from '../../src/commands/define.ts';
import { parseLine } from '../../src/commands/parse.ts';
import { readWords } from '../../src/commands/reading.ts';
import { commands as registry } from '../../src/commands/registry.ts';
import { parseValues } from '../../src/commands/values.ts';
import type { SlackFreeze } from '../../src/domain/freezes.ts';
import type { Service } from '../../src/domain/targets.ts';
import { gist, read, service, services, serviceTune, vocabularyOf } from './fixtures.ts';

const PROD = 'id-of-analytics-prod';
/** The real commands with the services of the tests. */
const vocabulary = { ...vocabularyOf(), commands: registry };

test.for<[string, string, string]>([
  ['the name', '/service stop analytics-prod', `service stop service=${PROD}`],
  ['other letters', '/service stop Analytics-PROD', `service stop service=${PROD}`],
  ['the id', `/service stop ${PROD.toUpperCase()}`, `service stop service=${PROD}`],
  ['an alias', '/service stop prod', `service stop service=${PROD}`],
  ['an alias of two words', '/service stop main db', `service stop service=${PROD}`],
  ['a name of two words', '/service stop analytics eu', 'service stop service=id-of-analytics-eu'],
  ['the same in quotes', '/service stop “Analytics EU”', 'service stop service=id-of-analytics-eu'],
  ['a long dash', '/service stop analytics—prod', `service stop service=${PROD}`],
  ['an id of two twins', '/service stop 2-twin', 'service stop service=2-twin'],
  ['italics', '/service stop _main db_', `service stop service=${PROD}`],
  ['a quoted line', '/service stop >prod', `service stop service=${PROD}`],
  ['the end of a sentence', '/service stop prod…', `service stop service=${PROD}`],
  ['a full stop of another script', '/service stop prod。', `service stop service=${PROD}`],
  ['a verb in capitals', '/service STOP staging', 'service stop service=id-of-staging'],
])('a service is found by %s', ([, line, understood]) => {
  expect(gist(read(line))).toBe(understood);
});

test.for<[string, string, string]>([
  ['the rest of the line', 'staging nightly maintenance', 'nightly maintenance'],
  ['what stands in quotes', 'staging "nightly  maintenance"', 'nightly  maintenance'],
  ['the rest after two words of a name', 'analytics eu nightly', 'nightly'],
  ['a quoted word that a longer name ends with', '"analytics-dev" "prod"', 'prod'],
  ['words with a quoted equals sign', 'staging "load=high" again', 'load=high again'],
  ['words that were escaped', 'staging load &gt; 5 &amp; rising', 'load > 5 & rising'],
  ['the value of reason=', 'staging reason="nightly maintenance"', 'nightly maintenance'],
  ['the value of REASON=', 'REASON=night staging', 'night'],
  ['the value of reason= before a time', 'staging reason="all night" for=4h', 'all night'],
  ['the value of reason= and the rest', 'staging reason="all night" and day', 'all night and day'],
  ['the rest of reason=, untouched', 'staging reason=night reason=day', 'night reason=day'],
  ['a quoted word like the key', 'staging "reason=night"', 'reason=night'],
])('the reason is %s', ([, rest, reason]) => {
  expect(read(`/service stop ${rest}`)).toMatchObject({ kind: 'intent', reason });
});

test.for(['off', 'OFF', 'No', 'disabled', 'false'])(
  'an idle timeout is refused beside idle=%s, however it is typed',
  (off) => {
    const line = `scale staging idle=${off} idle-timeout=10`;
    const understood = parseLine('service', line, vocabulary);
    expect(gist(understood)).toContain('idle-timeout');
    expect(understood.kind).toBe('misread');
  },
);

test('a choice rules the other fields by its value, however it is typed', () => {
  const line = 'create staging type=vpc-resource description=x';
  const understood = parseLine('endpoint', line, vocabulary);
  expect(gist(understood)).toContain('lacks vpcResourceConfigurationId,vpcResourceShareArn');
});

test('every command that takes a reason accepts reason=, also without other keys', () => {
  const changes = registry.filter(({ kind }) => kind === 'change');
  for (const command of changes) {
    const [example = ''] = command.examples;
    const words = splitWords(`${example.slice(command.name.length)} reason="why not" reason=again`);
    const { keyedReason } = readWords(command, words, vocabulary);
    expect(keyedReason, command.name).toBe('why not again');
  }
});

test.for<[string, string, string]>([
  ['list state=foo', 'draft, waiting, approved, running, accepted', 'change list state=waiting'],
  ['list mine state=runing', 'state must be', 'change list mine state=running'],
  ['log state=wating', 'state must be', 'change log state=waiting'],
  ['list since=nonsense', 'since must be today, yesterday', 'change list since=7d'],
  ['log until=soon', 'until must be today, yesterday', 'change log until=yesterday'],
])('“/change %s” is answered with accepted values and their buttons', ([line, words, offer]) => {
  const read = parseLine('change', line, vocabulary);
  expect(gist(read)).toContain(words);
  expect(gist(read)).not.toMatch(/pending|executing|succeeded|stale|denied/);
  const offers = read.kind === 'misread' ? read.offers.map((each) => each.line) : [];
  expect(offers).toContain(offer);
  for (const each of offers) {
    const [, ...words] = each.split(' ');
    const again = parseLine('change', words.join(' '), vocabulary);
    expect(again.kind).toBe('intent');
  }
});

test('each filter of a list names all of its values, also if they do not fit on buttons', () => {
  const among = fieldContext(vocabulary, {});
  const filters = registry.flatMap((command) => {
    const own = command.kind === 'query' ? fieldsOf(command.args) : [];
    return own.flatMap(({ word, input }) =>
      word && input?.kind === 'choice' ? [[command.name, word, input.options(among)] as const] : [],
    );
  });
  expect(filters.map(([name, word]) => `${name} ${word}`)).toContain('change list state');
  for (const [name, word, values] of filters) {
    const [noun = '', ...words] = name.split(' ');
    const read = parseLine(noun, [...words, `${word}=foo`].join(' '), vocabulary);
    expect(gist(read), `${name} ${word}`).toContain(`${word} must be ${oneOf(values)}`);
  }
});

test.for<[string, string, string]>([
  ['service', 'list foo=bar', '/service list has no key “foo=”. It has no keys.'],
  [
    'change',
    'list stat=failed',
    '/change list has no key “stat=”. Did you mean state? Keys: service, by, state, since, before.',
  ],
  ['alert', 'list foo=bar', '/alert list has no key “foo=”. Keys: state, source, silenced, page.'],
])('“/%s %s” is answered with the nearest key and all keys', ([noun, line, sentence]) => {
  const read = parseLine(noun, line, vocabulary);
  expect(gist(read)).toContain(sentence);
});

test.for<[string, string]>([
  ['waiting', 'pending'],
  ['Running', 'executing'],
  ['failed', 'failed'],
  ['pending', 'pending'],
])('the state %s is read as %s', ([typed, state]) => {
  const read = parseLine('change', `list state=${typed}`, vocabulary);
  expect(read).toMatchObject({ kind: 'intent', args: { state } });
});

test.for(['change thaw', 'change unfreeze'])('`/%s` ends a freeze', (words) => {
  const freeze = { id: '7KQ2MX', name: 'tag:prod', aliases: [] } as unknown as SlackFreeze;
  const [noun = '', verb = ''] = words.split(' ');
  const known = { ...vocabulary, freezes: [freeze] };
  const intent = parseLine(noun, `${verb} 7KQ2MX`, known);
  expect(intent).toMatchObject({ kind: 'intent', command: { name: 'change unfreeze' } });
});

test('a quoted reason is never taken for a part of the name', () => {
  const known = [...services, { ...services[0], id: 'night', name: 'staging night' }];
  expect(gist(read('/service stop staging "night"', known as typeof services))).toBe(
    'service stop service=id-of-staging because “night”',
  );
});

test.for<[string, string, string]>([
  ['any order', 'staging idle-timeout=15 min=16', 'minReplicaMemoryGb=16 idleTimeoutMinutes=15'],
  ['a key in capitals', 'staging MIN=16', 'minReplicaMemoryGb=16'],
  ["the field's own name", 'staging minReplicaMemoryGb=16', 'minReplicaMemoryGb=16'],
  ['a value in quotes', 'staging message="a = b"', 'message=a = b'],
  [
    'a reason with a quoted equals sign behind them',
    'staging min=16 because "max=64" was too much',
    'minReplicaMemoryGb=16 because “because max=64 was too much”',
  ],
  ['a quoted reason that looks like a key', 'staging "min=16"', 'because “min=16”'],
])('a command with keys understands %s', ([, rest, understood]) => {
  expect(gist(read(`/service tune ${rest}`))).toBe(
    `service tune service=id-of-staging ${understood}`,
  );
});

test.for<[string, string, string]>([
  ['the beginning of a verb', 'service sta staging', '[service start staging]'],
  ['a verb and a reason', 'service sotp staging "all night"', '[service stop staging "all night"]'],
  [
    'a verb with a quoted value',
    'service tne staging message="all is well"',
    '[service tune staging message="all is well"]',
  ],
  ['an unknown service', 'service stop stagin', '[service stop staging]'],
  ['a service with a reason', 'service stop stagin all night', '[service stop staging all night]'],
  ['a service with keys', 'service tune stagin min=16 x', '[service tune staging min=16 x]'],
  ['a part of a name', 'service stop analytics', '[service stop "analytics eu"]'],
])('for %s the nearest line is offered', ([, line, offers]) => {
  expect(gist(read(line))).toContain(offers);
});

test.for([
  'service sta staging all "of it"',
  'service tne staging message="all is well" min=16 late',
  'service stop stagin "two  spaces"',
  'service tune stagin message="all is well" min=16 it is late',
  'service stop twin all night',
])('every offer for “%s” can be run and keeps all that was typed', (line) => {
  const understood = read(line);
  const offers = understood.kind === 'misread' ? understood.offers : [];
  expect(offers.length).toBeGreaterThan(0);
  const reasons = ['all of it', 'late', 'two  spaces', 'it is late', 'all night'];
  for (const offer of offers) {
    const again = read(offer.line);
    expect(again.kind).toBe('intent');
    expect(reasons).toContain(again.kind === 'intent' ? again.reason : null);
  }
});

test.for<[string, string, string]>([
  ['a known name', '5xx rate', 'alert show alert=a1'],
  ['swapped letters', '5xx rtae', '[alert show "5xx rate"]'],
  ['a part and more words', 'rate of errors', "There's no alert called “rate of errors”"],
  ['a known name before a key', '5xx rate threshold=5', 'alert edit alert=a1 threshold=5'],
  ['swapped letters before a key', '5xx rtae threshold=5', '[alert edit "5xx rate" threshold=5]'],
  ['a reason behind it', '5xx rtae threshold=5 noise', '[alert edit "5xx rate" threshold=5 noise]'],
])('the name of an alert may have several words: %s', ([, rest, understood]) => {
  const verb = rest.includes('=') ? 'edit' : 'show';
  const alerts = ['5xx rate', 'Checkout errors'].map((name, at) => ({
    id: `a${at + 1}`,
    name,
    aliases: [],
  }));
  const known = { ...vocabulary, alerts };
  expect(gist(parseLine('alert', `${verb} ${rest}`, known))).toContain(understood);
});

test('a known name is not read as a longer name that is similar', () => {
  const longer = { ...services[0], id: 'longer', name: 'staging us', aliases: [] } as Service;
  expect(gist(read('/service stop staging eu outage', [...services, longer]))).toBe(
    'service stop service=id-of-staging because “eu outage”',
  );
});

test.for([
  '/service stop staging load=high again',
  '/service tune staging nightly min=16 run',
  '/service stop staging "all night" for=4h again',
  '/service stop staging if ok with Jordan',
])('“%s” can be sent on with the key in the reason, without a loss', (line) => {
  const understood = read(line);
  const [quoted] = understood.kind === 'misread' ? understood.offers.slice(-1) : [];
  expect(quoted?.label).toMatch(/^(Part of|It is only) the reason$/);
  const again = read(quoted?.line ?? '');
  const words = line.split(' ').slice(3).join(' ').replaceAll('"', '');
  expect(again).toMatchObject({ kind: 'intent', reason: words, timing: { forMs: null } });
});

test.for([
  'a "quoted" name',
  'dash–name',
  '“smart”',
  'min=16',
  'tab\tname',
  ' name',
  'soft\u00adhyphen',
])('a service called “%s” is offered so that its button finds it', (name) => {
  const odd = [{ ...services[0], id: 'odd-one', name, aliases: [] }] as typeof services;
  const understood = read(`/service stop ${name.trim().slice(0, -1)}x`, odd);
  const offers = understood.kind === 'misread' ? understood.offers : [];
  expect(offers.map(({ line }) => gist(read(line, odd)))).toEqual([
    expect.stringContaining('service=odd-one'),
  ]);
});

test('each "no" is a sentence that helps', () => {
  const lines = [
    '/service stopp staging',
    '/service frobnicate staging',
    '/signalbox frobnicate',
    '/service stop stagin',
    '/service stop quite-another-thing',
    '/service stop twin',
    '/service list staging',
    '/service tune staging mim=16',
    '/service tune staging colour=red',
    '/service stop staging foo=bar',
    '/service stop staging nightly load=high again',
    '/service tune staging nightly min=16 run',
    '/service stop staging nightly for=4h run',
    '/service show staging foo=bar',
    '/service tune staging min=much',
    `/service stop staging ${'why '.repeat(200)}`,
  ];
  expect(lines.map((line) => gist(read(line)))).toMatchInlineSnapshot(`
    [
      "There's no command /service stopp. Did you mean: [service stop staging]",
      "There's no command /service frobnicate. [service list] [service help]",
      "Signalbox did not understand “frobnicate”. [signalbox help] [service list] [change list]",
      "There's no service called “stagin”. Did you mean: [service stop staging]",
      "There's no service called “quite-another-thing”. /service list lists all known services. [service list]",
      "2 services are called “twin”. Which one do you mean? [service stop 1-twin] [service stop 2-twin]",
      "/service list does not take “staging”. [service show staging] [service list]",
      "/service tune has no key “mim=”. Did you mean min? Keys: min, idle-timeout, message. [service tune staging min=16] [service tune staging "mim=16"]",
      "/service tune has no key “colour=”. Keys: min, idle-timeout, message. [service tune staging "colour=red"]",
      "/service stop has no key “foo=”. Did you mean for? Keys: at, in, for, until. [service stop staging "foo=bar"]",
      "/service stop has no key “load=”. Did you mean for? Keys: at, in, for, until. [service stop staging "nightly load=high again"]",
      "“min=16” can be a value or a part of the reason. [service tune staging min=16 "nightly run"] [service tune staging "nightly min=16 run"]",
      "“for=4h” can be a value or a part of the reason. [service stop staging for=4h "nightly run"] [service stop staging "nightly for=4h run"]",
      "/service show has no key “foo=”. It has no keys. [service show staging]",
      "min must be a whole number of GB, not much",
      "Reason is too long: 799 of at most 500 characters",
    ]
  `);
});

test.for([
  ['uses=0', 'uses must be at least 1, not 0'],
  ['uses=51', 'uses must be at most 50, not 51'],
  ['uses=1.5', 'uses must be a whole number, not 1.5'],
  ['for=15d', 'for must be from 1h to 14d (for example 7d) (you typed 15d)'],
])('a name that is also a tag is asked about once, beside %s', ([value, problem]) => {
  const own = [{ ...service('staging'), tags: ['staging'] }];
  const known = { ...vocabulary, services: own };
  const understood = parseLine('change', `allow stop staging ${value} night`, known);
  const sentence = `“staging” is a service and a tag. Which one?\n${problem}`;
  expect(understood).toMatchObject({ kind: 'misread', sentence });
});

test.for([
  ['/service', 'help for service'],
  ['/service help', 'help for service'],
  ['/service HELP me', 'help for service me'],
  ['/service help stop', 'help for service stop'],
  ['/service help Schedule list', 'help for service schedule list'],
  ['/signalbox', 'help for signalbox'],
  ['/signalbox \u200b', 'help for signalbox'],
])('%s asks for help', ([line = '', understood]) => {
  expect(gist(read(line))).toBe(understood);
});

test.for([
  ['/service stop', 'service stop lacks service'],
  ['/service tune', 'service tune lacks service'],
  ['/service tune min=16 "it is late"', 'service tune lacks service'],
])('%s opens a form', ([line = '', understood]) => {
  expect(gist(read(line))).toBe(understood);
});

test('a form opens with what was typed, is read like a line, and says the same about it', () => {
  const given = { minReplicaMemoryGb: '16', reason: 'it is late' };
  expect(read('/service tune min=16 "it is late"')).toMatchObject({ given });
  const filled = { service: PROD, minReplicaMemoryGb: '16' };
  expect(gist(parseValues(serviceTune, filled, ' night ', vocabularyOf()))).toBe(
    `service tune service=${PROD} minReplicaMemoryGb=16 because “night”`,
  );
  expect(gist(parseValues(serviceTune, { service: 'stagin' }, '', vocabularyOf()))).toContain(
    "There's no service called “stagin”",
  );
  expect(parseValues(serviceTune, { service: '' }, 'night', vocabularyOf())).toMatchObject({
    kind: 'incomplete',
    given: { service: '', reason: 'night' },
  });
});

test('to pause a service with a schedule can mean either, and is asked about', () => {
  const scheduled = { ...vocabulary, scheduled: ['id-of-staging'] };
  const asked = parseLine('service', 'pause staging release week', scheduled);
  expect(gist(asked)).toContain(
    '[service stop staging release week] [service schedule pause staging release week]',
  );
  expect(
    gist(parseLine('service', 'pause twin', { ...scheduled, scheduled: ['other'] })),
  ).toContain('2 services are called “twin”');
});

test.for(['\u2800', '\u3164\u00a0', '\u115f', '   '])(
  'a reason of invisible letters is none: %j',
  (text) => {
    const given = { service: 'staging' };
    const stop = registry.find(({ name }) => name === 'service stop');
    if (!stop) throw new Error('no such command');
    expect(parseValues(stop, given, text, vocabularyOf())).toMatchObject({ reason: null });
  },
);

test.for([
  'for=4h "urgent',
  'ends in a \\',
  'a "quoted" \\" word',
  "it's 'single'",
  'tonight at 20:00',
])('a reason is the same after it was printed and read: %s', (reason) => {
  const stop = registry.find(({ name }) => name === 'service stop');
  if (!stop) throw new Error('no such command');
  const line = commandLine(stop, { service: 'staging' }, reason);
  expect(read(`/${line}`)).toMatchObject({ kind: 'intent', reason, timing: { forMs: null } });
});

test.for<[string, string]>([
  ['my reports', 'my reports'],
  ['my reports', '"My Reports"'],
  ['Отчёты 2026', 'отчёты 2026'],
  ['a.b-c_d', 'a.b-c_d'],
  ['v1.2 (old)', '"v1.2 (old)"'],
  ['東京', '東京'],
  ["Finn's db", '"Finn\'s db"'],
])('a service called “%s” is named by %s', ([name, typed]) => {
  const own = [service(name), service('other')];
  const known = { ...vocabulary, services: own };
  for (const verb of ['show', 'stop']) {
    const read = parseLine('service', `${verb} ${typed}`, known);
    const args = read.kind === 'intent' ? read.args : {};
    expect(args.service, `${verb} ${typed}`).toBe(own[0]);
  }
});

test.for([
  ['service', 'scale staging at 3 replicas', 'service scale service=id-of-staging numReplicas=3'],
  ['service', 'scale staging with 16 gb min', 'service=id-of-staging minReplicaMemoryGb=16'],
  [
    'service',
    'scale staging down to 2 replicas',
    'replicas=2 "down"] [service scale staging "down to 2 replicas"]',
  ],
  ['cost', 'digest on weekdays at 8am', '[cost digest add at=08:00 days=weekdays]'],
  ['cost', 'digest every day at 25', 'does not take “at 25”'],
  ['cost', 'unsubscribe', 'cost digest what=remove'],
  ['cost', 'unsubscribe weekly', '[cost digest remove]'],
  [
    'endpoint',
    'create staging type=vpc-resource resource-share=arn:aws:ram:eu-west:12:resource-share/0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f',
    'resource-share/<UUID>, not “eu-west”, not “12”',
  ],
])('no word of a line is left over or turned around: /%s %s', ([noun = '', line = '', part]) => {
  expect(gist(parseLine(noun, line, vocabulary))).toContain(part);
});
