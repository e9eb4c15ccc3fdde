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

/** Expects a line of this status whose texts contain these words. */
export function expectLine(
  lines: readonly CheckLine[],
  name: string,
  [status, says, fix]: readonly [status: string, says: string, fix?: string],
): void {
  const told = { says: expect.stringContaining(says), fix: expect.stringContaining(fix ?? '') };
  expect(line(lines, name)).toMatchObject({
    status,
    says: told.says,
    ...(fix && { fix: told.fix }),
  });
}
