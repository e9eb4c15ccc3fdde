import { expect, test } from 'vitest';
import { resolvingRoles } from '../../src/domain/approvals.ts';
import type { Evidence } from '../../src/domain/change.ts';
import { changeIn, minutes, PLAN, REQUIRES } from './changes-fixtures.ts';
import { settleByEvidence } from './gate-fixtures.ts';

const renamed = { ...REQUIRES, from: 'lead' };

test('the roles that resolve an unknown outcome are those of both rules, each once', () => {
  const free = { ...REQUIRES, from: null, count: 0 };
  expect(resolvingRoles({ requires: REQUIRES }, null)).toEqual(['approver']);
  expect(resolvingRoles({ requires: REQUIRES }, REQUIRES)).toEqual(['approver']);
  expect(resolvingRoles({ requires: REQUIRES }, renamed)).toEqual(['approver', 'lead']);
  expect(resolvingRoles({ requires: free }, renamed)).toEqual(['operator', 'lead']);
});

const SHOWN = { shown: 'stopped', shownAt: minutes(5) };
const EVIDENCE: Evidence = { ...SHOWN, before: 'running', beforeAt: minutes(1) };

test('a reading of the target settles an unknown outcome as succeeded', () => {
  const revert = { afterMs: 3_600_000, label: 'Start it again', line: 'service start' };
  const change = changeIn('unknown', { plan: { ...PLAN, timing: { startAt: null, revert } } });
  const by = { by: 'signalbox', at: minutes(6) };
  const resolution = { ...by, happened: true, note: 'The target shows it.', evidence: EVIDENCE };
  const marks = { hash: 'h2', shownBy: ['h2'], marks: [...change.marks, 'h2'], endedSeq: 2 };
  const version = change.version + 1;
  const settled = { state: 'succeeded', revertAt: minutes(62), resolution, version, ...marks };
  expect(settleByEvidence(change, EVIDENCE, minutes(6))).toEqual({
    ok: true,
    change: { ...change, ...settled },
  });
});
