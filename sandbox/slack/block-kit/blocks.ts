import { z } from 'zod';
import {
  Alert,
  Card,
  Carousel,
  ContextActions,
  containerFields,
  Plan,
  TaskCard,
  Video,
} from './cards.ts';
import { DataVisualization } from './charts.ts';
import {
  Button,
  Checkboxes,
  Datepicker,
  DateTimepicker,
  MultiStaticSelect,
  Overflow,
  RadioButtons,
  StaticSelect,
  Timepicker,
} from './elements.ts';
import {
  EmailInput,
  FileInput,
  NumberInput,
  PlainTextInput,
  RichTextInput,
  UrlInput,
} from './inputs.ts';
import {
  anyText,
  chars,
  Flag,
  ImageElement,
  imageFields,
  mrkdwn,
  oneSource,
  plain,
} from './objects.ts';
import {
  ChannelsSelect,
  ConversationsSelect,
  ExternalSelect,
  MultiChannelsSelect,
  MultiConversationsSelect,
  MultiExternalSelect,
  MultiUsersSelect,
  UsersSelect,
} from './pickers.ts';
import { broken } from './problems.ts';
import { RichText } from './rich-text.ts';
import { DataTable, Table } from './tables.ts';

const selects = [
  StaticSelect,
  MultiStaticSelect,
  UsersSelect,
  MultiUsersSelect,
  ConversationsSelect,
  MultiConversationsSelect,
  ChannelsSelect,
  MultiChannelsSelect,
  ExternalSelect,
  MultiExternalSelect,
] as const;
const choices = [...selects, RadioButtons, Checkboxes, Datepicker, Timepicker] as const;

const BlockId = chars(255).optional();
const block = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.strictObject({ type: z.literal(type), block_id: BlockId, ...shape });

const Section = block('section', {
  text: anyText(3000).optional(),
  fields: z.array(anyText(2000)).min(1).max(10).optional(),
  accessory: z.discriminatedUnion('type', [...choices, Button, Overflow, ImageElement]).optional(),
  expand: Flag,
}).superRefine((section, ctx) => {
  if (section.text || section.fields) return;
  ctx.addIssue(broken('missing_field', 'one of text and fields is required'));
});

const ActionElement = z.discriminatedUnion('type', [
  ...choices,
  Button,
  Overflow,
  DateTimepicker,
  RichTextInput,
]);
const Actions = block('actions', { elements: z.array(ActionElement).min(1).max(25) });

const ContextElement = z.discriminatedUnion('type', [plain(3000), mrkdwn(3000), ImageElement]);
const Context = block('context', { elements: z.array(ContextElement).min(1).max(10) });

const InputElement = z.discriminatedUnion('type', [
  ...choices,
  DateTimepicker,
  PlainTextInput,
  NumberInput,
  EmailInput,
  UrlInput,
  RichTextInput,
  FileInput,
]);
const Input = block('input', {
  label: plain(2000),
  hint: plain(2000).optional(),
  optional: Flag,
  dispatch_action: Flag,
  element: InputElement,
}).superRefine((input, ctx) => {
  if (!input.dispatch_action || input.element.type !== 'file_input') return;
  ctx.addIssue(broken('invalid_dispatch', 'file_input cannot be used with dispatch_action'));
});

const Divider = block('divider', {});
const Header = block('header', { text: plain(150), level: z.int().min(1).max(4).optional() });
const Image = z
  .strictObject({ block_id: BlockId, ...imageFields, title: plain(2000).optional() })
  .superRefine(oneSource);
const Markdown = block('markdown', { text: chars(12_000) });

const everywhere = [
  Actions,
  Context,
  Divider,
  Header,
  Image,
  Input,
  RichText,
  Section,
  Video,
] as const;

const Container = z
  .strictObject({
    ...containerFields,
    child_blocks: z
      .array(z.discriminatedUnion('type', [...everywhere, Table]))
      .min(1)
      .max(10),
  })
  .superRefine((container, ctx) => {
    if (!container.title === !container.rich_text_title) {
      const rule = 'exactly one of title and rich_text_title must be given';
      ctx.addIssue(broken('invalid_title', rule));
    }
  });

const shown = [Carousel, Container, Table, DataTable, DataVisualization] as const;

/** Which block may stand where. A block that is not listed is refused as an unsupported type. */
export const MessageBlock = z.discriminatedUnion('type', [
  ...everywhere,
  ...shown,
  Card,
  ContextActions,
  Markdown,
  Plan,
  TaskCard,
]);
export const ModalBlock = z.discriminatedUnion('type', [...everywhere, Card, Alert]);
export const HomeBlock = z.discriminatedUnion('type', [...everywhere, ...shown, Card]);
