import { expect, test } from 'vitest';
import { buildDirectory } from '../../src/directory/build-directory.ts';
import type { ServerService } from '../../src/directory/discovered.ts';
import { driftLines, driftOf } from '../../src/directory/drift.ts';

const ID = '2f7c9d34-5f0e-4f0a-8f58-0f6f0b1c2d3e';
const NEW_ID = '9bdca388-c2ba-4b43-b5ec-18a4156637fb';
const prod = {
  ...{ id: ID, name: 'analytics-prod', aliases: ['shop'], tags: [] },
  ...{ warehouse: null, team: null, pipes: [] },
};

function server(id: string, name: string | null): ServerService {
  return { id, name, state: null, provider: null, region: null, dataWarehouseId: null, tags: null };
}

function linesFor(list: readonly ServerService[], configured = [prod]): readonly string[] {
  const discovery = { list, isCurrent: true, declaredTags: [] };
  return driftLines(driftOf(buildDirectory(configured, [], discovery), list));
}

test.for<[string, readonly ServerService[], readonly string[]]>([
  ['the same service', [server(ID, 'analytics-prod')], []],
  ['its id in capital letters', [server(ID.toUpperCase(), 'analytics-prod')], []],
  ['its name with spaces, which no name of the file can have', [server(ID, 'Analytics Prod')], []],
  ['an alias', [server(ID, 'shop')], []],
  ['a name that the server did not send', [server(ID, null)], []],
  ['an empty list', [], ['In signalbox.yaml, but not on the server: analytics-prod (2f7c9d34)']],
  [
    'another service',
    [server(ID, 'shop'), server(NEW_ID, 'ml')],
    ['On the server, but not in signalbox.yaml: ml (9bdca388)'],
  ],
  [
    'an impostor',
    [server(ID, 'shop'), server(NEW_ID, 'analytics-prod')],
    ['On the server, but not in signalbox.yaml: analytics-prod (9bdca388)'],
  ],
  [
    'another name with hidden characters',
    [server(ID, 'ware\u202ehouse\n')],
    ['Another name: analytics-prod is “warehouse” on the server'],
  ],
])('the difference from a list with %s', ([, list, lines]) => {
  expect(linesFor(list)).toEqual(lines);
});

test('at most ten services are named', () => {
  const many = Array.from({ length: 12 }, (_, index) => ({
    ...{ ...prod, aliases: [], name: `s${index}` },
    id: `${String(index).padStart(8, '0')}-0000-4000-8000-000000000000`,
  }));
  const [line = ''] = linesFor([], many);
  expect(line.match(/\(\d{8}\)/g)).toHaveLength(10);
  expect(line).toMatch(/, and 2 more$/);
});
