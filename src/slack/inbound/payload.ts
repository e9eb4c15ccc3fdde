import { z } from 'zod';
import type { ChangeId, ChannelId, UserId } from '../../changes/change.ts';

/** The parts of Slack's payloads that Signalbox reads. */

const User = z.string().regex(/^[UW][A-Z0-9]{1,30}$/);
export const UserOf = User.transform((id) => id as UserId);
export const ChannelOf = z
  .string()
  .regex(/^[CDG][A-Z0-9]{1,30}$/)
  .transform((id) => id as ChannelId);
export const ChangeOf = z
  .string()
  .regex(/^[0-9A-Z]{4,12}$/)
  .transform((id) => id as ChangeId);

/** The id of an anomaly, as its buttons carry it. */
export const IncidentOf = z.string().regex(/^[0-9a-f]{16}$/);

export const SlashCommand = z.object({
  command: z.string().max(40),
  text: z.string().max(5_000).default(''),
  user_id: UserOf,
  channel_id: ChannelOf.nullish().catch(null),
  trigger_id: z.string(),
  response_url: z.url(),
});

const Container = z.object({
  is_ephemeral: z.boolean().optional(),
  thread_ts: z.string().max(30).optional(),
});
const Choice = z.object({ value: z.string().max(2_000) });
const Field = z.object({
  value: z.string().max(3_000).nullish(),
  selected_option: Choice.nullish(),
  selected_conversation: z.string().max(30).nullish(),
});
const View = z.object({
  id: z.string(),
  type: z.string(),
  hash: z.string().optional(),
  callback_id: z.string(),
  private_metadata: z.string().max(3_000),
  state: z.object({ values: z.record(z.string(), z.record(z.string(), Field)) }),
});
export type View = z.infer<typeof View>;

const Action = z.object({
  action_id: z.string(),
  value: z.string().max(2_000).nullish(),
  selected_option: Choice.nullish(),
});

export const Pressed = z.object({
  user: z.object({ id: UserOf }),
  channel: z.object({ id: ChannelOf }).nullish().catch(null),
  container: Container.nullish(),
  trigger_id: z.string(),
  response_url: z.url().nullish(),
  /** A modal, or the Home tab, of which only the type is read. */
  view: View.nullish().catch(null),
  actions: z.array(Action).min(1),
});
export type Pressed = z.infer<typeof Pressed>;

export const Submitted = z.object({
  user: z.object({ id: UserOf }),
  trigger_id: z.string(),
  view: View,
});
export type Submitted = z.infer<typeof Submitted>;

export const Searched = z.object({
  action_id: z.string(),
  value: z.string().max(500),
  view: View.nullish().catch(null),
});

export const ShortcutUsed = z.object({
  user: z.object({ id: UserOf }),
  callback_id: z.string(),
  trigger_id: z.string(),
  /** Set for a message shortcut; a global shortcut has no channel. */
  channel: z.object({ id: ChannelOf }).nullish().catch(null),
  message: z
    .object({ thread_ts: z.string().max(30).optional() })
    .nullish()
    .catch(null),
});

/** The filled fields of a modal as text, by name. */
export function givenOf({ view }: { readonly view: View }): Readonly<Record<string, string>> {
  const entries = Object.entries(view.state.values).flatMap(([block, elements]) => {
    const field = elements[block];
    const text = field?.selected_option?.value ?? field?.selected_conversation ?? field?.value;
    return text ? [[block, text] as const] : [];
  });
  return Object.fromEntries(entries);
}
