import { expect, test } from 'vitest';
import { type CommandContext, fieldContext } from '../../src/commands/define.ts';
import { parseLine } from '../../src/commands/parse.ts';
import { commands } from '../../src/commands/registry.ts';
import { buildDirectory } from '../../src/servers/directory.ts';
import { gist } from './fixtures.ts';

const ORGANIZATIONS = [
  { id: 'o-eu', name: 'prod-eu', plan: 'paid', tier: 'scale' },
  { id: 'o-us', name: 'prod-us', plan: 'free', tier: 'basic' },
] as const;
const REST = { aliases: ['db'], tags: ['prod'], warehouse: 'main', team: null, pipes: [] };
const services = buildDirectory(
  [
    { ...REST, id: 'eu-1', organizationId: 'o-eu', name: 'analytics' },
    { ...REST, id: 'us-1', organizationId: 'o-us', name: 'analytics' },
    { ...REST, id: 'us-2', organizationId: 'o-us', name: 'data lake', aliases: [], tags: ['prod'] },
  ],
  [],
  null,
  ORGANIZATIONS,
);
const vocabulary = { commands, services, alerts: [], organizations: ORGANIZATIONS };

function read(line: string) {
  const [noun = '', ...words] = line.split(' ');
  return gist(parseLine(noun, words.join(' '), vocabulary));
}

test('among several organizations, a service is named with its own', () => {
  expect(services.map(({ name }) => name)).toEqual([
    'prod-eu/analytics',
    'prod-us/analytics',
    'prod-us/data lake',
  ]);
});

test.for([
  ['service stop prod-us/analytics for the night', 'us-1 because “for the night”'],
  ['service stop PROD-EU/analytics', 'eu-1'],
  ['service stop prod-us/db', 'us-1'],
  ['service stop analytics organization=prod-us', 'us-1'],
  ['service stop organization=prod-us analytics for the night', 'us-1 because “for the night”'],
  ['service stop db organization=prod-eu', 'eu-1'],
  ['service stop data lake', 'us-2'],
  ['service stop "prod-us/data lake"', 'us-2'],
])('“%s” names one service', ([line = '', understood = '']) => {
  expect(read(line)).toBe(`service stop service=${understood}`);
});

test('a name of two organizations is asked about, with the rest of the line', () => {
  expect(read('service stop analytics for the night')).toBe(
    '2 services are called “analytics”. Which one do you mean? ' +
      '[service stop prod-eu/analytics for the night] [service stop prod-us/analytics for the night]',
  );
});

test('an organization that there is not is answered with those that there are', () => {
  expect(read('service stop analytics organization=prod-as')).toBe(
    "There's no organization called “prod-as”. [service stop analytics organization=prod-eu] " +
      '[service stop analytics organization=prod-us]',
  );
});

test.for([
  'change freeze everything until=4h launch',
  'change freeze tag=prod until=4h launch',
  'change allow stop warehouse=main launch',
  'service list',
  'change list',
])('an organization beside no service is not dropped: %s', (line) => {
  expect(read(`${line} organization=prod-us`)).toBe(
    `“organization=” chooses among services of one name, and this names none: [${line}]`,
  );
});

test('an organization in a question about costs stays in it', () => {
  expect(read('cost mtd organization=prod-us')).toContain('mtd organization=prod-us');
});

test('limits are those of the organization of the named service', () => {
  const plans = ['prod-eu/analytics', 'prod-us/analytics', 'analytics'].map(
    (service) => fieldContext(vocabulary, { service }).plan,
  );
  expect(plans).toEqual(['paid', 'free', 'paid']);
  const scale = commands.find(({ name }) => name === 'service scale');
  const problems = services.map((service) => {
    const sizes = { service, minReplicaMemoryGb: 200, maxReplicaMemoryGb: 200 };
    const context = vocabulary as unknown as CommandContext;
    return scale?.kind === 'change' ? scale.problems?.(sizes, null, context).length : null;
  });
  expect(problems).toEqual([0, 2, 2]);
});

test('one organization alone is never asked for, also where it has a name', () => {
  const [only] = ORGANIZATIONS;
  expect(fieldContext({ services, organizations: [only] }, {}).organizations).toEqual([]);
  const line = 'create lake provider=aws region=eu-west-1 ip=10.0.0.0/8';
  const alone = { ...vocabulary, organizations: [only] } as const;
  expect(gist(parseLine('service', line, alone))).not.toContain('organization');
});
