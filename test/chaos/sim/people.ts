import type { UserId } from '../../../src/changes/change.ts';
import { policyOf } from '../../policy/fixtures.ts';
import { KINDS, type Kind } from './commands.ts';
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
export const EVERYBODY = [ANA, FINN, BEN, CLEO, GUS, DORA];

export const MEMBERS: Members = {
  viewer: EVERYBODY,
  operator: [ANA, FINN],
  // Ana may decide on what others ask for, and never on what she asks for herself.
  approver: [BEN, CLEO, GUS, ANA],
};

/** How many approvals the judge expects; he does not ask the policy, which is under test. */
export const NEEDS: Readonly<Record<Kind, number>> = {
  'service scale': 2,
  'service create': 1,
  'alert edit': 0,
};

/** What one person may run alone in an emergency. */
export const GLASS: Kind = 'service scale';

const FOREVER = { from: '2026-01-01T00:00:00Z', until: '2028-01-01T00:00:00Z', reason: 'a freeze' };

/** The policy of the rehearsals; frozen, it lets nothing run. */
export function policyWhen({ frozen }: { frozen: boolean }) {
  const rules = KINDS.map((kind) => ({
    allow: [kind],
    to: 'operator',
    ...(NEEDS[kind] > 0 ? { approvals: { from: 'approver', count: NEEDS[kind] } } : {}),
    expires: '4h',
    ...(kind === GLASS ? { breakGlass: { to: 'approver' } } : {}),
  }));
  return policyOf(rules, frozen ? [FOREVER] : []);
}
