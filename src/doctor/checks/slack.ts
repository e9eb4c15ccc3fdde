import { manifestOf } from '../../slack/manifest.ts';
import type { PersonFacts, Self } from '../../slack/slack-checks.ts';
import type { CheckContext } from '../check-context.ts';
import { type CheckLine, countText, failed, ok, skipped, warning } from '../line.ts';
import { slackLine } from '../slack-errors.ts';
import type { TimedResult } from '../with-timeout.ts';
import { manifestLine } from './manifest.ts';

const SKEW_MS = 5_000;
const SKEW_MAX_MS = 60_000;
const REINSTALL =
  'add what is missing under OAuth & Permissions (or paste manifest.json under App Manifest), ' +
  'then Install App, Reinstall to Workspace: without that the token stays as it is';

interface Answers {
  readonly self: TimedResult<Self>;
  readonly people: TimedResult<readonly PersonFacts[]>;
  readonly wayIn: TimedResult<void> | null;
}

export function slackLines(
  patient: CheckContext,
  { self, people, wayIn }: Answers,
): readonly CheckLine[] {
  const manifest = wanted(patient);
  const own = manifestLine(patient.manifest, manifest);
  if (!self.ok) return [slackLine('bot token', self.error), wayInLine(patient, wayIn, null), own];
  const { workspace, botName, appId } = self.value;
  const { scopes } = manifest.oauth_config;
  return [
    ok('bot token', `of ${botName} (app ${appId ?? 'unknown'}) in the workspace ${workspace}`),
    ...scopeLines(self.value.scopes, scopes),
    wayInLine(patient, wayIn, appId),
    clockLine(self.value.aheadMs),
    namesakeLine(self.value, people),
    own,
  ];
}

function wanted({ config, commands, nouns }: CheckContext) {
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
    lines.push(failed('scopes', `${needed.join(', ')}: not granted to this token`, REINSTALL));
  }
  const spared = missing.filter((scope) => bot_optional.includes(scope));
  if (spared.length > 0) {
    const says = `${spared.join(', ')}: left out, so after a lost answer a card may stand twice`;
    lines.push(warning('scopes', says, `if that is not meant: ${REINSTALL}`));
  }
  if (others.length > 0) {
    const fix = 'take it out under OAuth & Permissions, if nothing else uses this app; reinstall';
    lines.push(warning('scopes', `${others.join(', ')}: granted, and not needed`, fix));
  }
  if (lines.length > 0) return lines;
  return [ok('scopes', `all ${bot.length} of the manifest are granted, and no others`)];
}

function wayInLine(
  { config }: CheckContext,
  wayIn: TimedResult<void> | null,
  appId: string | null,
): CheckLine {
  const { appToken } = config.slack;
  if (appToken === null || wayIn === null) {
    return ok('way in', 'HTTP, with SLACK_SIGNING_SECRET');
  }
  const [, , tokensApp] = appToken.reveal().split('-');
  if (appId !== null && tokensApp?.startsWith('A') && tokensApp !== appId) {
    const says = `SLACK_APP_TOKEN is of the app ${tokensApp}, and SLACK_BOT_TOKEN of ${appId}`;
    return failed('way in', says, 'take both tokens from one app, at api.slack.com/apps');
  }
  if (wayIn.ok) return ok('way in', 'Socket Mode: Slack hands out a connection');
  const line = slackLine('way in', wayIn.error);
  if (line.status !== 'failed' || !/invalid_auth|lacks/.test(line.says)) return line;
  const fix =
    'Basic Information, App-Level Tokens: one with connections:write into SLACK_APP_TOKEN';
  return { ...line, fix };
}

function clockLine(aheadMs: number | null): CheckLine {
  if (aheadMs === null) return skipped('clock', 'Slack did not say what time it is');
  const seconds = Math.round(Math.abs(aheadMs) / 1_000);
  if (Math.abs(aheadMs) <= SKEW_MS) return ok('clock', 'right, by Slack’s');
  const says = `${countText(seconds, 'second')} ${aheadMs > 0 ? 'ahead of' : 'behind'} Slack’s`;
  const fix = 'switch on NTP on this machine; Slack’s signatures are valid for five minutes';
  return (Math.abs(aheadMs) > SKEW_MAX_MS ? failed : warning)('clock', says, fix);
}

function namesakeLine(self: Self, people: TimedResult<readonly PersonFacts[]>): CheckLine {
  const name = 'same name';
  if (!people.ok) return slackLine(name, people.error);
  const bots = people.value.filter(({ isBot, gone }) => isBot && !gone);
  const own = bots.find(({ id }) => id === self.botUserId)?.names ?? [];
  const names = new Set([self.botName, ...own].map((each) => each.toLowerCase()));
  const twins = bots.filter(
    (bot) => bot.id !== self.botUserId && bot.names.some((each) => names.has(each.toLowerCase())),
  );
  if (twins.length === 0) return ok(name, `no other app here is called ${self.botName}`);
  const says = `another app here is called ${self.botName} too (${twins.map(({ id }) => id).join(', ')})`;
  const which = `this token is of ${self.botUserId}, app ${self.appId ?? 'unknown'}`;
  return warning(name, says, `${which}: invite that one, and remove or rename the other`);
}

export function slackByHand(): readonly CheckLine[] {
  return [
    skipped(
      'commands',
      'Slack does not tell which slash commands it has',
      'api.slack.com/apps, your app, App Manifest: compare with manifest.json, paste, reinstall',
    ),
  ];
}
