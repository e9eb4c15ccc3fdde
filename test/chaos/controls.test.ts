import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runControl } from './controls/control.ts';
import { CONTROLS } from './controls/defects.ts';
import { hookProblem, readSource, type SourceHook } from './processes/source-hook.ts';

/** A control whose code is rewritten gets a new hook; one whose behaviour is dropped gets a successor. */
const AT_LEAST = 34;
/** `npm run controls` runs all controls. These two, each with its scenario, show that the checks of the simulation work. */
const SAMPLE = [
  ['a refused request releases its target', 'the server rejects the request'],
  ['an unknown outcome is recorded as unknown', 'a creation gets an error'],
] as const;
const source = readSource();

test(`at least ${AT_LEAST} behaviours have a control, each a name of its own`, () => {
  const names = new Set(CONTROLS.map(({ behaviour }) => behaviour));
  expect(names.size).toBe(CONTROLS.length);
  expect(names.size).toBeGreaterThanOrEqual(AT_LEAST);
});

test.for(CONTROLS)('one place of the source has: $behaviour', (control) => {
  expect(hookProblem(control, source)).toBeNull();
});

test.for(CONTROLS)('a test exists for: $behaviour', ({ test }) => {
  expect(existsSync(test)).toBe(true);
});

const hook = (find: RegExp, put = ''): SourceHook => ({ find, put });

test.for<[string, SourceHook, string]>([
  ['no place', hook(/frozen!/), 'has 0 places in src'],
  ['two places', hook(/await/), 'has 2 places in src'],
  ['no effect', hook(/freeze/, 'freeze'), 'does not change the text'],
])('a hook with %s is refused', ([, unusable, problem]) => {
  const files = ['await freeze;', 'await it;'].map((text) => ({ path: text, text }));
  expect(hookProblem(unusable, files)).toContain(problem);
});

test('a control without a place in the source, or without tests, runs nothing', async () => {
  const [control] = CONTROLS;
  if (!control) throw new Error('There are no controls');
  const { verdict } = await runControl({ ...control, find: /no such text/ });
  expect(verdict).toBe('no hook');
  expect(await runControl({ ...control, test: 'test/missing.test.ts' })).toEqual({
    verdict: 'no hook',
    messages: 'test/missing.test.ts does not exist',
  });
});

test.for(SAMPLE)('the tests find the mistake against: %s', async ([behaviour, scenario]) => {
  const control = CONTROLS.find((each) => each.behaviour === behaviour);
  if (!control) throw new Error(`No control is named “${behaviour}”`);
  const { verdict, messages } = await runControl(control, scenario);
  expect(verdict, messages).toBe('found');
});
