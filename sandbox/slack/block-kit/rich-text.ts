import { z } from 'zod';
import { chars, Flag } from './objects.ts';

const Looks = z
  .strictObject({
    bold: Flag,
    italic: Flag,
    strike: Flag,
    code: Flag,
    underline: Flag,
    highlight: Flag,
    client_highlight: Flag,
    unlink: Flag,
  })
  .optional();

const leaf = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.strictObject({ type: z.literal(type), style: Looks, ...shape });

const Text = leaf('text', { text: chars(40_000) });
const Link = leaf('link', { url: chars(3000), text: chars(40_000).optional(), unsafe: Flag });

const Leaf = z.discriminatedUnion('type', [
  Text,
  Link,
  leaf('user', { user_id: chars(255) }),
  leaf('usergroup', { usergroup_id: chars(255) }),
  leaf('channel', { channel_id: chars(255) }),
  leaf('team', { team_id: chars(255) }),
  leaf('broadcast', { range: z.enum(['here', 'channel', 'everyone']) }),
  leaf('color', { value: chars(255) }),
  leaf('emoji', {
    name: chars(255),
    unicode: chars(255).optional(),
    url: chars(3000).optional(),
  }),
  leaf('date', {
    timestamp: z.int(),
    format: chars(255),
    url: chars(3000).optional(),
    fallback: chars(3000).optional(),
  }),
]);

const Border = z.union([z.literal(0), z.literal(1)]).optional();
const Section = z.strictObject({
  type: z.literal('rich_text_section'),
  elements: z.array(Leaf),
});

const RichTextElement = z.discriminatedUnion('type', [
  Section,
  z.strictObject({
    type: z.literal('rich_text_list'),
    style: z.enum(['bullet', 'ordered']),
    indent: z.int().min(0).max(8).optional(),
    offset: z.int().min(0).optional(),
    border: Border,
    elements: z.array(Section).min(1),
  }),
  z.strictObject({
    type: z.literal('rich_text_quote'),
    border: Border,
    elements: z.array(Leaf),
  }),
  z.strictObject({
    type: z.literal('rich_text_preformatted'),
    border: Border,
    language: chars(50).optional(),
    elements: z.array(z.discriminatedUnion('type', [Text, Link])),
  }),
]);

export const RichText = z.strictObject({
  type: z.literal('rich_text'),
  block_id: chars(255).optional(),
  elements: z.array(RichTextElement),
});
