import type { Line } from '../../src/doctor/line.ts';

/** The line of that name; the one that is not well where there are several. */
export function line(lines: readonly Line[], name: string): Line | undefined {
  const named = lines.filter((one) => one.name === name);
  return named.find(({ status }) => status !== 'ok') ?? named[0];
}

export function namesOf(lines: readonly Line[], status: Line['status']): readonly string[] {
  return lines.filter((one) => one.status === status).map(({ name }) => name);
}
