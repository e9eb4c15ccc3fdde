import { z } from 'zod';
import { DataVisualization } from './charts.ts';
import {
  Button,
  ConversationsSelect,
  ExternalSelect,
  NumberInput,
  Overflow,
  PlainTextInput,
  StaticSelect,
} from './elements.ts';
import { anyText, chars, Flag, mrkdwn, plain } from './objects.ts';
import { ruleBroken } from './problems.ts';
import { RichText } from './rich-text.ts';
import { DataTable, Table } from './tables.ts';

const selects = [StaticSelect, ConversationsSelect, ExternalSelect] as const;

const block = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.strictObject({ type: z.literal(type), block_id: chars(255).optional(), ...shape });

const Section = block('section', {
  text: anyText(3000).optional(),
  fields: z.array(anyText(2000)).min(1).max(10).optional(),
  accessory: z.discriminatedUnion('type', [...selects, Button, Overflow]).optional(),
}).superRefine(({ text, fields }, ctx) => {
  if (text || fields) return;
  ctx.addIssue(ruleBroken('missing_field', 'missing required field: text or fields'));
});

const ActionElement = z.discriminatedUnion('type', [...selects, Button, Overflow]);
const Actions = block('actions', { elements: z.array(ActionElement).min(1).max(25) });

const ContextElement = z.discriminatedUnion('type', [plain(3000), mrkdwn(3000)]);
const Context = block('context', { elements: z.array(ContextElement).min(1).max(10) });

const Input = block('input', {
  label: plain(2000),
  hint: plain(2000).optional(),
  optional: Flag,
  dispatch_action: Flag,
  element: z.discriminatedUnion('type', [...selects, PlainTextInput, NumberInput]),
});

const Divider = block('divider', {});
const Header = block('header', { text: plain(150) });

const everywhere = [Actions, Context, Divider, Header, Input, RichText, Section] as const;

/**
 * The blocks that Signalbox sends, and the surfaces on which Slack accepts them. Any other block
 * is refused as an unsupported type.
 */
export const ModalBlock = z.discriminatedUnion('type', everywhere);
export const MessageOrHomeBlock = z.discriminatedUnion('type', [
  ...everywhere,
  DataTable,
  DataVisualization,
  Table,
]);
