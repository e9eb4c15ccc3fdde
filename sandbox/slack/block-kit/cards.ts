import { z } from 'zod';
import { Button, FeedbackButtons, IconButton } from './elements.ts';
import { anyText, chars, Flag, ImageElement, plain } from './objects.ts';
import { broken } from './problems.ts';
import { RichText } from './rich-text.ts';

const BlockId = chars(255).optional();

export const Card = z
  .strictObject({
    type: z.literal('card'),
    block_id: BlockId,
    hero_image: ImageElement.optional(),
    icon: ImageElement.optional(),
    slack_icon: z.looseObject({}).optional(),
    title: anyText(150).optional(),
    subtitle: anyText(150).optional(),
    body: anyText(200).optional(),
    subtext: anyText(200).optional(),
    actions: z.array(Button).min(1).max(3).optional(),
  })
  .superRefine((card, ctx) => {
    if (!(card.hero_image || card.title || card.body || card.actions)) {
      ctx.addIssue(broken('empty_card', 'one of hero_image, title, actions, body is required'));
    }
    if (card.icon && card.slack_icon) {
      ctx.addIssue(broken('two_icons', 'only one of icon and slack_icon may be given'));
    }
  });

export const Carousel = z.strictObject({
  type: z.literal('carousel'),
  block_id: BlockId,
  elements: z.array(Card).min(1).max(10),
});

export const Alert = z.strictObject({
  type: z.literal('alert'),
  block_id: BlockId,
  text: anyText(200),
  level: z.enum(['default', 'info', 'warning', 'error', 'success']).optional(),
});

export const ContextActions = z.strictObject({
  type: z.literal('context_actions'),
  block_id: BlockId,
  elements: z
    .array(z.discriminatedUnion('type', [FeedbackButtons, IconButton]))
    .min(1)
    .max(5),
});

const Source = z.strictObject({ type: z.literal('url'), url: chars(3000), text: chars(3000) });

const taskFields = {
  type: z.literal('task_card'),
  block_id: BlockId,
  task_id: chars(255),
  title: chars(3000),
  details: RichText.optional(),
  output: RichText.optional(),
  sources: z.array(Source).optional(),
};

export const TaskCard = z.strictObject({
  ...taskFields,
  status: z.enum(['in_progress', 'complete', 'error']),
});

export const Plan = z.strictObject({
  type: z.literal('plan'),
  block_id: BlockId,
  title: chars(3000),
  tasks: z
    .array(
      z.strictObject({
        ...taskFields,
        status: z.enum(['pending', 'in_progress', 'complete', 'error']),
      }),
    )
    .optional(),
});

export const Video = z.strictObject({
  type: z.literal('video'),
  block_id: BlockId,
  alt_text: chars(2000),
  title: plain(199),
  title_url: chars(3000).optional(),
  description: plain(199).optional(),
  video_url: chars(3000),
  thumbnail_url: chars(3000),
  author_name: chars(49).optional(),
  provider_name: chars(255).optional(),
  provider_icon_url: chars(3000).optional(),
});

export const containerFields = {
  type: z.literal('container'),
  block_id: BlockId,
  title: plain(150).optional(),
  rich_text_title: RichText.optional(),
  subtitle: anyText(150).optional(),
  icon: ImageElement.optional(),
  width: z.enum(['narrow', 'standard', 'wide', 'full']).optional(),
  is_collapsible: Flag,
  default_collapsed: Flag,
  has_header_divider: Flag,
};
