import { expect, test } from 'vitest';
import { approvalStatus } from '../../src/domain/approvals.ts';
import type { Requirement, RoleName } from '../../src/domain/change.ts';
import { NOON, user } from './policy-fixtures.ts';

const TWO: Requirement = {
  rule: 1,
  to: 'operator',
  from: 'approver',
  count: 2,
  self: false,
  reason: false,
  expiresAfterMs: 3_600_000,
  channel: null,
  escalation: null,
  breakGlass: null,
};

const TODAY: Readonly<Record<string, readonly RoleName[] | null>> = {
  UANA: ['operator', 'approver'],
  UBEN: ['approver'],
  UCLEO: ['approver'],
  UGUS: ['chief'],
  ULEFT: [],
  UUNCLEAR: null,
};

function stand(approvers: readonly string[], requires: Requirement = TWO) {
  const approvals = approvers.map((name) => ({ by: user(name), at: NOON }));
  const change = { requester: user('UANA'), approvals, confirmedAt: NOON };
  return approvalStatus(requires, change, (who) => TODAY[who] ?? null);
}

test.for<[string, readonly string[], Partial<Requirement>, object]>([
  ['two approvers approved', ['UBEN', 'UCLEO'], {}, { met: true, missing: 0 }],
  ['one of two is missing', ['UBEN'], {}, { met: false, counted: ['UBEN'], missing: 1 }],
  ['one has left the group since', ['UBEN', 'ULEFT'], {}, { met: false, counted: ['UBEN'] }],
  [
    'the roles of one approver are unknown',
    ['UBEN', 'UUNCLEAR'],
    {},
    { met: false, counted: ['UBEN'], missing: 1, unknown: ['UUNCLEAR'] },
  ],
  [
    'enough other approvers are known',
    ['UBEN', 'UCLEO', 'UUNCLEAR'],
    {},
    { met: true, unknown: ['UUNCLEAR'] },
  ],
  ['the requester is among them', ['UANA', 'UBEN'], {}, { met: false, counted: ['UBEN'] }],
  ['the rule lets the requester count', ['UANA', 'UBEN'], { self: true }, { met: true }],
  ['the same person is stored twice', ['UBEN', 'UBEN'], {}, { met: false, counted: ['UBEN'] }],
  ['one more than needed approved', ['UBEN', 'UCLEO', 'UANA'], { self: true }, { missing: 0 }],
  ['the rule asks for nobody', [], { from: null, count: 0 }, { met: true, missing: 0 }],
  [
    'the rule needs an approval, but has no role',
    ['UBEN', 'UCLEO'],
    { from: null },
    { met: false, counted: [], missing: 2 },
  ],
  [
    'the rule has no role, and the roles of one approver are unknown',
    ['UUNCLEAR'],
    { from: null },
    { counted: [], missing: 2, unknown: [] },
  ],
  [
    'the escalation role has joined, and one of each role approved',
    ['UBEN', 'UGUS'],
    { escalation: { to: 'chief', afterMs: 0 } },
    { met: true, counted: ['UBEN', 'UGUS'] },
  ],
  ['today more are asked for', ['UBEN', 'UCLEO'], { count: 3 }, { met: false, missing: 1 }],
  ['today others are asked for', ['UBEN', 'UCLEO'], { from: 'boss' }, { met: false, missing: 2 }],
])('approvals are counted when %s', ([, approvers, requires, expected]) => {
  expect(stand(approvers, { ...TWO, ...requires })).toMatchObject(expected);
});
