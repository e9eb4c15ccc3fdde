import type { UserId } from '../../../src/domain/change.ts';
import { policyOf } from '../../domain/policy-fixtures.ts';
import { ALL_KINDS, type Kind } from './commands.ts';
import type { Members } from './slack.ts';

const user = (name: string) => name as UserId;
export const [ANA, FINN, BEN, CLEO, GUS, DORA] = [
  user('UANA'),
  user('UFINN'),
  user('UBEN'),
  user('UCLEO'),
  user('UGUS'),
  user('UDORA'),
];
export const ALL_USERS = [ANA, FINN, BEN, CLEO, GUS, DORA];

export const MEMBERS: Members = {
  viewer: ALL_USERS,
  operator: [ANA, FINN],
  // Ana may decide about changes of others, but not about her own.
  approver: [BEN, CLEO, GUS, ANA],
};

/** The expected approvals, independent of the policy under test. */
export const NEEDS: Readonly<Record<Kind, number>> = {
  'service scale': 2,
  'service create': 1,
  'alert edit': 0,
  'service stop': 2,
};

/** The command that allows break-glass. */
export const BREAK_GLASS_KIND: Kind = 'service scale';

const FOREVER = { from: '2026-01-01T00:00:00Z', until: '2028-01-01T00:00:00Z', reason: 'a freeze' };

/** The policy of the simulation; while frozen, it allows nothing to run. */
export function policyWhen({ frozen }: { frozen: boolean }) {
  const rules = ALL_KINDS.map((kind) => ({
    allow: [kind],
    to: 'operator',
    ...(NEEDS[kind] > 0 ? { approvals: { from: 'approver', count: NEEDS[kind] } } : {}),
    expires: '4h',
    ...(kind === BREAK_GLASS_KIND ? { breakGlass: { to: 'approver' } } : {}),
  }));
  const allow = { allow: ['change allow'], to: 'operator', expires: '4h' };
  return policyOf([...rules, allow], frozen ? [FOREVER] : []);
}
