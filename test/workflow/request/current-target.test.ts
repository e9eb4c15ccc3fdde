import { expect, test } from 'vitest';
import type { JsonObject, Target } from '../../../src/changes/change.ts';
import type { Service } from '../../../src/directory/directory.ts';
import { currentTarget, hasSameFacts } from '../../../src/workflow/request/current-target.ts';

const PROD: Service = {
  id: 'p',
  name: 'analytics-prod',
  aliases: [],
  tags: ['prod', 'core'],
  warehouse: 'main',
  team: null,
  pipes: [],
  source: 'configuration',
  lastSeen: null,
};
const LEARNED: Service = { ...PROD, id: 'l', name: 'new', tags: null, warehouse: null };
const UNKNOWN = { tags: null, warehouse: null };

function facts(target: Partial<Target>, body: JsonObject = {}) {
  const stored: Target = { kind: 'service', id: 'p', name: 'old', tags: ['dev'], warehouse: 'lab' };
  const plan = { target: { ...stored, ...target }, body };
  const current = currentTarget(
    { services: () => [PROD, LEARNED], discoversServices: false },
    plan,
  );
  // The stored tags and warehouse have no influence; kind, id and name stay.
  expect(current).toMatchObject({ ...target, name: 'old' });
  return { tags: current.tags, warehouse: current.warehouse };
}

test.for<[string, Partial<Target>, JsonObject, object]>([
  ['a configured service', {}, {}, { tags: ['prod', 'core'], warehouse: 'main' }],
  ['a service that was only learned', { id: 'l' }, {}, UNKNOWN],
  ['a service that is gone', { id: 'gone' }, {}, UNKNOWN],
  ['an alert', { kind: 'alert' }, {}, { tags: [], warehouse: null }],
  ['a new service', { kind: 'new service' }, { name: 'x' }, { tags: [], warehouse: null }],
  [
    'a new service in a warehouse of the configuration',
    { kind: 'new service' },
    { dataWarehouseId: 'MAIN' },
    { tags: ['prod', 'core'], warehouse: 'main' },
  ],
  [
    'a new service in a warehouse that the configuration does not have',
    { kind: 'new service' },
    { dataWarehouseId: 'other' },
    UNKNOWN,
  ],
  [
    'the freeze of a service',
    { kind: 'freeze' },
    { scope: { service: { id: 'p', name: 'analytics-prod' } } },
    { tags: ['prod', 'core'], warehouse: 'main' },
  ],
  [
    'the freeze of a service that is gone',
    { kind: 'freeze' },
    { scope: { service: { id: 'gone', name: 'gone' } } },
    UNKNOWN,
  ],
  [
    'the freeze of a warehouse that is gone',
    { kind: 'freeze' },
    { scope: { warehouse: 'gone' } },
    UNKNOWN,
  ],
  [
    'the freeze of a tag that no service has',
    { kind: 'freeze' },
    { scope: { tag: 'gone' } },
    { tags: ['gone'], warehouse: null },
  ],
  ['the freeze of everything', { kind: 'freeze' }, { scope: { everything: true } }, UNKNOWN],
])('tags and warehouse come from the current directory: %s', ([, target, body, expected]) => {
  expect(facts(target, body)).toEqual(expected);
});

const target: Target = { kind: 'service', id: 'p', name: 'a', tags: ['x', 'y'], warehouse: null };

test.for<[string, Partial<Target>, boolean]>([
  ['the order of the tags', { tags: ['y', 'x'] }, true],
  ['the name', { name: 'b' }, true],
  ['one more tag', { tags: ['x', 'y', 'z'] }, false],
  ['unknown tags', { tags: null }, false],
  ['the warehouse', { warehouse: 'main' }, false],
])('whether two targets are equal for the policy when they differ in %s', ([, over, same]) => {
  expect(hasSameFacts(target, { ...target, ...over })).toBe(same);
});
