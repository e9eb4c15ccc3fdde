import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import {
  Confirm,
  chars,
  Flag,
  OptionGroup,
  OverflowOption,
  PlainOption,
  plain,
  RichOption,
  Style,
} from './objects.ts';
import { broken } from './problems.ts';

const ActionId = chars(255).optional();
const confirmable = { action_id: ActionId, confirm: Confirm.optional() };
const focusable = { ...confirmable, focus_on_load: Flag };
export const placeable = { ...focusable, placeholder: plain(150).optional() };

export const Button = z.strictObject({
  type: z.literal('button'),
  ...confirmable,
  text: plain(75),
  value: chars(2000, 0).optional(),
  url: chars(3000).optional(),
  style: Style,
  accessibility_label: chars(75).optional(),
});

export const Overflow = z.strictObject({
  type: z.literal('overflow'),
  ...confirmable,
  options: z.array(OverflowOption).min(1).max(5),
});

const chosenOne = { options: z.array(RichOption).min(1).max(10) };

export const RadioButtons = z
  .strictObject({
    type: z.literal('radio_buttons'),
    ...focusable,
    ...chosenOne,
    initial_option: RichOption.optional(),
  })
  .superRefine(chosenAmongOffered);

export const Checkboxes = z
  .strictObject({
    type: z.literal('checkboxes'),
    ...focusable,
    ...chosenOne,
    initial_options: z.array(RichOption).min(1).optional(),
  })
  .superRefine(chosenAmongOffered);

const offered = {
  options: z.array(PlainOption).min(1).max(100).optional(),
  option_groups: z.array(OptionGroup).min(1).max(100).optional(),
};

export const StaticSelect = z
  .strictObject({
    type: z.literal('static_select'),
    ...placeable,
    ...offered,
    initial_option: PlainOption.optional(),
  })
  .superRefine(oneKindOfOptions)
  .superRefine(chosenAmongOffered);

export const MultiStaticSelect = z
  .strictObject({
    type: z.literal('multi_static_select'),
    ...placeable,
    ...offered,
    initial_options: z.array(PlainOption).min(1).optional(),
    max_selected_items: z.int().min(1).optional(),
  })
  .superRefine(oneKindOfOptions)
  .superRefine(chosenAmongOffered);

interface Offer {
  readonly options?: readonly unknown[] | undefined;
  readonly option_groups?: readonly { options: readonly unknown[] }[] | undefined;
  readonly initial_option?: unknown;
  readonly initial_options?: readonly unknown[] | undefined;
}

function oneKindOfOptions(select: Offer, ctx: z.RefinementCtx): void {
  if ((select.options === undefined) === (select.option_groups === undefined)) {
    const rule = 'exactly one of options and option_groups must be given';
    ctx.addIssue(broken('invalid_options', rule));
  }
}

function chosenAmongOffered(select: Offer, ctx: z.RefinementCtx): void {
  const all = select.options ?? select.option_groups?.flatMap((group) => group.options) ?? [];
  const wanted = [...(select.initial_options ?? [])];
  if (select.initial_option !== undefined) wanted.push(select.initial_option);
  if (wanted.every((one) => all.some((option) => isDeepStrictEqual(one, option)))) return;
  ctx.addIssue(broken('invalid_initial_option', 'an initial option must be one of the options'));
}

const datePattern = /^\d{4}-\d{2}-\d{2}$/;
const timePattern = /^([01]\d|2[0-3]):[0-5]\d$/;

export const Datepicker = z.strictObject({
  type: z.literal('datepicker'),
  ...placeable,
  initial_date: z.string().regex(datePattern).optional(),
});

export const Timepicker = z.strictObject({
  type: z.literal('timepicker'),
  ...placeable,
  initial_time: z.string().regex(timePattern).optional(),
  timezone: chars(100).optional(),
});

export const DateTimepicker = z.strictObject({
  type: z.literal('datetimepicker'),
  ...focusable,
  initial_date_time: z.int().min(1_000_000_000).max(9_999_999_999).optional(),
});

export const FeedbackButtons = z.strictObject({
  type: z.literal('feedback_buttons'),
  action_id: ActionId,
  positive_button: feedback(),
  negative_button: feedback(),
});

export const IconButton = z.strictObject({
  type: z.literal('icon_button'),
  ...confirmable,
  icon: chars(255),
  text: plain(75),
  accessibility_label: chars(75).optional(),
  value: chars(2000, 0).optional(),
  visible_to_user_ids: z.array(chars(255)).optional(),
});

function feedback() {
  return z.strictObject({
    text: plain(75),
    accessibility_label: chars(75).optional(),
    value: chars(2000),
  });
}
