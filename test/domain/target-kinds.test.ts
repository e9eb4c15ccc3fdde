import { expect, test } from 'vitest';
import type { TargetKind } from '../../src/domain/change.ts';
import { TARGET_TRAITS } from '../../src/domain/change.ts';

// Whether the target exists, has costs, affects costs, can be frozen, and is a scope.
test.for<[TargetKind, string, string | null, string, string | null, string]>([
  [
    'service',
    'Service',
    'service',
    'server',
    'services',
    'exists, hasCosts, affectsCosts, canBeFrozen',
  ],
  ['alert', 'Alert', null, 'server', 'alerts', 'exists, canBeFrozen'],
  ['new service', 'Service', null, 'server', null, 'affectsCosts, canBeFrozen'],
  ['freeze', 'Scope', 'change', 'signalbox', null, 'affectsCosts, isScope'],
  ['schedule', 'Service', 'service', 'signalbox', null, ''],
])(
  'a target of the kind “%s” has its traits',
  ([kind, label, impliedNoun, appliedBy, listedIn, is]) => {
    const traits = TARGET_TRAITS[kind];
    expect(traits).toMatchObject({ label, impliedNoun, appliedBy, listedIn });
    const held = Object.entries(traits).filter(([, value]) => value === true);
    expect(held.map(([trait]) => trait).join(', ')).toBe(is);
  },
);
