import { expect, test } from 'vitest';
import { findByName, type LearnedService, serviceTarget } from '../../src/domain/targets.ts';
import type { ServerService, ServerTag } from '../../src/servers/directory.ts';
import { buildDirectory } from '../../src/servers/directory.ts';

const NOON = new Date('2026-11-20T12:00:00.000Z');
const MAIN = '4e55fb27-7c55-4261-9f95-8d077d2398bc';
const LAB = 'c6f8d9b1-e040-4c62-b261-c6813e9bc56e';

const prod = {
  ...{ id: '2f7c9d34-5f0e-4f0a-8f58-0f6f0b1c2d3e', organizationId: 'o1', name: 'analytics-prod' },
  ...{ aliases: ['shop'], tags: ['prod'], warehouse: 'main', team: null, pipes: [] },
};

function id(index: number): string {
  return `${String(index).padStart(8, '0')}-0000-4000-8000-000000000000`;
}

function server(index: number, over: Partial<ServerService> = {}): ServerService {
  const facts = { state: 'running', provider: 'aws', region: 'eu-west-1' };
  return { id: id(index), name: `dev-${index}`, dataWarehouseId: LAB, tags: [], ...facts, ...over };
}

const onServer = server(0, { id: prod.id, name: prod.name, dataWarehouseId: MAIN });
const DECLARED = ['prod', 'env=staging', 'dev'];

function directoryOf(
  list: readonly ServerService[],
  { isCurrent = true, learned = [] as readonly LearnedService[], configured = [prod] } = {},
) {
  return buildDirectory(configured, learned, [
    { organizationId: 'o1', list, isCurrent, declaredTags: DECLARED },
  ]);
}

function factsOf(service: Partial<ServerService>, others: readonly ServerService[] = [onServer]) {
  const found = directoryOf([...others, server(1, service)]).find((one) => one.id === id(1));
  return found?.discovered;
}

test('a service of the list has no tags of the configuration, so that costs ignore its server tags', () => {
  const [, found] = directoryOf([onServer, server(1, { tags: [{ key: 'prod', value: null }] })]);
  expect(found).toMatchObject({ name: 'dev-1', tags: null, warehouse: null, team: null });
  expect(found?.discovered?.tags).toEqual(['prod']);
});

test.for<[string, ServerTag[] | null, readonly string[] | null]>([
  ['a key with a value', [{ key: 'env', value: 'staging' }], ['env=staging']],
  ['a key without a value', [{ key: 'prod', value: null }], ['prod']],
  ['a key with an empty value', [{ key: 'prod', value: '' }], ['prod']],
  ['capital letters', [{ key: 'Env', value: 'STAGING' }], ['env=staging']],
  ['a key and value of which the file declares the key only', [{ key: 'prod', value: 'no' }], []],
  ['a key that looks like a key with a value', [{ key: 'env=staging', value: null }], []],
  ['a tag that the file does not declare', [{ key: 'cost', value: '42' }], []],
  ['the same tag twice', [...'aa'].map(() => ({ key: 'dev', value: null })), ['dev']],
  ['no tag', [], []],
  ['unknown tags', null, null],
])('the tags of the policy for %s', ([, tags, expected]) => {
  expect(factsOf({ tags })?.tags).toEqual(expected);
});

test.for<[string, string | null, readonly ServerService[], string | null]>([
  ['the name of a configured service in it', MAIN.toUpperCase(), [onServer], 'main'],
  ['its id, without a configured service', LAB, [onServer], LAB],
  ['none while the place of a configured warehouse is unknown', LAB, [], null],
  ['none if the server does not send it', null, [onServer], null],
])('a warehouse has %s', ([, dataWarehouseId, others, warehouse]) => {
  expect(factsOf({ dataWarehouseId }, others)?.warehouse).toBe(warehouse);
});

test('a warehouse with two names is unknown', () => {
  const other = { ...prod, id: id(7), name: 'other', aliases: [], warehouse: 'second' };
  const inMain = [7, 1].map((index) => server(index, { dataWarehouseId: MAIN }));
  const all = directoryOf([onServer, ...inMain], { configured: [prod, other] });
  expect(all.find((one) => one.id === id(1))?.discovered?.warehouse).toBeNull();
});

test('with a list that is too old a service keeps its name and has no facts', () => {
  const [, found] = directoryOf([onServer, server(1)], { isCurrent: false });
  expect(found).toMatchObject({ name: 'dev-1', discovered: { tags: null, warehouse: null } });
});

test('two entries with one id contradict each other, so that it has no facts', () => {
  const tagged = server(1, { tags: [{ key: 'dev', value: null }] });
  const found = directoryOf([onServer, tagged, server(1)]).filter((one) => one.id === id(1));
  expect(found.map(({ discovered }) => discovered)).toEqual([{ tags: null, warehouse: null }]);
});

test('the server changes nothing about a configured service', () => {
  const renamed = { ...onServer, name: 'x', tags: [{ key: 'dev', value: null }] };
  for (const listed of [renamed, { ...renamed, id: renamed.id.toUpperCase() }]) {
    const services = directoryOf([listed]);
    expect(services).toEqual([{ ...prod, source: 'configuration', lastSeen: null }]);
  }
});

test('an empty list removes no configured service', () => {
  expect(directoryOf([]).map(({ name }) => name)).toEqual(['analytics-prod']);
});

test('an entry whose id is not a UUID is left out: it could be a configured name', () => {
  expect(directoryOf([onServer, server(1, { id: 'analytics-prod' })])).toHaveLength(1);
});

test('a service that only a reply named is discovered, without facts of the server', () => {
  const reply = { source: 'a reply', seenAt: NOON, fields: {} };
  const learned = { id: id(9), organizationId: 'o1', name: 'new', ...reply };
  const found = directoryOf([onServer], { learned: [learned] }).find((one) => one.id === id(9));
  expect(found).toMatchObject({ name: 'new', source: 'a reply' });
  expect(found?.discovered).toEqual({ tags: null, warehouse: null });
});

test('the target of a discovered service has the facts of the server', () => {
  const [, found] = directoryOf([onServer, server(1, { tags: [{ key: 'dev', value: null }] })]);
  expect(found && serviceTarget(found)).toEqual({
    ...{ kind: 'service', id: id(1), name: 'dev-1' },
    ...{ tags: ['dev'], warehouse: LAB, discovered: true },
  });
});

test.for<[string, string, string]>([
  ['the name of a configured service', 'analytics-prod', 'analytics-prod (00000001)'],
  ['its name in other letters', 'Analytics_PROD', 'Analytics_PROD (00000001)'],
  ['its alias', 'SHOP', 'SHOP (00000001)'],
  ['its name with a digit that looks like a letter', 'analyt1cs-pr0d', 'analyt1cs-pr0d (00000001)'],
  ['its name with an invisible character', 'analytics\u200b-prod', 'analytics-prod (00000001)'],
  ['its name with full-width letters', 'ａnalytics-prod', 'ａnalytics-prod (00000001)'],
  ['its name after a change of direction', '\u202eanalytics-prod', 'analytics-prod (00000001)'],
  ['its id', prod.id, `${prod.id} (00000001)`],
  ['the start of its id', '2f7c9d34', '2f7c9d34 (00000001)'],
  ['the scope of all services', 'everything', 'everything (00000001)'],
  ['the alias of that scope', 'All', 'All (00000001)'],
  ['the key of a tag', 'tag:prod', 'tag:prod (00000001)'],
  ['no visible character', '\u200b \n', '(00000001)'],
])('a discovered service with %s never answers to it', ([, name, shown]) => {
  const services = directoryOf([onServer, server(1, { name })]);
  expect(services.find((one) => one.id === id(1))?.name).toBe(shown);
  const found = findByName(services, name);
  expect(found.filter((one) => one.id === id(1))).toEqual([]);
  expect(findByName(services, 'analytics-prod').map((one) => one.id)).toEqual([prod.id]);
  expect(findByName(services, id(1)).map((one) => one.id)).toEqual([id(1)]);
});

test.for<[string, string, string]>([
  ['letters of another alphabet', 'ѕtaging', 'ѕtaging (00000001)'],
  ['mrkdwn', '<!channel> *now*', '<!channel> *now* (00000001)'],
  ['50 characters', 'x'.repeat(50), 'x'.repeat(50)],
  ['more characters than servers accept', 'x'.repeat(80), `${'x'.repeat(49)}… (00000001)`],
])('a name with %s is shown so that it cannot be confused', ([, name, shown]) => {
  const services = directoryOf([onServer, server(1, { name })]);
  expect(services.find((one) => one.id === id(1))?.name).toBe(shown);
});

test('two discovered services with one name are both found by it, never one of them', () => {
  const services = directoryOf([onServer, server(1, { name: 'Dev' }), server(2, { name: 'dev' })]);
  expect(findByName(services, 'dev').map((one) => one.id)).toEqual([id(1), id(2)]);
  expect(services.map(({ name }) => name)).toContain('Dev (00000001)');
  expect(findByName(services, 'dev (00000002)').map((one) => one.id)).toEqual([id(2)]);
});

test('two discovered names that look alike both show their ids', () => {
  const alike = ['dev-l', 'dev_1'].map((name, index) => server(index + 1, { name }));
  const services = directoryOf([onServer, ...alike]);
  expect(services.map(({ name }) => name)).toContain('dev-l (00000001)');
  expect(services.map(({ name }) => name)).toContain('dev_1 (00000002)');
  expect(findByName(services, 'dev-l').map((one) => one.id)).toEqual([id(1)]);
});
