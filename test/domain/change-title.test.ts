import { expect, test } from 'vitest';
import { type Change, changeSubject, changeTitle } from '../../src/domain/change.ts';

test.for<[string, Change['plan']['target']['kind'], string, string, string]>([
  ['service stop', 'service', 'prod', 'Stop prod', 'prod'],
  ['service create', 'new service', 'eu', 'Create service eu', 'Service eu'],
  ['endpoint create', 'service', 'prod', 'Create endpoint for prod', 'Endpoint for prod'],
  ['alert edit', 'alert', '5xx rate', 'Edit alert "5xx rate"', 'Alert "5xx rate"'],
  ['service schedule', 'schedule', 'prod', 'Schedule prod', 'prod'],
  ['service schedule pause', 'schedule', 'p', 'Pause schedule of p', 'Schedule of p'],
  ['change freeze', 'freeze', 'everything', 'Freeze everything', 'everything'],
  ['change allow', 'standing approval', 'stop of x', 'Allow stop of x', 'Stop of x'],
])(
  '`%s` of a %s has one title and one subject everywhere',
  ([command, kind, name, ...expected]) => {
    const target = { kind, id: 'x', name, tags: [], warehouse: null };
    const plan = { target } as unknown as Change['plan'];
    expect([changeTitle({ command, plan }), changeSubject({ command, plan })]).toEqual(expected);
  },
);
