import { z } from 'zod';

const Command = z.looseObject({
  command: z.string().startsWith('/'),
  description: z.string().default(''),
  usage_hint: z.string().default(''),
  // The simulator sends the text of a command as it was typed.
  should_escape: z.literal(false).default(false),
});

const AppShortcut = z.looseObject({
  name: z.string(),
  type: z.enum(['message', 'global']),
  callback_id: z.string(),
  description: z.string().default(''),
});

/** The parts of Slack's app manifest v2 that the simulator uses. */
const Manifest = z.looseObject({
  features: z.looseObject({
    app_home: z
      .looseObject({
        home_tab_enabled: z.boolean().default(false),
        messages_tab_enabled: z.boolean().default(true),
        messages_tab_read_only_enabled: z.boolean().default(false),
      })
      .prefault({}),
    slash_commands: z.array(Command).max(50).default([]),
    shortcuts: z.array(AppShortcut).max(10).default([]),
  }),
  oauth_config: z.looseObject({ scopes: z.looseObject({ bot: z.array(z.string()) }) }),
  settings: z
    .looseObject({
      event_subscriptions: z
        .looseObject({ bot_events: z.array(z.string()).default([]) })
        .prefault({}),
    })
    .prefault({}),
});

export interface AppManifest {
  readonly commands: readonly z.infer<typeof Command>[];
  readonly shortcuts: readonly z.infer<typeof AppShortcut>[];
  readonly scopes: readonly string[];
  readonly events: readonly string[];
  readonly homeTab: boolean;
  readonly messagesTab: boolean;
  /** People cannot write to the app in its Messages tab. */
  readonly messagesReadOnly: boolean;
}

export function readManifest(json: unknown): AppManifest {
  const { features, oauth_config, settings } = Manifest.parse(json);
  return {
    commands: features.slash_commands,
    shortcuts: features.shortcuts,
    scopes: oauth_config.scopes.bot,
    events: settings.event_subscriptions.bot_events,
    homeTab: features.app_home.home_tab_enabled,
    messagesTab: features.app_home.messages_tab_enabled,
    messagesReadOnly: features.app_home.messages_tab_read_only_enabled,
  };
}
