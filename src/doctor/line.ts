/** `skipped`: it could not be looked at, and `says` tells why. */
export type Status = 'ok' | 'warning' | 'failed' | 'skipped';

/** One thing that was looked at, in a sentence that reads on from its name. */
export interface CheckLine {
  readonly status: Status;
  readonly name: string;
  readonly says: string;
  /** What to do about it, exactly; null where there is nothing to do. */
  readonly fix: string | null;
}

export interface CheckSection {
  readonly title: string;
  readonly lines: readonly CheckLine[];
}

export function ok(name: string, says: string): CheckLine {
  return { status: 'ok', name, says, fix: null };
}

export function warning(name: string, says: string, fix: string): CheckLine {
  return { status: 'warning', name, says, fix };
}

export function failed(name: string, says: string, fix: string): CheckLine {
  return { status: 'failed', name, says, fix };
}

export function skipped(name: string, says: string, fix: string | null = null): CheckLine {
  return { status: 'skipped', name, says, fix };
}

export function countText(count: number, one: string, many = `${one}s`): string {
  return `${count === 0 ? 'no' : count} ${count === 1 ? one : many}`;
}
