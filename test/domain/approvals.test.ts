import { expect, test } from 'vitest';
import { approvalStatus } from '../../src/domain/approvals.ts';
import type { Requirement, RoleName } from '../../src/domain/change.ts';
import { NOON, REQUIRES } from './changes-fixtures.ts';
import { user } from './policy-fixtures.ts';

const TWO: Requirement = { ...REQUIRES, reason: false, channel: null };

const CHIEF = { escalation: { to: 'chief', afterMs: 0 } };
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
  ['one is unknown', ['UBEN', 'UUNCLEAR'], {}, { counted: ['UBEN'], unknown: ['UUNCLEAR'] }],
  ['enough are known', ['UBEN', 'UCLEO', 'UUNCLEAR'], {}, { met: true, unknown: ['UUNCLEAR'] }],
  ['the requester is among them', ['UANA', 'UBEN'], {}, { met: false, counted: ['UBEN'] }],
  ['the rule lets the requester count', ['UANA', 'UBEN'], { self: true }, { met: true }],
  ['the same person is stored twice', ['UBEN', 'UBEN'], {}, { met: false, counted: ['UBEN'] }],
  ['one more than needed approved', ['UBEN', 'UCLEO', 'UANA'], { self: true }, { missing: 0 }],
  ['the rule asks for nobody', [], { from: null, count: 0 }, { met: true, missing: 0 }],
  ['the rule has no role', ['UBEN', 'UCLEO'], { from: null }, { met: false, missing: 2 }],
  ['it has none for them', ['UUNCLEAR'], { from: null }, { counted: [], missing: 2, unknown: [] }],
  ['the escalation role joined', ['UBEN', 'UGUS'], CHIEF, { met: true, counted: ['UBEN', 'UGUS'] }],
  ['today more are asked for', ['UBEN', 'UCLEO'], { count: 3 }, { met: false, missing: 1 }],
  ['today others are asked for', ['UBEN', 'UCLEO'], { from: 'boss' }, { met: false, missing: 2 }],
])('approvals are counted when %s', ([, approvers, requires, expected]) => {
  expect(stand(approvers, { ...TWO, ...requires })).toMatchObject(expected);
});
