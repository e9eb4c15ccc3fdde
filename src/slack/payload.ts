import { z } from 'zod';
import type { ChangeId, ChannelId, UserId } from '../domain/change.ts';
import type { Mark, ReplyTo } from '../workflow/index.ts';
import { OVERFLOW } from './blocks.ts';
import { isPrivateBlock } from './card.ts';
import { markOf } from './marks.ts';

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

/** Without a valid one the answer is a message. */
const ResponseUrl = z.url().nullable().catch(null);

export const SlashCommand = z.object({
  command: z.string().max(40),
  text: z.string().default(''),
  user_id: UserOf,
  channel_id: ChannelOf.nullish().catch(null),
  trigger_id: z.string(),
  response_url: ResponseUrl,
});

/** A private message of Signalbox, which an answer can replace, as the metadata of a form carries it. */
export const PrivateMessageOf = z.object({
  /** Replaces an ephemeral message. It is valid for 30 minutes and never logged. */
  url: z.url().nullable(),
  channel: ChannelOf.nullable(),
  /** Replaces a direct message, together with the channel; null for an ephemeral one. */
  ts: z.string().max(30).nullable(),
});
export type PrivateMessage = z.infer<typeof PrivateMessageOf>;

const Container = z.object({
  is_ephemeral: z.boolean().optional(),
  message_ts: z.string().max(30).optional(),
  thread_ts: z.string().max(30).optional(),
});
/** The text is what the user read; it only helps to find the item again. */
const Choice = z.object({
  value: z.string().max(2_000),
  text: z
    .object({ text: z.string().max(200) })
    .optional()
    .catch(undefined),
});
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
type View = z.infer<typeof View>;

const Action = z.object({
  action_id: z.string(),
  block_id: z.string().max(255).optional(),
  value: z.string().max(2_000).nullish(),
  selected_option: Choice.nullish(),
});

export const Pressed = z.object({ actions: z.array(Action).min(1) });

export const ButtonPress = Pressed.extend({
  user: z.object({ id: UserOf }),
  channel: z.object({ id: ChannelOf }).nullish().catch(null),
  container: Container.nullish(),
  /** The message with the button, of which only the mark is read. */
  message: z.object({ blocks: z.unknown() }).nullish().catch(null),
  trigger_id: z.string(),
  response_url: ResponseUrl,
  /** A modal, or the Home tab, of which only the type is read. */
  view: View.nullish().catch(null),
});
export type ButtonPress = z.infer<typeof ButtonPress>;

export const FormSubmission = z.object({
  user: z.object({ id: UserOf }),
  trigger_id: z.string(),
  view: View,
});
export type FormSubmission = z.infer<typeof FormSubmission>;

export const Searched = z.object({
  user: z.object({ id: UserOf }),
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

/** The id and the value of the pressed button, which can be an option of an overflow menu. */
export function pressedButton({ actions: [action] }: z.infer<typeof Pressed>) {
  const id = action?.action_id ?? '';
  const value = action?.selected_option?.value ?? action?.value ?? '';
  if (id !== OVERFLOW) return { id, value };
  const [chosen = '', own = ''] = value.split(' ');
  return { id: chosen, value: own };
}

/** The filled fields of a modal as text, by name. */
export function givenOf({ view }: { readonly view: View }): Readonly<Record<string, string>> {
  const entries = Object.entries(view.state.values).flatMap(([block, elements]) => {
    const field = elements[block];
    const text = field?.selected_option?.value ?? field?.selected_conversation ?? field?.value;
    return text ? [[block, text] as const] : [];
  });
  return Object.fromEntries(entries);
}

/** The private message with the pressed button, which the answer replaces; null for any other. */
export function privateMessageOf(pressed: ButtonPress): PrivateMessage | null {
  const { container, channel, actions, response_url: url } = pressed;
  const place = { url, channel: channel?.id ?? null };
  if (container?.is_ephemeral) return url ? { ...place, ts: null } : null;
  const isDirect = channel?.id.startsWith('D') && isPrivateBlock(actions[0]?.block_id ?? '');
  return isDirect && container?.message_ts ? { ...place, ts: container.message_ts } : null;
}

/** The mark that the person saw; null for a message without one, and for views. */
export function seenMark({ message }: ButtonPress): Mark | null {
  const mark = markOf(message?.blocks);
  return mark && { version: mark.version, hash: mark.hash };
}

/** Where the answer to a press goes. */
export function replyToOf(pressed: ButtonPress): ReplyTo {
  const { user, channel, response_url } = pressed;
  const shown = privateMessageOf(pressed);
  return {
    url: response_url,
    user: user.id,
    channel: channel?.id ?? null,
    ts: shown?.ts ?? null,
    // Slack shows an ephemeral message in a thread only if that exists.
    thread: pressed.container?.thread_ts ?? null,
    replaces: shown !== null,
    home: isHome(pressed),
  };
}

/** Whether the button is on the Home tab. */
export function isHome({ view }: ButtonPress): boolean {
  return view?.type === 'home';
}
