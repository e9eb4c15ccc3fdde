import { z } from 'zod';
import { chars, Flag } from './objects.ts';

const Style = z.strictObject({ bold: Flag, italic: Flag, strike: Flag, code: Flag }).optional();

const leaf = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.strictObject({ type: z.literal(type), style: Style, ...shape });

const Text = leaf('text', { text: chars(40_000) });
const Link = leaf('link', { url: chars(3000), text: chars(40_000).optional(), unsafe: Flag });

const Leaf = z.discriminatedUnion('type', [
  Text,
  Link,
  leaf('user', { user_id: chars(255) }),
  leaf('usergroup', { usergroup_id: chars(255) }),
  leaf('channel', { channel_id: chars(255) }),
  leaf('broadcast', { range: z.enum(['here', 'channel', 'everyone']) }),
  leaf('date', {
    timestamp: z.int(),
    format: chars(255),
    url: chars(3000).optional(),
    fallback: chars(3000).optional(),
  }),
]);

export const RichText = z.strictObject({
  type: z.literal('rich_text'),
  block_id: chars(255).optional(),
  elements: z.array(
    z.discriminatedUnion('type', [
      z.strictObject({ type: z.literal('rich_text_section'), elements: z.array(Leaf) }),
      z.strictObject({
        type: z.literal('rich_text_preformatted'),
        border: z.union([z.literal(0), z.literal(1)]).optional(),
        elements: z.array(z.discriminatedUnion('type', [Text, Link])),
      }),
    ]),
  ),
});
