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
  ana: ['operator', 'approver'],
  ben: ['approver'],
  cleo: ['approver'],
  gus: ['chief'],
  left: [],
  unclear: null,
};

function stand(approvers: readonly string[], requires: Requirement = TWO) {
  const approvals = approvers.map((name) => ({ by: user(name), at: NOON }));
  const change = { requester: user('ana'), approvals, confirmedAt: NOON };
  return approvalStatus(requires, change, (who) => TODAY[who] ?? null);
}

test.for<[string, readonly string[], Partial<Requirement>, object]>([
  ['two approvers approved', ['ben', 'cleo'], {}, { met: true, missing: 0 }],
  ['one of two is missing', ['ben'], {}, { met: false, counted: ['ben'], missing: 1 }],
  ['one has left the group since', ['ben', 'left'], {}, { met: false, counted: ['ben'] }],
  [
    'the roles of one approver are unknown',
    ['ben', 'unclear'],
    {},
    { met: false, counted: ['ben'], missing: 1, unknown: ['unclear'] },
  ],
  [
    'enough other approvers are known',
    ['ben', 'cleo', 'unclear'],
    {},
    { met: true, unknown: ['unclear'] },
  ],
  ['the requester is among them', ['ana', 'ben'], {}, { met: false, counted: ['ben'] }],
  ['the rule lets the requester count', ['ana', 'ben'], { self: true }, { met: true }],
  ['the same person is stored twice', ['ben', 'ben'], {}, { met: false, counted: ['ben'] }],
  ['one more than needed approved', ['ben', 'cleo', 'ana'], { self: true }, { missing: 0 }],
  ['the rule asks for nobody', [], { from: null, count: 0 }, { met: true, missing: 0 }],
  [
    'the rule needs an approval, but has no role',
    ['ben', 'cleo'],
    { from: null },
    { met: false, counted: [], missing: 2 },
  ],
  [
    'the rule has no role, and the roles of one approver are unknown',
    ['unclear'],
    { from: null },
    { counted: [], missing: 2, unknown: [] },
  ],
  [
    'the escalation role has joined, and one of each role approved',
    ['ben', 'gus'],
    { escalation: { to: 'chief', afterMs: 0 } },
    { met: true, counted: ['ben', 'gus'] },
  ],
  ['today more are asked for', ['ben', 'cleo'], { count: 3 }, { met: false, missing: 1 }],
  ['today others are asked for', ['ben', 'cleo'], { from: 'boss' }, { met: false, missing: 2 }],
])('approvals are counted when %s', ([, approvers, requires, expected]) => {
  expect(stand(approvers, { ...TWO, ...requires })).toMatchObject(expected);
});
