import { TimeoutError } from '../base/errors.ts';
import { tokenProblem } from '../slack/api.ts';

/** `skipped`: the check was not possible; `says` has the reason. */
export type Status = 'ok' | 'warning' | 'failed' | 'skipped';

/** The result of one check; `says` continues the name as a sentence. */
export interface CheckLine {
  readonly status: Status;
  readonly name: string;
  readonly says: string;
  /** The exact next step; null without one. */
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

/** The line for a failed or late call of Slack. */
export function slackLine(name: string, error: unknown): CheckLine {
  if (error instanceof TimeoutError) {
    const fix = 'check the network, a proxy, and status.slack.com';
    return failed(name, `Slack ${error.message}`, fix);
  }
  const { says, fix, passing } = tokenProblem(error);
  return passing ? warning(name, says, fix) : failed(name, says, fix);
}
