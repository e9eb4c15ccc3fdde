import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { DEFECTS, HARMLESS } from '../chaos/controls/defects.ts';
import { matchesOf } from '../chaos/controls/seed-defect.ts';
import { HOOK_POINTS } from '../chaos/processes/hook-points.ts';

test.for([...DEFECTS, ...HARMLESS])('the seeded defect “$name” matches its file once', (defect) => {
  const source = readFileSync(defect.file, 'utf8');
  expect(matchesOf(defect, source)).toBe(1);
  expect(source.replace(defect.find, defect.put)).not.toBe(source);
});

test.for(HOOK_POINTS)('the hook point $find matches $file once', (point) => {
  expect(matchesOf(point, readFileSync(point.file, 'utf8'))).toBe(1);
});

test('CONTRIBUTING.md and the reliability page name the number of seeded defects', () => {
  expect(readFileSync('CONTRIBUTING.md', 'utf8')).toContain(`${DEFECTS.length} known defects`);
  expect(readFileSync('docs/reliability.md', 'utf8')).toContain(
    `${DEFECTS.length} of ${DEFECTS.length} found; ${HARMLESS.length} more`,
  );
});
