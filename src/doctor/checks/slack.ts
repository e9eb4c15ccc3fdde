import type { TimedResult } from '../../base/errors.ts';
import {
  appTokenProblem,
  foreignAppToken,
  isLastingRefusal,
  REINSTALL_WITH_SCOPES,
} from '../../slack/api.ts';
import { manifestOf } from '../../slack/manifest.ts';
import type { AppIdentity, PersonFacts } from '../../slack/slack-checks.ts';
import type { CheckContext } from '../check-context.ts';
import { type CheckLine, countText, failed, ok, skipped, slackLine, warning } from '../line.ts';
import { manifestLine } from './manifest.ts';

const SKEW_MS = 5_000;
const SKEW_MAX_MS = 60_000;
const MESSAGE_SCOPES = ['im:history', 'app_mentions:read'];

interface SlackResults {
  readonly self: TimedResult<AppIdentity>;
  readonly people: TimedResult<readonly PersonFacts[]>;
  readonly connection: TimedResult<void> | null;
}

export function slackLines(
  context: CheckContext,
  { self, people, connection }: SlackResults,
): readonly CheckLine[] {
  const manifest = expectedManifest(context);
  const own = manifestLine(context.manifest, manifest);
  if (!self.ok)
    return [slackLine('bot token', self.error), connectionLine(context, connection, null), own];
  const { workspace, botName, appId } = self.value;
  const { scopes } = manifest.oauth_config;
  return [
    ok('bot token', `for ${botName} (app ${appId ?? 'unknown'}) in the workspace ${workspace}`),
    ...scopeLines(self.value.scopes ?? [], scopes),
    connectionLine(context, connection, appId),
    clockLine(self.value.aheadMs),
    namesakeLine(self.value, people),
    own,
  ];
}

function expectedManifest({ config, commands, nouns }: CheckContext) {
  return manifestOf({ commands, nouns, prefix: config.slack.commandPrefix, url: null });
}

interface Scopes {
  readonly bot: readonly string[];
  readonly bot_optional: readonly string[];
}

function scopeLines(
  granted: readonly string[],
  { bot, bot_optional }: Scopes,
): readonly CheckLine[] {
  const missing = bot.filter((scope) => !granted.includes(scope));
  const needed = missing.filter((scope) => !bot_optional.includes(scope));
  const others = granted.filter((scope) => !bot.includes(scope));
  const lines: CheckLine[] = [];
  if (needed.length > 0) {
    lines.push(failed('scopes', `${needed.join(', ')}: not granted`, REINSTALL_WITH_SCOPES));
  }
  const optional = missing.filter((scope) => bot_optional.includes(scope));
  if (optional.length > 0) {
    const lost = optional.some((scope) => MESSAGE_SCOPES.includes(scope))
      ? 'messages to the app get no answer'
      : 'a lost Slack answer can duplicate a card';
    const says = `${optional.join(', ')}: not granted, so ${lost}`;
    lines.push(warning('scopes', says, `if this is not intended: ${REINSTALL_WITH_SCOPES}`));
  }
  if (others.length > 0) {
    const fix =
      'remove them under OAuth & Permissions, unless something else uses this app, and reinstall';
    lines.push(warning('scopes', `${others.join(', ')}: granted, but not needed`, fix));
  }
  if (lines.length > 0) return lines;
  return [ok('scopes', `exactly the ${bot.length} scopes of the manifest are granted`)];
}

function connectionLine(
  { config }: CheckContext,
  connection: TimedResult<void> | null,
  appId: string | null,
): CheckLine {
  const { appToken } = config.slack;
  if (appToken === null || connection === null) {
    return ok('delivery', 'HTTP, with SLACK_SIGNING_SECRET');
  }
  const foreign = appId === null ? null : foreignAppToken(appToken, appId);
  if (foreign) return failed('delivery', foreign.problem, foreign.hint);
  if (connection.ok) return ok('delivery', 'Socket Mode: Slack accepts a connection');
  const line = slackLine('delivery', connection.error);
  const { error } = connection;
  return isLastingRefusal(error) ? { ...line, fix: appTokenProblem(error).fix } : line;
}

function clockLine(aheadMs: number | null): CheckLine {
  if (aheadMs === null) return skipped('clock', 'Slack sent no time');
  const seconds = Math.round(Math.abs(aheadMs) / 1_000);
  if (Math.abs(aheadMs) <= SKEW_MS) return ok('clock', 'agrees with Slack');
  const says = `${countText(seconds, 'second')} ${aheadMs > 0 ? 'ahead of' : 'behind'} Slack`;
  const fix = 'switch on NTP on this machine; Slack signatures are valid for five minutes';
  return (Math.abs(aheadMs) > SKEW_MAX_MS ? failed : warning)('clock', says, fix);
}

function namesakeLine(self: AppIdentity, people: TimedResult<readonly PersonFacts[]>): CheckLine {
  const name = 'same name';
  if (!people.ok) return slackLine(name, people.error);
  const bots = people.value.filter(({ isBot, gone }) => isBot && !gone);
  const own = bots.find(({ id }) => id === self.botUserId)?.names ?? [];
  const names = new Set([self.botName, ...own].map((each) => each.toLowerCase()));
  const twins = bots.filter(
    (bot) => bot.id !== self.botUserId && bot.names.some((each) => names.has(each.toLowerCase())),
  );
  if (twins.length === 0) return ok(name, `no other app is called ${self.botName}`);
  const says = `another app has the name ${self.botName} as well (${twins.map(({ id }) => id).join(', ')})`;
  const which = `this token belongs to ${self.botUserId}, app ${self.appId ?? 'unknown'}`;
  return warning(name, says, `${which}: invite this one, and remove or rename the other`);
}

export function manualSlackChecks(overHttp: boolean): readonly CheckLine[] {
  const requestUrl = skipped(
    'request URL',
    'Slack does not report whether it has verified the request URL',
    'while Signalbox runs, open Event Subscriptions at api.slack.com/apps and choose Retry',
  );
  return [
    ...(overHttp ? [requestUrl] : []),
    skipped(
      'commands',
      'Slack does not report the slash commands of an app',
      'compare App Manifest at api.slack.com/apps with manifest.json, paste it and reinstall',
    ),
  ];
}
