import { z } from 'zod';

/**
 * The facts of Slack's JSON schema for app manifests of major version 2, as far as Signalbox uses
 * them: known keys, lengths and patterns. A key that is not listed here is refused.
 * Facts of github.com/slackapi/manifest-schema, schemas/manifest.schema.2.0.0.json, read on 2026-11-22.
 */
const text = (max: number, min = 1) => z.string().min(min).max(max);
const url = (max: number) =>
  z
    .string()
    .regex(/^https?:\/\//)
    .max(max);
const scopes = z.array(z.string().max(50)).max(255);
const events = z
  .array(z.string().max(50))
  .max(100)
  .refine((list) => new Set(list).size === list.length);

const displayInformation = z.strictObject({
  name: text(35),
  description: text(140).optional(),
  background_color: text(7, 4)
    .regex(/^#[0-9a-fA-F]{3}([0-9a-fA-F]{3})?$/)
    .optional(),
  long_description: text(4_000, 175).optional(),
});

const slashCommand = z.strictObject({
  command: text(32, 2).regex(/^\//),
  url: url(3_000).optional(),
  description: text(2_000),
  usage_hint: text(1_000).optional(),
  should_escape: z.boolean().optional(),
});

const shortcut = z.strictObject({
  name: text(24),
  type: z.enum(['message', 'global']),
  callback_id: text(255),
  description: text(150),
});

const features = z.strictObject({
  app_home: z.strictObject({
    home_tab_enabled: z.boolean(),
    messages_tab_enabled: z.boolean(),
    messages_tab_read_only_enabled: z.boolean(),
  }),
  bot_user: z.strictObject({ display_name: text(80), always_online: z.boolean() }),
  shortcuts: z.array(shortcut).min(1).max(10),
  slash_commands: z.array(slashCommand).min(1).max(50),
});

const settings = z.strictObject({
  event_subscriptions: z.strictObject({ request_url: url(3_500).optional(), bot_events: events }),
  interactivity: z.strictObject({
    is_enabled: z.boolean(),
    request_url: url(3_500).optional(),
    message_menu_options_url: url(3_500).optional(),
  }),
  org_deploy_enabled: z.boolean(),
  socket_mode_enabled: z.boolean(),
  token_rotation_enabled: z.boolean(),
});

// slackapi/manifest-schema, manifest.schema.2.0.0.json: at most 20 servers.
const server = z.strictObject({
  url: text(500).regex(/^https:/),
  auth_type: z.enum([
    'no_auth',
    'slack_identity_auth',
    'dynamic_client_registration',
    'manual_auth',
  ]),
});

export const SlackManifest = z.looseObject({
  _metadata: z.strictObject({ major_version: z.literal(2), minor_version: z.int().optional() }),
  display_information: displayInformation,
  features,
  mcp_servers: z.record(z.string(), server).optional(),
  oauth_config: z.strictObject({ scopes: z.strictObject({ bot: scopes, bot_optional: scopes }) }),
  settings,
});
