import { expect, test } from 'vitest';
import { TARGET_TRAITS } from '../../src/domain/change.ts';

test.for([
  ['service', 'Service', 'service', 'server', 'services'],
  ['alert', 'Alert', null, 'server', 'alerts'],
  ['new service', 'Service', null, 'server', null],
  ['freeze', 'Scope', 'change', 'signalbox', null],
  ['schedule', 'Service', 'service', 'signalbox', null],
] as const)(
  'a target of the kind “%s” has its traits',
  ([kind, label, impliedNoun, appliedBy, listedIn]) => {
    expect(TARGET_TRAITS[kind]).toEqual({ label, impliedNoun, appliedBy, listedIn });
  },
);
