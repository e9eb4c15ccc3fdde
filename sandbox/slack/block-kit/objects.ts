import { z } from 'zod';

/** A string of `min` to `max` code points: Slack counts an emoji as one character. */
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

export const Option = z.strictObject({
  text: plain(75),
  value: chars(75),
  description: plain(75).optional(),
});

export const OverflowOption = Option.extend({ url: chars(3000).optional() });

export const OptionGroup = z.strictObject({
  label: plain(75),
  options: z.array(Option).min(1).max(100),
});
