import { expect, test } from 'vitest';
import { control } from './controls/control.ts';
import { DEFECTS } from './controls/defects.ts';

/** `npm run controls` runs all defects. These two, which are found soon, show that the checks of the simulation work. */
const SAMPLE = [
  'some approvals are missing from the audit trail',
  'an unknown outcome is recorded as a failure',
];

test.for(DEFECTS.filter(({ name }) => SAMPLE.includes(name)))(
  'the tests find the defect: $name',
  { timeout: 120_000 },
  async (defect) => {
    const { failed, messages } = await control(defect);
    expect(failed).toBeGreaterThan(0);
    expect(messages).toMatch(defect.reports);
  },
);
