import { z } from 'zod';

const Command = z.looseObject({
  command: z.string().startsWith('/', 'must begin with /'),
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

export type AppManifest = ReturnType<typeof readManifest>;

/** Throws one sentence for all that is wrong. */
export function readManifest(json: unknown) {
  const read = Manifest.safeParse(json, { error: explain });
  if (!read.success) {
    const faults = read.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`);
    throw new Error(faults.join(', ').trim());
  }
  const { features, oauth_config, settings } = read.data;
  return {
    commands: features.slash_commands,
    shortcuts: features.shortcuts,
    scopes: oauth_config.scopes.bot,
    events: settings.event_subscriptions.bot_events,
    homeTab: features.app_home.home_tab_enabled,
    messagesTab: features.app_home.messages_tab_enabled,
    /** People cannot write to the app in its Messages tab. */
    messagesReadOnly: features.app_home.messages_tab_read_only_enabled,
  };
}

function explain({ input, code, ...issue }: z.core.$ZodRawIssue): string | undefined {
  if (input === undefined) return 'is missing';
  return code === 'invalid_type' ? `must be ${issue.expected}` : undefined;
}
