import type { Command } from '../intent/define.ts';
import { usageHint } from '../intent/help.ts';
import { callbackIdOf, titleOf } from './forms/form.ts';
import { PALETTE } from './forms/palette.ts';

interface Words {
  readonly commands: readonly Command[];
  readonly nouns: Readonly<Record<string, string>>;
  /** Set before each noun, where another app of the workspace has the same. */
  readonly prefix: string;
  /** The public address of `/slack/events`; null for Socket Mode, which needs none. */
  readonly url: string | null;
}

/** Each with the reason why it is asked for; a security review reads this list first. */
const SCOPES = [
  'commands', // slash commands and shortcuts
  'chat:write', // cards, their threads, private answers
  'channels:read', // whether people of another workspace are in a channel, before costs go there
  'groups:read', // the same of private channels
  'files:write', // the rows of a cost report, for whoever asked for them
  'usergroups:read', // who is in the groups that the policy names
  'users:read', // who is a guest, deactivated, a bot or from elsewhere
];

// Whoever installs us may leave them out: then a card whose post was not answered may stand twice.
const OPTIONAL_SCOPES = [
  'channels:history', // whether a message of ours stands there already, after a lost answer
  'groups:history', // the same in private channels
];

const EVENTS = ['app_home_opened', 'subteam_members_changed', 'subteam_updated', 'user_change'];

const LONG_DESCRIPTION = `Signalbox lets engineers operate the services of a hosted analytics \
database from Slack. Every change is shown before it is made, confirmed by whoever asks for it, \
approved by the people whom a reviewed policy names, run once and written down.`;

/** Slack's manifest, version 2, of exactly the commands that can be typed. */
export function manifestOf({ commands, nouns, prefix, url }: Words) {
  const address = url === null ? {} : { url };
  const requests = url === null ? {} : { request_url: url };
  return {
    _metadata: { major_version: 2 },
    display_information: {
      name: 'Signalbox',
      description: 'Operate the analytics database: shown, approved, run once, written down',
      long_description: LONG_DESCRIPTION,
      background_color: '#1f3a34',
    },
    features: {
      app_home: {
        home_tab_enabled: true,
        messages_tab_enabled: true,
        messages_tab_read_only_enabled: true,
      },
      bot_user: { display_name: 'Signalbox', always_online: true },
      slash_commands: Object.entries(nouns).map(([noun, description]) => ({
        command: `/${prefix}${noun}`,
        description,
        usage_hint: hint(commands, noun),
        should_escape: false,
        ...address,
      })),
      shortcuts: [...commands.filter(({ kind }) => kind === 'change').map(shortcut), forThreads],
    },
    oauth_config: {
      scopes: { bot: [...SCOPES, ...OPTIONAL_SCOPES], bot_optional: OPTIONAL_SCOPES },
    },
    settings: {
      event_subscriptions: { ...requests, bot_events: EVENTS },
      interactivity: {
        is_enabled: true,
        ...requests,
        ...(url === null ? {} : { message_menu_options_url: url }),
      },
      org_deploy_enabled: false,
      socket_mode_enabled: url === null,
      token_rotation_enabled: false,
    },
  };
}

function hint(commands: readonly Command[], noun: string): string {
  const hasVerbs = commands.some(({ name }) => name.startsWith(`${noun} `));
  return hasVerbs ? usageHint(commands, noun) : 'help';
}

function shortcut(command: Command) {
  const { summary } = command;
  return {
    name: titleOf(command),
    type: 'global' as const,
    callback_id: callbackIdOf(command),
    description: `${summary}: opens the form of /${command.name}`,
  };
}

const forThreads = {
  name: 'Run a command',
  type: 'message' as const,
  callback_id: PALETTE,
  description: 'Chooses a command and answers in private, also in threads',
};
