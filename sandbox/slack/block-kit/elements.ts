import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { anyText, chars, Flag, Option, OptionGroup, OverflowOption, plain } from './objects.ts';
import { ruleBroken } from './problems.ts';

const Style = z.enum(['primary', 'danger']).optional();

const Confirm = z.strictObject({
  title: plain(100).optional(),
  text: anyText(300),
  confirm: plain(30).optional(),
  deny: plain(30).optional(),
  style: Style,
});

const actionFields = { action_id: chars(255).optional(), confirm: Confirm.optional() };
const inputFields = {
  action_id: chars(255).optional(),
  focus_on_load: Flag,
  placeholder: plain(150).optional(),
};
const selectFields = { ...actionFields, ...inputFields };

export const Button = z.strictObject({
  type: z.literal('button'),
  ...actionFields,
  text: plain(75),
  value: chars(2000, 0).optional(),
  url: chars(3000).optional(),
  style: Style,
  accessibility_label: chars(75).optional(),
});

export const Overflow = z.strictObject({
  type: z.literal('overflow'),
  ...actionFields,
  options: z.array(OverflowOption).min(1).max(5),
});

export const StaticSelect = z
  .strictObject({
    type: z.literal('static_select'),
    ...selectFields,
    options: z.array(Option).min(1).max(100).optional(),
    option_groups: z.array(OptionGroup).min(1).max(100).optional(),
    initial_option: Option.optional(),
  })
  .superRefine(({ options, option_groups, initial_option }, ctx) => {
    if ((options === undefined) === (option_groups === undefined)) {
      const rule = 'exactly one of options and option_groups must be given';
      ctx.addIssue(ruleBroken('invalid_options', rule));
    }
    const all = options ?? option_groups?.flatMap((group) => group.options) ?? [];
    if (!initial_option || all.some((one) => isDeepStrictEqual(one, initial_option))) return;
    const rule = 'an initial option must be one of the options';
    ctx.addIssue(ruleBroken('invalid_initial_option', rule));
  });

export const ExternalSelect = z.strictObject({
  type: z.literal('external_select'),
  ...selectFields,
  min_query_length: z.int().min(0).optional(),
  initial_option: Option.optional(),
});

const Filter = z
  .strictObject({
    include: z
      .array(z.enum(['im', 'mpim', 'private', 'public']))
      .min(1)
      .optional(),
    exclude_external_shared_channels: Flag,
    exclude_bot_users: Flag,
  })
  .superRefine((filter, ctx) => {
    if (Object.keys(filter).length > 0) return;
    ctx.addIssue(ruleBroken('empty_filter', 'a filter must have at least one field'));
  });

export const ConversationsSelect = z.strictObject({
  type: z.literal('conversations_select'),
  ...selectFields,
  default_to_current_conversation: Flag,
  filter: Filter.optional(),
  response_url_enabled: Flag,
  initial_conversation: chars(255).optional(),
});

export const PlainTextInput = z.strictObject({
  type: z.literal('plain_text_input'),
  ...inputFields,
  initial_value: chars(3000, 0).optional(),
  multiline: Flag,
  min_length: z.int().min(0).max(3000).optional(),
  max_length: z.int().min(1).max(3000).optional(),
});

const NumberText = z.string().regex(/^-?\d+(\.\d+)?$/);

export const NumberInput = z.strictObject({
  type: z.literal('number_input'),
  ...inputFields,
  is_decimal_allowed: z.boolean(),
  initial_value: NumberText.optional(),
  min_value: NumberText.optional(),
  max_value: NumberText.optional(),
});
