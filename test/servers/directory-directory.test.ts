import { expect, test } from 'vitest';
import { findByName, type LearnedService } from '../../src/domain/targets.ts';
import { buildDirectory } from '../../src/servers/directory.ts';

const NOON = new Date('2026-11-20T12:00:00.000Z');

const prod = {
  ...{ id: '2f7c9d34-5f0e-4f0a-8f58-0f6f0b1c2d3e', organizationId: 'o1', name: 'analytics-prod' },
  ...{ aliases: ['Prod'], tags: ['prod'], warehouse: 'main', team: 'search', pipes: [] },
};

function learned(over: Partial<LearnedService> = {}): LearnedService {
  const facts = { fields: { state: 'running' }, source: 'reply to a stop', seenAt: NOON };
  return { id: prod.id, organizationId: 'o1', name: 'renamed', ...facts, ...over };
}

test('a reply adds the state of a configured service, but no name and no tags', () => {
  const [service, ...others] = buildDirectory([prod], [learned()]);
  const lastSeen = { fields: { state: 'running' }, seenAt: NOON, source: 'reply to a stop' };
  expect(service).toEqual({ ...prod, source: 'configuration', lastSeen });
  expect(others).toEqual([]);
});

test('a service that only a reply names can be used, but its tags are unknown', () => {
  const [, stranger] = buildDirectory([prod], [learned({ id: 'x', name: 'other' })]);
  const unknown = { tags: null, aliases: [], team: null, warehouse: null };
  expect(stranger).toMatchObject({ name: 'other', ...unknown, source: 'reply to a stop' });
});

test('the usage report names a service without a state', () => {
  const fromReport = learned({ id: 'x', fields: {}, source: 'usage report' });
  expect(buildDirectory([], [fromReport])[0]).toMatchObject({ name: 'renamed', lastSeen: null });
});

test('a configured service without a reply has no state', () => {
  expect(buildDirectory([prod], [])[0]?.lastSeen).toBeNull();
});

test('services are sorted by name', () => {
  const names = ['staging', 'Analytics', 'archive'];
  const known = names.map((name) => learned({ id: name, name }));
  const services = buildDirectory([], known);
  expect(services.map(({ name }) => name)).toEqual(['Analytics', 'archive', 'staging']);
});

const impostor = learned({ id: 'impostor', name: 'analytics-prod' });
const namedLikeAnId = learned({ id: 'sly', name: prod.id });
const services = buildDirectory([prod], [impostor, namedLikeAnId, learned({ id: 'b', name: 'b' })]);

test.for<[string, string, string[]]>([
  ['its name', ' B ', ['b']],
  ['an alias in other letters', 'pROD', [prod.id]],
  ['an id, even where another service has it for a name', prod.id.toUpperCase(), [prod.id]],
  ['a part of its name', 'analytics', []],
  ['nothing', '', []],
  ['two names alike', 'Analytics-Prod', [prod.id, 'impostor']],
])('a search by %s finds exactly these services', ([, text, ids]) => {
  expect(findByName(services, text).map(({ id }) => id)).toEqual(ids);
});
