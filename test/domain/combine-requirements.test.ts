import { expect, test } from 'vitest';
import { combineRequirements, coversRequirement } from '../../src/domain/approvals.ts';
import type { Requirement } from '../../src/domain/change.ts';
import { REQUIRES } from './changes-fixtures.ts';

const one: Requirement = { ...REQUIRES, count: 1 };
const none: Requirement = { ...REQUIRES, from: null, count: 0 };
const later = { to: 'director', afterMs: 3_600_000 };

const escalating = (over: Partial<typeof later>) => ({ ...one, escalation: { ...later, ...over } });
const NO_ESCALATION = { escalation: null };
const urgent = { ...one, breakGlass: 'oncall' };

test.for<[string, Requirement, Requirement, Partial<Requirement> | null]>([
  ['nobody has to approve either', none, none, { from: null, count: 0 }],
  ['only the way there needs one', one, none, { from: 'approver', count: 1 }],
  ['only the way back needs one', none, one, { from: 'approver', count: 1, rule: 2 }],
  ['the way back needs more', one, REQUIRES, { count: 2 }],
  ['the way there needs more', REQUIRES, one, { count: 2 }],
  ['others approve the way back', one, { ...one, from: 'director' }, null],
  ['only one lets a requester approve', { ...one, self: true }, one, { self: false }],
  ['both let a requester approve', { ...one, self: true }, { ...one, self: true }, { self: true }],
  ['only one calls a second role', escalating({}), one, { escalation: null }],
  ['both escalate', escalating({}), escalating({}), { escalation: later }],
  ['they wait for it differently', escalating({}), escalating({ afterMs: 1 }), NO_ESCALATION],
  ['they escalate elsewhere', escalating({}), escalating({ to: 'owner' }), NO_ESCALATION],
  ['only one knows an emergency', urgent, one, { breakGlass: null }],
  ['both have the same break-glass role', urgent, { ...none, ...urgent }, { breakGlass: 'oncall' }],
])('the combined requirement of a change and its revert when %s', ([, there, back, expected]) => {
  const both = combineRequirements(there, back);
  if (expected === null) expect(both).toBeNull();
  else expect(both).toMatchObject(expected);
});

test.for<[string, Requirement, Requirement, boolean]>([
  ['nothing has to be approved', none, none, true],
  ['the second one needs no approval', one, none, true],
  ['the first one needs no approval', none, one, false],
  ['both need the same', one, { ...one }, true],
  ['the first one needs more approvals', REQUIRES, one, true],
  ['the second one needs more approvals', one, REQUIRES, false],
  ['the approvers differ', one, { ...one, from: 'director' }, false],
  ['only the first one lets the requester approve', { ...one, self: true }, one, false],
  ['only the second one lets the requester approve', one, { ...one, self: true }, true],
  ['only the first one escalates', escalating({}), one, false],
  ['only the second one escalates', one, escalating({}), true],
])('whether one requirement covers another: %s', ([, first, second, is]) => {
  expect(coversRequirement(first, second)).toBe(is);
});
