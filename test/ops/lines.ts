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
