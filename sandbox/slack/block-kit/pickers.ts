import { z } from 'zod';
import { placeable } from './elements.ts';
import { chars, Filter, Flag, PlainOption } from './objects.ts';

/** Selects whose choices Slack or the app supplies when the person opens them. */

const several = { max_selected_items: z.int().min(1).optional() };
const respondable = { response_url_enabled: Flag };
const Ids = z.array(chars(255)).min(1).optional();
const Id = chars(255).optional();
const conversations = { default_to_current_conversation: Flag, filter: Filter.optional() };
const searched = { min_query_length: z.int().min(0).optional() };

export const UsersSelect = z.strictObject({
  type: z.literal('users_select'),
  ...placeable,
  initial_user: Id,
});

export const MultiUsersSelect = z.strictObject({
  type: z.literal('multi_users_select'),
  ...placeable,
  ...several,
  initial_users: Ids,
});

export const ConversationsSelect = z.strictObject({
  type: z.literal('conversations_select'),
  ...placeable,
  ...conversations,
  ...respondable,
  initial_conversation: Id,
});

export const MultiConversationsSelect = z.strictObject({
  type: z.literal('multi_conversations_select'),
  ...placeable,
  ...conversations,
  ...several,
  initial_conversations: Ids,
});

export const ChannelsSelect = z.strictObject({
  type: z.literal('channels_select'),
  ...placeable,
  ...respondable,
  initial_channel: Id,
});

export const MultiChannelsSelect = z.strictObject({
  type: z.literal('multi_channels_select'),
  ...placeable,
  ...several,
  initial_channels: Ids,
});

export const ExternalSelect = z.strictObject({
  type: z.literal('external_select'),
  ...placeable,
  ...searched,
  initial_option: PlainOption.optional(),
});

export const MultiExternalSelect = z.strictObject({
  type: z.literal('multi_external_select'),
  ...placeable,
  ...searched,
  ...several,
  initial_options: z.array(PlainOption).min(1).optional(),
});
