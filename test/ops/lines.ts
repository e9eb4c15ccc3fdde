import { expect } from 'vitest';
import type { CheckLine } from '../../src/ops/doctor-report.ts';

/** The line of that name; the one that is not well where there are several. */
export function line(lines: readonly CheckLine[], name: string): CheckLine | undefined {
  const named = lines.filter((one) => one.name === name);
  return named.find(({ status }) => status !== 'ok') ?? named[0];
}

export function namesOf(
  lines: readonly CheckLine[],
  status: CheckLine['status'],
): readonly string[] {
  return lines.filter((one) => one.status === status).map(({ name }) => name);
}

/** What a line is expected to be: its status, words of what it says, and of the next step. */
export type ExpectedLine = readonly [status: string, says: string | RegExp, fix?: string];

/** Expects a line of this status whose texts contain these words. */
export function expectLine(
  lines: readonly CheckLine[],
  name: string,
  [status, says, fix]: ExpectedLine,
): void {
  const found = line(lines, name);
  expect(found).toMatchObject({
    status,
    says: typeof says === 'string' ? expect.stringContaining(says) : expect.stringMatching(says),
  });
  if (fix) expect(found?.fix).toContain(fix);
}
