import { type Trouble, tokenTrouble } from '../slack/token-errors.ts';
import { failed, type Line, warning } from './line.ts';
import { DidNotAnswer } from './with-timeout.ts';

function troubleOf(error: unknown): Trouble {
  if (!(error instanceof DidNotAnswer)) return tokenTrouble(error);
  const fix = 'look at the network, at a proxy, and at status.slack.com';
  return { says: `Slack ${error.message}`, fix, passing: false };
}

/** A question to Slack that brought no answer. */
export function slackLine(name: string, error: unknown): Line {
  const { says, fix, passing } = troubleOf(error);
  return passing ? warning(name, says, fix) : failed(name, says, fix);
}
