import { type Command, titleOf, usageHint, verbOf } from '../commands/index.ts';
import { slashCommand } from '../domain/answer.ts';
import { callbackIdOf } from './form.ts';
import { PALETTE } from './open-form.ts';

interface ManifestOptions {
  readonly commands: readonly Command[];
  readonly nouns: Readonly<Record<string, string>>;
  /** Prepended to each noun, where another app of the workspace uses the same one. */
  readonly prefix: string;
  /** The public address of `/slack/events`; null for Socket Mode, which needs none. */
  readonly url: string | null;
  /** The public address of agents, if Slackbot may ask there. */
  readonly mcp?: string | null;
  /** The app may be installed for a whole organization of Enterprise Grid. */
  readonly org?: boolean;
}

/** Each scope with its reason: a security review reads this list first. */
export const REQUIRED_SCOPES = [
  'commands', // slash commands and shortcuts
  'chat:write', // cards, their threads, private answers
  'channels:read', // whether a channel is shared with another workspace, before costs are posted there
  'groups:read', // the same for private channels
  'files:write', // the rows of a cost report, for the user who requested them
  'usergroups:read', // who is in the groups that the policy names
  'users:read', // who is a guest, deactivated, a bot or from another workspace
  'channels:history', // what cards and their threads show, before anything is drawn or sent
  'groups:history', // the same in private channels
  'im:history', // the same in direct messages, and commands and help there
];

// Installing without these is possible: an approver may then get a card twice after a lost answer of Slack, and
// mentions of the app get no answer.
const OPTIONAL_SCOPES = [
  'im:write', // whether an own direct message was posted, after a lost answer
  'app_mentions:read', // help where a user mentions the app
];

/** Slackbot calls the tools of the app, and signs as it signs deliveries. Source: docs/agents.md#slackbot. */
const MCP_SCOPE = 'mcp:connect';
const BY_SIGNATURE = 'slack_identity_auth';

/** The events of Slack that the app reads. */
const SUBSCRIBED = [
  'app_home_opened',
  'app_mention',
  'app_uninstalled',
  'message.im',
  'subteam_members_changed',
  'subteam_updated',
  'tokens_revoked',
  'user_change',
];

const LONG_DESCRIPTION = `Signalbox lets engineers operate the services of a hosted analytics \
database from Slack. Signalbox previews every change, asks its requester to confirm it, \
collects the approvals that a reviewed policy requires, runs it once and records it.`;

/** Slack's manifest, version 2, of exactly the commands that can be typed. */
export function manifestOf(options: ManifestOptions) {
  const { commands, nouns, prefix, url, mcp = null, org = false } = options;
  const address = url === null ? {} : { url };
  const requests = url === null ? {} : { request_url: url };
  // Slack allows ten, so that later changes have none. The pause of a schedule is offered in its list.
  const direct = commands.filter((each) => each.kind === 'change' && !verbOf(each).includes(' '));
  return {
    _metadata: { major_version: 2 },
    display_information: {
      name: 'Signalbox',
      description: 'Operate the analytics database: previewed, approved, run once, recorded',
      long_description: LONG_DESCRIPTION,
      background_color: '#1f3a34',
    },
    features: {
      app_home: {
        home_tab_enabled: true,
        messages_tab_enabled: true,
        messages_tab_read_only_enabled: false,
      },
      bot_user: { display_name: 'Signalbox', always_online: true },
      slash_commands: Object.entries(nouns).map(([noun, description]) => ({
        command: slashCommand(prefix, noun),
        description,
        usage_hint: hint(commands, noun),
        should_escape: false,
        ...address,
      })),
      shortcuts: [...direct.slice(0, 9).map(shortcutOf), PALETTE_SHORTCUT],
    },
    ...(mcp !== null && { mcp_servers: { signalbox: { url: mcp, auth_type: BY_SIGNATURE } } }),
    oauth_config: {
      scopes: {
        bot: [...REQUIRED_SCOPES, ...OPTIONAL_SCOPES, ...(mcp === null ? [] : [MCP_SCOPE])],
        bot_optional: OPTIONAL_SCOPES,
      },
    },
    settings: {
      event_subscriptions: { ...requests, bot_events: SUBSCRIBED },
      interactivity: {
        is_enabled: true,
        ...requests,
        ...(url === null ? {} : { message_menu_options_url: url }),
      },
      org_deploy_enabled: org,
      socket_mode_enabled: url === null,
      token_rotation_enabled: false,
    },
  };
}

function hint(commands: readonly Command[], noun: string): string {
  const hasVerbs = commands.some(({ name }) => name.startsWith(`${noun} `));
  return hasVerbs ? usageHint(commands, noun) : 'help';
}

function shortcutOf(command: Command) {
  return {
    name: titleOf(command),
    type: 'global' as const,
    callback_id: callbackIdOf(command),
    description: `${command.summary}: opens the form of “${command.name}”`,
  };
}

const PALETTE_SHORTCUT = {
  name: 'Run a command',
  type: 'message' as const,
  callback_id: PALETTE,
  description: 'Opens the list of commands. Only you see the answer. Works in threads',
};
