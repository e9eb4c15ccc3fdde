import { expect, test } from 'vitest';
import { type CloudClient, createCloud } from '../../src/servers/cloud.ts';
import { buildDirectory } from '../../src/servers/directory.ts';
import type { OptionalRead } from '../../src/servers/optional-reads.ts';

const at = (second: number) => new Date(Date.UTC(2026, 10, 20, 12, 0, second));
const DOWN = { known: false, gap: 'no-answer', why: 'it is down', status: null } as const;

/** Two organizations, whose clients say what was asked of them. */
function cloudOf(lists: Readonly<Record<string, OptionalRead<readonly unknown[]>>>) {
  const asked: string[] = [];
  const client = (name: string) =>
    ({
      updateServiceState: async (id: string) => asked.push(`${name} stops ${id}`),
      createService: async () => asked.push(`${name} creates`),
      close: async () => undefined,
      reads: {
        services: async () => lists[name],
        activities: async () => lists[name],
        service: async (id: string) => asked.push(`${name} reads ${id}`),
        isOff: () => name === 'eu',
      },
    }) as unknown as CloudClient;
  const names = Object.keys(lists);
  const organizations = names.map((name) => ({ id: `o-${name}`, name, client: client(name) }));
  const cloud = createCloud(organizations, (id) => (id === '?' ? null : `o-${id.slice(0, 2)}`));
  return { cloud, asked };
}

const list = (value: readonly unknown[], second = 0) =>
  ({ known: true, value, readAt: at(second) }) as const;

test('what is about a service goes to its organization', async () => {
  const { cloud, asked } = cloudOf({ eu: list([]), us: list([]) });
  await cloud.updateServiceState('us-1', { command: 'stop' });
  await cloud.reads.service('eu-1');
  await cloud.reads.service('eu-1', { organization: 'o-us' });
  await cloud.within('o-us').createService({ name: 'a' });
  await cloud.within('o-eu').updateServiceState('us-1', { command: 'stop' });
  expect(asked).toEqual([
    ...['us stops us-1', 'eu reads eu-1', 'us reads eu-1', 'us creates', 'eu stops us-1'],
  ]);
});

test('a service of no known organization is not guessed', async () => {
  const { cloud, asked } = cloudOf({ eu: list([]), us: list([]) });
  await expect(cloud.updateServiceState('?', { command: 'stop' })).rejects.toThrow('organization');
  await expect(cloud.createService({ name: 'a' })).rejects.toThrow('organization');
  expect(await cloud.reads.service('?')).toMatchObject({ known: false, gap: 'not-found' });
  expect(asked).toEqual([]);
});

test('lists are of all, as old as the oldest, and name those that do not answer', async () => {
  const both = cloudOf({ eu: list(['a'], 5), us: list(['b'], 3) }).cloud;
  const all = { known: true, value: ['a', 'b'], readAt: at(3), missing: [] };
  expect(await both.reads.services()).toEqual(all);
  expect(await both.reads.services({ organization: 'o-us' })).toMatchObject({ value: ['b'] });
  const one = cloudOf({ eu: list(['a']), us: DOWN }).cloud;
  const missing = [{ id: 'o-us', name: 'us', why: 'it is down' }];
  expect(await one.reads.services()).toMatchObject({ value: ['a'], missing });
  const none = cloudOf({ eu: DOWN, us: DOWN }).cloud;
  expect(await none.reads.services()).toMatchObject({ known: false, missing: [{}, {}] });
  expect(one.reads.isOff('backups')).toBe(false);
});

test('the only organization gets what names none', async () => {
  const { cloud, asked } = cloudOf({ eu: list(['a']) });
  await cloud.createService({ name: 'a' });
  await cloud.updateServiceState('?', { command: 'stop' });
  expect(asked).toEqual(['eu creates', 'eu stops ?']);
});

test.for([
  ['several', { eu: list([]), us: list([]) }],
  ['one', { eu: list([]) }],
] as const)(
  'what was approved for an organization that left the file is sent to none (%s stay)',
  async ([, left]) => {
    const { cloud, asked } = cloudOf(left);
    const gone = cloud.within('o-gone');
    await expect(gone.createService({ name: 'a' })).rejects.toThrow('organization');
    const stopped = gone.updateServiceState('eu-1', { command: 'stop' });
    await expect(stopped).rejects.toThrow('organization');
    expect(asked).toEqual([]);
  },
);

const CONFIGURED = { aliases: [], tags: [], warehouse: null, team: null, pipes: [] };
const LISTED = {
  ...{ id: 'fd5e2c1a-8f0b-4c62-9a55-0b2f6f1f9f10', state: 'running', provider: null, region: null },
  ...{ dataWarehouseId: null, tags: [{ key: 'prod', value: null }] },
};
const ORGANIZATIONS = [
  { id: 'o-eu', name: 'prod-eu' },
  { id: 'o-us', name: 'prod-us' },
];

function listed(name: string, isCurrent: boolean) {
  const shared = { declaredTags: ['prod'], isCurrent };
  return buildDirectory(
    [{ ...CONFIGURED, id: 'e1', organizationId: 'o-eu', name: 'analytics' }],
    [],
    [
      { ...shared, organizationId: 'o-eu', list: [], isCurrent: true },
      { ...shared, organizationId: 'o-us', list: [{ ...LISTED, name }] },
    ],
    ORGANIZATIONS,
  ).find(({ id }) => id === LISTED.id);
}

test('a service that an organization lists is of it, without facts while that list is old', () => {
  const found = { name: 'prod-us/lake', organizationId: 'o-us', organization: 'prod-us' };
  expect(listed('lake', true)).toMatchObject({ ...found, discovered: { tags: ['prod'] } });
  expect(listed('lake', false)).toMatchObject({ ...found, discovered: { tags: null } });
});

test('no service of another organization takes a configured name', () => {
  const impostor = listed('analytics', true);
  expect(impostor?.name).toBe('prod-us/analytics (fd5e2c1a)');
  expect(impostor?.aliases).not.toContain('analytics');
});

test('no name of one organization reads like that of a service in another one', () => {
  const named = { ...CONFIGURED, id: 'e2', organizationId: 'o-eu', name: 'Prod-US/analytics' };
  const discovered = { declaredTags: [], isCurrent: true, organizationId: 'o-eu' };
  const all = buildDirectory(
    [{ ...named, aliases: ['prod-us/lake', 'lake'] }],
    [],
    [{ ...discovered, list: [{ ...LISTED, name: 'prod-us/reports' }] }],
    ORGANIZATIONS,
  );
  expect(all.map(({ name, aliases }) => [name, ...aliases])).toEqual([
    ['prod-eu/Prod-US/analytics', 'lake', 'prod-eu/prod-us/lake', 'prod-eu/lake'],
    ['prod-eu/prod-us/reports (fd5e2c1a)', 'prod-eu/prod-us/reports'],
  ]);
});

test('what was learned of an organization that is not configured any more is left out', () => {
  const known = { id: 'x', name: 'x', source: 'a reply', seenAt: at(0), fields: {} };
  const learned = ['o-eu', 'o-gone'].map((organizationId) => ({ ...known, organizationId }));
  const all = buildDirectory([], learned, null, ORGANIZATIONS);
  expect(all.map(({ organizationId }) => organizationId)).toEqual(['o-eu']);
});
