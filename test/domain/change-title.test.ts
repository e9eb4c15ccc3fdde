import { expect, test } from 'vitest';
import { type Change, changeTitle } from '../../src/domain/change.ts';

test.for<[string, Change['plan']['target']['kind'], string, string]>([
  ['service stop', 'service', 'analytics-prod', 'Stop analytics-prod'],
  ['service create', 'new service', 'analytics eu', 'Create service analytics eu'],
  ['endpoint create', 'service', 'analytics-prod', 'Create endpoint for analytics-prod'],
  ['alert edit', 'alert', '5xx rate', 'Edit alert "5xx rate"'],
  ['service schedule', 'schedule', 'analytics-prod', 'Schedule analytics-prod'],
  ['service schedule pause', 'schedule', 'analytics-prod', 'Pause schedule of analytics-prod'],
  ['change freeze', 'freeze', 'everything tagged prod', 'Freeze everything tagged prod'],
])('`%s` of a %s has one title everywhere', ([command, kind, name, title]) => {
  const target = { kind, id: 'x', name, tags: [], warehouse: null };
  const plan = { target } as unknown as Change['plan'];
  expect(changeTitle({ command, plan })).toBe(title);
});
