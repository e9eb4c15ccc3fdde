import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CONTROLS } from '../chaos/controls/defects.ts';
import { KILL_POINTS, SHORTER_PAUSES } from '../chaos/processes/kill-points.ts';
import { hookProblem, readSource } from '../chaos/processes/source-hook.ts';

test('each control, kill point and shorter pause has its place in the source', () => {
  const source = readSource();
  const hooks = [...CONTROLS, ...KILL_POINTS, SHORTER_PAUSES];
  expect(hooks.flatMap((hook) => hookProblem(hook, source) ?? [])).toEqual([]);
});

test('CONTRIBUTING.md and the reliability page name the number of controls', () => {
  const all = CONTROLS.length;
  expect(readFileSync('CONTRIBUTING.md', 'utf8')).toContain(`${all} known defects`);
  expect(readFileSync('docs/reliability.md', 'utf8')).toContain(`${all} of ${all} found`);
});
