import { z } from 'zod';
import { placeable } from './elements.ts';
import { chars, Flag } from './objects.ts';
import { RichText } from './rich-text.ts';

const { confirm: _noConfirm, ...field } = placeable;

const DispatchConfig = z.strictObject({
  trigger_actions_on: z
    .array(z.enum(['on_enter_pressed', 'on_character_entered']))
    .min(1)
    .max(2)
    .optional(),
});
const dispatching = { ...field, dispatch_action_config: DispatchConfig.optional() };
const NumberText = z.string().regex(/^-?\d+(\.\d+)?$/);

export const PlainTextInput = z.strictObject({
  type: z.literal('plain_text_input'),
  ...dispatching,
  initial_value: chars(3000, 0).optional(),
  multiline: Flag,
  min_length: z.int().min(0).max(3000).optional(),
  max_length: z.int().min(1).max(3000).optional(),
});

export const NumberInput = z.strictObject({
  type: z.literal('number_input'),
  ...dispatching,
  is_decimal_allowed: z.boolean(),
  initial_value: NumberText.optional(),
  min_value: NumberText.optional(),
  max_value: NumberText.optional(),
});

export const EmailInput = z.strictObject({
  type: z.literal('email_text_input'),
  ...dispatching,
  initial_value: chars(3000).optional(),
});

export const UrlInput = z.strictObject({
  type: z.literal('url_text_input'),
  ...dispatching,
  initial_value: chars(3000).optional(),
});

export const RichTextInput = z.strictObject({
  type: z.literal('rich_text_input'),
  ...dispatching,
  initial_value: RichText.optional(),
  min_lines: z.int().min(1).optional(),
  max_lines: z.int().min(1).optional(),
});

export const FileInput = z.strictObject({
  type: z.literal('file_input'),
  action_id: chars(255).optional(),
  filetypes: z.array(chars(50)).min(1).optional(),
  max_files: z.int().min(1).max(10).optional(),
});
