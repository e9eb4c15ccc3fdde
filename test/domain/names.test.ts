import { expect, test } from 'vitest';
import { InstantTextSchema, parseConfig } from '../../src/base/problem.ts';
import { ChannelName, policyShape } from '../../src/domain/policy-schema.ts';
import { words } from './policy-fixtures.ts';

function rolesOf(content: object) {
  const reading = parseConfig(policyShape(words).roles, content);
  return reading.ok ? [...reading.value] : null;
}

test.for<[string, boolean]>([
  ['@db-leads', true],
  ['@büro_7.b', true],
  ['@7', true],
  ['S0614TZR7', true],
  ['@', false],
  ['@-leads', false],
  ['@db leads', false],
  ['x@db-leads', false],
  ['S061', false],
  ['s0614tzr7', false],
  ['S0614TZR7 x', false],
])('whether “%s” names a user group: %s', ([group, is]) => {
  expect(rolesOf({ viewer: { groups: [group] } })).toEqual(
    is ? [['viewer', { groups: [group], users: [] }]] : null,
  );
});

test.for<[string, boolean]>([
  ['U0ANA0001', true],
  ['W012', true],
  ['U0', false],
  ['B0ANA0001', false],
  ['xU0ANA0001', false],
  ['U0ANA0001 x', false],
  ['u0ana0001', false],
])('whether “%s” is a user id: %s', ([user, is]) => {
  expect(rolesOf({ viewer: { users: [user] } })).toEqual(
    is ? [['viewer', { groups: [], users: [user] }]] : null,
  );
});

test.for<[string, boolean]>([
  ['on-call2', true],
  ['2nd', false],
  ['Boss', false],
  ['the boss', false],
])('whether “%s” names a role: %s', ([role, is]) => {
  expect(rolesOf({ [role]: { users: ['U0ANA0001'] } }) !== null).toBe(is);
});

test.for<[string, boolean]>([
  ['#db-approvals', true],
  ['#büro_7', true],
  [`#${'x'.repeat(80)}`, true],
  ['C0123ABCD', true],
  ['G0123', true],
  ['#', false],
  [`#${'x'.repeat(81)}`, false],
  ['#db approvals', false],
  ['x#db', false],
  ['D0123ABCD', false],
  ['C012', false],
  ['C0123ABCD x', false],
  ['c0123abcd', false],
])('whether “%s” names a channel: %s', ([channel, is]) => {
  expect(parseConfig(ChannelName, channel).ok).toBe(is);
});

test.for<[string | undefined, string]>([
  ['2026-12-24T00:00Z', '2026-12-24T00:00:00.000Z'],
  ['2026-12-24T00:00+01:00', '2026-12-23T23:00:00.000Z'],
  ['2026-12-24T00:00:30+01:00', '2026-12-23T23:00:30.000Z'],
  [undefined, 'is missing'],
  ['2026-12-24T00:00', 'must be a date and time with its zone'],
  ['2026-02-30T00:00Z', 'must be a date and time with its zone'],
])('the time %s is read as %s', ([text, is]) => {
  const reading = parseConfig(InstantTextSchema, text);
  expect(reading.ok ? reading.value.toISOString() : reading.problems[0]?.problem).toBe(is);
});
