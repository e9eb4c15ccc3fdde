import fc from 'fast-check';
import { expect, test } from 'vitest';
import { changeIdFrom, isChangeId, isEnded, STATES, targetKey } from '../../src/domain/change.ts';
import { changeIn, PLAN } from './changes-fixtures.ts';

test('any six bytes make a valid id', () => {
  const bytes = fc.uint8Array({ minLength: 6, maxLength: 12 });
  fc.assert(fc.property(bytes, (random) => isChangeId(changeIdFrom(random))));
});

test('ids use every letter and digit that looks unlike any other', () => {
  const all = Array.from({ length: 5 }, (_, row) =>
    changeIdFrom(Uint8Array.from({ length: 6 }, (_, column) => row * 6 + column)),
  );
  expect(all.join('')).toBe('23456789ABCDEFGHJKMNPQRSTVWXYZ');
});

test.for<[string, string]>([
  ['too short', 'K3M9Q'],
  ['too long', 'K3M9QDD'],
  ['in lower case', 'k3m9qd'],
  ['with a zero', 'K3M9Q0'],
  ['with a one', 'K3M9Q1'],
  ['with an I', 'K3M9QI'],
  ['with an L', 'K3M9QL'],
  ['with an O', 'K3M9QO'],
  ['with a U', 'K3M9QU'],
  ['with a line break', 'K3M9QD\n'],
  ['with a path', '../3M9'],
  ['empty', ''],
])('a text that is %s is no id', ([, text]) => {
  expect(isChangeId(text)).toBe(false);
});

test('a change has ended when no further move is possible', () => {
  const open = STATES.filter((state) => !isEnded(changeIn(state)));
  expect(open).toEqual(['draft', 'pending', 'approved', 'executing', 'unknown']);
});

test('targets of different kinds never share a lock', () => {
  const keys = (['service', 'alert', 'new service'] as const).map((kind) =>
    targetKey({ organization: 'acme', plan: { ...PLAN, target: { ...PLAN.target, kind } } }),
  );
  expect(new Set(keys).size).toBe(3);
  expect(keys[0]).toBe('acme/service/2f7c9d34-5f0e-4f0a-8f58-0f6f0b1c2d3e');
});
