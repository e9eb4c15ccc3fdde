import { type Secret, type TimedResult, TimeoutError } from '../base/errors.ts';
import { nearest, skewText } from '../base/text.ts';
import { commands, nouns } from '../commands/index.ts';
import type { RoleName, UserId } from '../domain/change.ts';
import type { Policy, Role } from '../domain/policy.ts';
import { impossibleRequirements } from '../domain/policy-schema.ts';
import {
  type AppIdentity,
  appTokenProblem,
  type ChannelFacts,
  type CheckedUsers,
  foreignAppToken,
  groupNamed,
  groupProblem,
  isLastingRefusal,
  type ListedGroup,
  manifestOf,
  REINSTALL_WITH_SCOPES,
  type SocketProbe,
  tokenProblem,
  unknownUserProblem,
  workspaceProblems,
} from '../slack/index.ts';
import { type ChannelConfig, type ChannelUse, channelUses } from './config.ts';
import {
  type CheckContext,
  type CheckLine,
  countText,
  failed,
  ok,
  skipped,
  warning,
} from './doctor-report.ts';

interface ChannelResults {
  readonly rooms: TimedResult<readonly ChannelFacts[]>;
  /** The id of each word in the configuration; null for a name that was never resolved. */
  readonly ids: ReadonlyMap<string, string | null>;
  /** By id, how far back a channel of cards is read, where it has too many messages. */
  readonly readTo: ReadonlyMap<string, Date>;
}

/** The ids of the channels of cards, and of the audit channel. */
export function cardChannels(
  { channels, policy }: ChannelConfig,
  { rooms, ids }: Pick<ChannelResults, 'rooms' | 'ids'>,
): readonly string[] {
  const ofRules = policy.rules.map(({ requires }) => requires.channel);
  const used = [channels.approvals, channels.audit, ...ofRules];
  const found = used.map((word) =>
    word && rooms.ok ? roomOf(word, ids.get(word) ?? null, rooms.value) : undefined,
  );
  return [...new Set(found.flatMap((room) => (room?.joined ? room.id : [])))];
}

/** The id of each configured channel: its own, or the one that Signalbox has stored for the name. */
export function channelIds(
  config: ChannelConfig,
  stored: ReadonlyMap<string, string>,
): ReadonlyMap<string, string | null> {
  const idOf = (word: string) => (word.includes('#') ? (stored.get(word) ?? null) : word);
  return new Map(channelUses(config).map(({ word }) => [word, idOf(word)]));
}

/** One line per configured channel: whether it exists and the bot is a member. */
export function channelLines(
  config: ChannelConfig,
  { rooms, ids, readTo }: ChannelResults,
  botName: string,
): readonly CheckLine[] {
  const named = channelUses(config);
  if (named.length === 0) return [skipped('channels', 'none in signalbox.yaml')];
  if (!rooms.ok) return [slackLine('channels', rooms.error)];
  return named.map((one) => {
    const id = ids.get(one.word) ?? null;
    const room = roomOf(one.word, id, rooms.value);
    if (room) return channelLine(one, room, botName, readTo.get(room.id) ?? null);
    return one.word.includes('#') && id !== null
      ? lost(one, id)
      : missing(one, rooms.value, botName);
  });
}

function channelLine(
  { word, places, forCosts }: ChannelUse,
  room: ChannelFacts,
  botName: string,
  readTo: Date | null,
): CheckLine {
  const where = places.join(', ');
  if (room.archived) {
    return failed(word, 'is archived', `unarchive it in Slack, or set another channel at ${where}`);
  }
  if (!room.joined) {
    return failed(word, 'the bot is not a member', `type /invite @${botName} in the channel`);
  }
  if (room.outside === null) {
    const fix = 'run the doctor again; until Slack says it, no costs are posted there';
    return warning(word, 'Slack does not say whether it is shared with another workspace', fix);
  }
  if (room.outside && forCosts) {
    const fix = `set an internal channel at ${where}: costs are not posted to shared channels`;
    return failed(word, 'is shared with another workspace', fix);
  }
  if (room.outside) {
    const fix = `set another channel at ${where}, unless that workspace may see every change`;
    return warning(word, 'is shared with another workspace', fix);
  }
  if (word.includes('#') && !named(room).includes(word)) {
    const fix = `write ${room.id} at ${where}, or the id of the channel that you mean`;
    return warning(word, `means the channel that is now named #${room.name}`, fix);
  }
  if (readTo) {
    const says = `has too many messages: those before ${readTo.toISOString().slice(0, 16)}Z are not read`;
    const fix = `set a channel for cards alone at ${where}: what the database loses is noticed only there`;
    return warning(word, says, fix);
  }
  return ok(word, `the bot is a member (${where})`);
}

/** The channel that a name meant is gone. Another one with this name is not used. */
function lost({ word, places }: ChannelUse, id: string): CheckLine {
  const fix = `write the id of the channel to use at ${places.join(', ')}`;
  return failed(word, `means the channel ${id}, which the bot does not see any more`, fix);
}

function missing({ word, places }: ChannelUse, rooms: readonly ChannelFacts[], botName: string) {
  const where = places.join(', ');
  const bare = word.replace(/^.*#/, '');
  // In an organization a name has its workspace before it.
  const inPlace = (name: string, { team }: ChannelFacts) =>
    word.includes('/') ? `${team}/${name}` : name;
  const renamed = rooms.find(({ formerNames }) => formerNames.includes(bare));
  if (renamed) {
    const now = inPlace(`#${renamed.name}`, renamed);
    const fix = `write '${now}' at ${where}, or the id ${renamed.id}, which never changes`;
    return failed(word, `was renamed to #${renamed.name}`, fix);
  }
  const open = rooms.filter(({ archived }) => !archived);
  const names = open.map((room) => inPlace(`#${room.name}`, room));
  const near = word.includes('#') ? (nearest(word, names, 1)[0] ?? null) : null;
  const meant = near === null ? '' : `did you mean '${near}' at ${where}? `;
  const invite = `for a private channel, type /invite @${botName} in it`;
  return failed(word, 'the bot does not see this channel', `${meant}${invite}`);
}

/** The words that mean a channel by its name. */
function named({ name, team }: ChannelFacts): readonly string[] {
  return [`#${name}`, `${team}/#${name}`];
}

function roomOf(word: string, id: string | null, rooms: readonly ChannelFacts[]) {
  if (id !== null) return rooms.find((room) => room.id === id);
  const fitting = rooms.filter((room) => named(room).includes(word));
  return fitting.find(({ archived }) => !archived) ?? fitting[0];
}

interface PeopleResults {
  readonly groups: TimedResult<readonly ListedGroup[]>;
  /** Of all users that `roleMembers` names. */
  readonly accounts: TimedResult<CheckedUsers>;
}

/** The ids of all users of the roles, as the groups and the policy list them. */
export function roleMembers(policy: Policy, listed: readonly ListedGroup[]): readonly UserId[] {
  return [...policy.roles.values()].flatMap((role) => idsOf(role, listed));
}

/** One line per role with its active members, and one per rule that cannot be satisfied. */
export function peopleLines(policy: Policy, answers: PeopleResults): readonly CheckLine[] {
  const { groups, accounts } = answers;
  if (!groups.ok) return [slackLine('groups', groups.error)];
  if (!accounts.ok) return [slackLine('people', accounts.error)];
  const known = accounts.value;
  const roles = [...policy.roles].map(([name, role]) => {
    const all = idsOf(role, groups.value);
    const members = all.flatMap((id) => known.get(id) ?? []);
    const active = members.flatMap(
      ({ ids: [id], standing }) => (standing === 'member' && id) || [],
    );
    const strangers = all.filter((id) => known.get(id)?.ids.length === 0);
    return { name, role, all, active: [...new Set(active)], strangers };
  });
  const lines = roles.flatMap((one) => {
    const problems = roleProblems(one, groups.value, known);
    // An empty role is then a consequence, not a second problem.
    return problems.length > 0 && one.active.length === 0 ? problems : [...problems, roleLine(one)];
  });
  const members = new Map(
    roles.map(({ name, active }): [RoleName, ReadonlySet<UserId>] => [name, new Set(active)]),
  );
  return [...lines, ...ruleLines(policy, members)];
}

interface RoleCount {
  readonly name: string;
  readonly role: Role;
  readonly all: readonly UserId[];
  readonly active: readonly UserId[];
  /** Slack does not know them, or hides them from the app. */
  readonly strangers: readonly UserId[];
}

function roleLine({ name, role, all, active, strangers }: RoleCount): CheckLine {
  const named = role.users.length > 0 ? ['signalbox.yaml'] : [];
  const from = [...role.groups, ...named].join(', ');
  if (active.length === 0) {
    const fix = `add a member to ${from}; guests, bots and deactivated users do not count`;
    return failed(name, 'has no member', fix);
  }
  const others = all.length - active.length;
  const rest =
    others === 0
      ? ''
      : `, not counting ${countText(others, 'other')}: guests, deactivated or external users`;
  const count = countText(active.length, 'person', 'people');
  const says = `${count} of ${from}${rest}`;
  if (strangers.length === 0) return ok(name, says);
  const unknown = `${says}; Slack does not know ${strangers.join(', ')}, or hides them from the app`;
  return warning(name, unknown, `remove them from ${from}: they count as no members`);
}

function roleProblems(
  { name, role }: Pick<RoleCount, 'name' | 'role'>,
  listed: readonly ListedGroup[],
  known: CheckedUsers,
): readonly CheckLine[] {
  const groups = role.groups.flatMap((group) => groupProblem(name, group, listed) ?? []);
  const users = role.users.filter((user) => known.get(user)?.ids.length === 0);
  return [...groups, ...users.map((user) => unknownUserProblem(name, user))].map((each) =>
    failed(each.where, each.problem, each.hint),
  );
}

function ruleLines(policy: Policy, members: ReadonlyMap<RoleName, ReadonlySet<UserId>>) {
  const problems = impossibleRequirements(policy, members);
  if (problems.length === 0) {
    return [ok('rules', 'every rule has a possible requester and enough approvers')];
  }
  return problems.map(({ where, problem, hint }) =>
    failed(where, problem, hint ?? `check ${where} in signalbox.yaml`),
  );
}

// The ids come from Slack, so they are valid user ids.
function idsOf(role: Role, listed: readonly ListedGroup[]): readonly UserId[] {
  const groups = role.groups.flatMap((name) => groupNamed(name, listed) ?? []);
  const inGroups = groups.flatMap(({ disabled, users }) => (disabled ? [] : users));
  return [...new Set([...role.users, ...inGroups.map((id) => id as UserId)])];
}

const SKEW_MS = 5_000;
const SKEW_MAX_MS = 60_000;

interface SlackResults {
  readonly self: TimedResult<AppIdentity>;
  readonly connection: TimedResult<SocketProbe> | null;
  readonly blocks: TimedResult<readonly string[]>;
}

export function slackLines({ config }: CheckContext, { self, connection, blocks }: SlackResults) {
  const { appToken, commandPrefix } = config.slack;
  const appId = self.ok ? self.value.appId : null;
  const tokens = [
    ...botTokenLines(self, commandPrefix),
    connectionLine(appToken, connection, appId),
  ];
  if (!self.ok) return tokens;
  return [...tokens, blocksLine(blocks), clockLine(self.value.aheadMs)];
}

/** To whom the bot token belongs, and whether it has the scopes of the manifest. */
export function botTokenLines(self: TimedResult<AppIdentity>, prefix: string) {
  if (!self.ok) return [slackLine('bot token', self.error)];
  const { workspace, botName, appId, isOrgWide } = self.value;
  const place = isOrgWide ? 'organization' : 'workspace';
  const [misplaced] = workspaceProblems(self.value);
  const { scopes } = manifestOf({ commands, nouns, prefix, url: null }).oauth_config;
  return [
    misplaced
      ? failed('bot token', misplaced.problem, misplaced.hint)
      : ok('bot token', `for ${botName} (app ${appId ?? 'unknown'}) in the ${place} ${workspace}`),
    ...scopeLines(self.value.scopes ?? [], scopes),
  ];
}

function scopeLines(
  granted: readonly string[],
  { bot, bot_optional }: Readonly<Record<'bot' | 'bot_optional', readonly string[]>>,
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
    const lost = optional.includes('app_mentions:read')
      ? 'mentions of the app get no answer'
      : 'an approver may get a card twice';
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

export function connectionLine(
  appToken: Secret | null,
  connection: TimedResult<SocketProbe> | null,
  appId: string | null,
): CheckLine {
  if (appToken === null || connection === null) {
    return ok('delivery', 'HTTP, with SLACK_SIGNING_SECRET');
  }
  const foreign = appId === null ? null : foreignAppToken(appToken, appId);
  if (foreign) return failed('delivery', foreign.problem, foreign.hint);
  if (connection.ok && 'blocked' in connection.value) {
    const says = `Slack accepts SLACK_APP_TOKEN, but no connection opens (${connection.value.blocked})`;
    const fix =
      'let this machine reach wss-primary.slack.com, or set HTTPS_PROXY to a proxy that permits it';
    return failed('delivery', says, fix);
  }
  if (connection.ok) return ok('delivery', 'Socket Mode: a connection was opened');
  const line = slackLine('delivery', connection.error);
  const { error } = connection;
  return isLastingRefusal(error) ? { ...line, fix: appTokenProblem(error).fix } : line;
}

/** New blocks reach workspaces in phases. */
function blocksLine(blocks: TimedResult<readonly string[]>): CheckLine {
  if (!blocks.ok) return slackLine('blocks', blocks.error);
  if (blocks.value.length === 0) return ok('blocks', 'a card, a table and a chart are accepted');
  const says = `this workspace does not accept: ${blocks.value.join(', ')}`;
  if (blocks.value.includes('card')) return failed('blocks', says, 'report this: nothing is shown');
  return warning('blocks', says, 'nothing to do: Signalbox sends them as text');
}

function clockLine(aheadMs: number | null): CheckLine {
  if (aheadMs === null) return skipped('clock', 'Slack sent no time');
  if (Math.abs(aheadMs) <= SKEW_MS) return ok('clock', 'agrees with Slack');
  const fix = 'switch on NTP on this machine; Slack signatures are valid for five minutes';
  return (Math.abs(aheadMs) > SKEW_MAX_MS ? failed : warning)(
    'clock',
    skewText(aheadMs, 'Slack'),
    fix,
  );
}

/** The line for a failed or late call of Slack. */
function slackLine(name: string, error: unknown): CheckLine {
  if (error instanceof TimeoutError) {
    const fix = 'check the network, a proxy, and status.slack.com';
    return failed(name, `Slack ${error.message}`, fix);
  }
  const { says, fix, passing } = tokenProblem(error);
  return passing ? warning(name, says, fix) : failed(name, says, fix);
}
