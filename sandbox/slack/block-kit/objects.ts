import { z } from 'zod';
import { broken } from './problems.ts';

/** Slack counts characters as people do, so an emoji outside the basic plane is one. */
export function chars(max: number, min = 1) {
  return z.string().superRefine((text, ctx) => {
    const length = [...text].length;
    const shared = { origin: 'string' as const, inclusive: true, input: text };
    if (length > max) ctx.addIssue({ code: 'too_big', maximum: max, ...shared });
    if (length < min) ctx.addIssue({ code: 'too_small', minimum: min, ...shared });
  });
}

export const Flag = z.boolean().optional();

export const plain = (max: number) =>
  z.strictObject({ type: z.literal('plain_text'), text: chars(max), emoji: Flag });

export const mrkdwn = (max: number) =>
  z.strictObject({ type: z.literal('mrkdwn'), text: chars(max), verbatim: Flag });

export const anyText = (max: number) => z.discriminatedUnion('type', [plain(max), mrkdwn(max)]);

export const Style = z.enum(['primary', 'danger']).optional();

export const Confirm = z.strictObject({
  title: plain(100).optional(),
  text: anyText(300),
  confirm: plain(30).optional(),
  deny: plain(30).optional(),
  style: Style,
});

const optionFields = { value: chars(75), description: plain(75).optional() };
export const PlainOption = z.strictObject({ text: plain(75), ...optionFields });
export const RichOption = z.strictObject({
  text: anyText(75),
  value: chars(75),
  description: anyText(75).optional(),
});
export const OverflowOption = PlainOption.extend({ url: chars(3000).optional() });

export const OptionGroup = z.strictObject({
  label: plain(75),
  options: z.array(PlainOption).min(1).max(100),
});

export const Filter = z
  .strictObject({
    include: z
      .array(z.enum(['im', 'mpim', 'private', 'public']))
      .min(1)
      .optional(),
    exclude_external_shared_channels: Flag,
    exclude_bot_users: Flag,
  })
  .superRefine((filter, ctx) => {
    if (Object.keys(filter).length === 0) {
      ctx.addIssue(broken('empty_filter', 'a filter must say something'));
    }
  });

const SlackFile = z
  .strictObject({
    id: z
      .string()
      .regex(/^F[A-Z0-9]{8,}$/)
      .optional(),
    url: chars(3000).optional(),
  })
  .superRefine((file, ctx) => {
    if ((file.id === undefined) === (file.url === undefined)) {
      ctx.addIssue(broken('invalid_slack_file', 'exactly one of id and url must be given'));
    }
  });

export const imageFields = {
  type: z.literal('image'),
  alt_text: chars(2000),
  image_url: chars(3000).optional(),
  slack_file: SlackFile.optional(),
};

interface Pictured {
  readonly image_url?: string | undefined;
  readonly slack_file?: unknown;
}

export function oneSource(image: Pictured, ctx: z.RefinementCtx): void {
  if ((image.image_url === undefined) === (image.slack_file === undefined)) {
    const rule = 'exactly one of image_url and slack_file must be given';
    ctx.addIssue(broken('invalid_image', rule));
  }
}

export const ImageElement = z.strictObject(imageFields).superRefine(oneSource);
