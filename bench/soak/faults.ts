import type { RandomSource } from '../../sandbox/api/random.ts';
import type { SlackFaultKind } from '../../sandbox/slack/web-api/faults.ts';
import type { SoakSandbox } from './soak-sandbox.ts';

const API_FAULTS = [
  ...['500', '502-after-effect', 'reset', 'reset-after-effect', 'hang'],
  ...['429-retry-after', 'truncated-json'],
];
const SLACK_FAULTS: readonly SlackFaultKind[] = [
  'rate-limited',
  'server-error',
  'html',
  'reply-lost',
];
// What the bot does by itself; that a form cannot open while Slack is ill is no doing of ours.
const SLACK_METHODS = ['chat.postMessage', 'chat.update', 'users.info', 'usergroups.users.list'];
const CLOUD = ['set state', 'scale', 'usage cost', 'backup', 'pipe settings'];
const ALERTS = ['list alerts', 'get alert'];

export const oneOf = <T>(chance: RandomSource, all: readonly T[]): T => {
  const one = all[Math.floor(chance() * all.length)];
  if (one === undefined) throw new Error('There is nothing to choose from');
  return one;
};

/** Lets one call that comes next go wrong: of Slack's, or of one of the two APIs. */
export function befall({ slack, cloud, alerts }: SoakSandbox, chance: RandomSource): void {
  const which = chance();
  if (which < 0.3) {
    const method = oneOf(chance, SLACK_METHODS);
    slack.failNext({ method, times: 1, how: oneOf(chance, SLACK_FAULTS) });
    return;
  }
  const [api, operations] = which < 0.8 ? [cloud, CLOUD] : [alerts, ALERTS];
  const operation = oneOf(chance, operations);
  if (api.activeFaults().some((waiting) => waiting.operation === operation)) return;
  const arming = { operation, fault: oneOf(chance, API_FAULTS), times: 1 };
  if (api.faultProblem(arming) === null) api.injectFault(arming);
}
