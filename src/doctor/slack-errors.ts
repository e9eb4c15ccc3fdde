import { type TokenProblem, tokenProblem } from '../slack/token-errors.ts';
import { type CheckLine, failed, warning } from './line.ts';
import { TimeoutError } from './with-timeout.ts';

function troubleOf(error: unknown): TokenProblem {
  if (!(error instanceof TimeoutError)) return tokenProblem(error);
  const fix = 'look at the network, at a proxy, and at status.slack.com';
  return { says: `Slack ${error.message}`, fix, passing: false };
}

/** A question to Slack that brought no answer. */
export function slackLine(name: string, error: unknown): CheckLine {
  const { says, fix, passing } = troubleOf(error);
  return passing ? warning(name, says, fix) : failed(name, says, fix);
}
