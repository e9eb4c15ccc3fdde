import { expect, test } from 'vitest';
import { control } from './controls/control.ts';
import { DEFECTS } from './controls/defects.ts';

/** `npm run controls` runs all; here a few say that the judge still sees. */
const FEW = ['whoever presses may approve', 'what nobody knows is called a failure'];

test.for(DEFECTS.filter(({ name }) => FEW.includes(name)))(
  'the tests notice when $name',
  { timeout: 120_000 },
  async (defect) => {
    const { failed, said } = await control(defect);
    expect(failed).toBeGreaterThan(0);
    expect(said).toMatch(defect.says);
  },
);
