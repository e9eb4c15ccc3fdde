import type { Secret } from '../base/errors.ts';
import type { Config, ConfigProblem } from './load-config.ts';

/** The changed settings that need a restart, as problems of a reload. */
export function fixedUntilRestart(before: Config, after: Config): readonly ConfigProblem[] {
  const isOther = (one: Secret | null, other: Secret | null) => one?.reveal() !== other?.reveal();
  const settings: readonly (readonly [string, boolean])[] = [
    ['DATABASE_URL', isOther(before.databaseUrl, after.databaseUrl)],
    ['DATABASE_POOL_SIZE', before.databasePoolSize !== after.databasePoolSize],
    ['SIGNALBOX_KEY', isOther(before.key, after.key)],
    ['SIGNALBOX_PREVIOUS_KEYS', keyTexts(before.previousKeys) !== keyTexts(after.previousKeys)],
    ['PORT', before.port !== after.port],
    ['OPS_PORT', before.opsPort !== after.opsPort],
    ['BIND_ADDRESS', before.bindAddress !== after.bindAddress],
    ['SLACK_APP_TOKEN', isOther(before.slack.appToken, after.slack.appToken)],
    ['SLACK_SIGNING_SECRET', isOther(before.slack.signingSecret, after.slack.signingSecret)],
  ];
  return settings.flatMap(([where, isChanged]) =>
    isChanged ? [{ where, problem: 'cannot change at runtime', hint: 'restart Signalbox' }] : [],
  );
}

function keyTexts(keys: readonly Secret[]): string {
  return keys.map((key) => key.reveal()).join();
}
