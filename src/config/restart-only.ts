import type { Secret } from '../errors.ts';
import type { Config, ConfigProblem } from './load-config.ts';

/** What a running process stands on: it is not changed under its feet. */
export function fixedUntilRestart(before: Config, after: Config): readonly ConfigProblem[] {
  const isOther = (one: Secret | null, other: Secret | null) => one?.reveal() !== other?.reveal();
  const moved: readonly (readonly [string, boolean])[] = [
    ['DATABASE_URL', isOther(before.databaseUrl, after.databaseUrl)],
    ['SIGNALBOX_KEY', isOther(before.key, after.key)],
    ['PORT', before.port !== after.port],
    ['SLACK_APP_TOKEN', isOther(before.slack.appToken, after.slack.appToken)],
    ['SLACK_SIGNING_SECRET', isOther(before.slack.signingSecret, after.slack.signingSecret)],
  ];
  return moved.flatMap(([where, hasMoved]) =>
    hasMoved ? [{ where, problem: 'cannot change while it runs', hint: 'restart it' }] : [],
  );
}
