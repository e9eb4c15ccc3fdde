import type { Json, ViewValues } from '../../protocol.ts';
import { amount, list, record, textOf, word } from '../json.ts';

/** Under which name Slack's state holds what an element has, and which field it starts from. */
const HELD: Readonly<Record<string, readonly [key: string, initial: string]>> = {
  plain_text_input: ['value', 'initial_value'],
  number_input: ['value', 'initial_value'],
  email_text_input: ['value', 'initial_value'],
  url_text_input: ['value', 'initial_value'],
  static_select: ['selected_option', 'initial_option'],
  external_select: ['selected_option', 'initial_option'],
  users_select: ['selected_user', 'initial_user'],
  conversations_select: ['selected_conversation', 'initial_conversation'],
  channels_select: ['selected_channel', 'initial_channel'],
  multi_static_select: ['selected_options', 'initial_options'],
  multi_external_select: ['selected_options', 'initial_options'],
  multi_users_select: ['selected_users', 'initial_users'],
  multi_conversations_select: ['selected_conversations', 'initial_conversations'],
  multi_channels_select: ['selected_channels', 'initial_channels'],
  checkboxes: ['selected_options', 'initial_options'],
  radio_buttons: ['selected_option', 'initial_option'],
  datepicker: ['selected_date', 'initial_date'],
  timepicker: ['selected_time', 'initial_time'],
  datetimepicker: ['selected_date_time', 'initial_date_time'],
};

export const heldKey = (type: string): string => HELD[type]?.[0] ?? 'value';

export const holdsMany = (type: string): boolean => heldKey(type).endsWith('s');

/** What the element holds before anyone touched it, in the shape of Slack's `state.values`. */
export function initialState(element: Json): Json {
  const type = word(element.type);
  const [key, initial] = HELD[type] ?? ['value', 'initial_value'];
  return { type, [key]: element[initial] ?? (holdsMany(type) ? [] : null) };
}

export function isEmpty(state: Json): boolean {
  const held = state[heldKey(word(state.type))];
  if (Array.isArray(held)) return held.length === 0;
  return held === null || held === undefined || held === '';
}

export const blockIdOf = (block: Json, at: number): string => word(block.block_id) || `block-${at}`;

interface Placed {
  readonly blockId: string;
  readonly element: Json;
}

const flat = (blocks: readonly Json[]): readonly Json[] =>
  blocks.flatMap((block) => (block.type === 'container' ? list(block.child_blocks) : [block]));

/** Every element of the blocks that holds a value. */
export function holders(blocks: readonly Json[]): readonly Placed[] {
  return flat(blocks)
    .flatMap((block, at) =>
      elementsOf(block).map((element) => ({ blockId: blockIdOf(block, at), element })),
    )
    .filter(({ element }) => word(element.type) in HELD);
}

function elementsOf(block: Json): readonly Json[] {
  if (block.type === 'input') return [record(block.element)];
  if (block.type === 'section') return [record(block.accessory)];
  return block.type === 'actions' ? list(block.elements) : [];
}

export const edits = (blockId: string, actionId: unknown): string =>
  `${blockId}\n${word(actionId)}`;

export type Edited = Readonly<Record<string, Json>>;

/** The whole form: what people changed, and for the rest what the bot filled in. */
export function valuesOf(blocks: readonly Json[], edited: Edited): ViewValues {
  const values: Record<string, Record<string, Json>> = {};
  for (const { blockId, element } of holders(blocks)) {
    const state = edited[edits(blockId, element.action_id)] ?? initialState(element);
    values[blockId] = { ...values[blockId], [word(element.action_id)]: state };
  }
  return values;
}

/** What Slack itself refuses before the bot hears of the form, by block_id. */
export function problemsOf(blocks: readonly Json[], edited: Edited): Record<string, string> {
  const problems: Record<string, string> = {};
  for (const [at, block] of flat(blocks).entries()) {
    if (block.type !== 'input') continue;
    const element = record(block.element);
    if (!(word(element.type) in HELD)) continue;
    const blockId = blockIdOf(block, at);
    const state = edited[edits(blockId, element.action_id)] ?? initialState(element);
    const problem = problemOf(element, state, block.optional === true);
    if (problem !== null) problems[blockId] = problem;
  }
  return problems;
}

export function problemOf(element: Json, state: Json, optional: boolean): string | null {
  if (isEmpty(state)) return optional ? null : 'Please complete this required field.';
  const value = textOf(state.value);
  const check = CHECKS[word(element.type)];
  return check === undefined ? null : check(value, element);
}

type Check = (value: string, element: Json) => string | null;

const CHECKS: Readonly<Record<string, Check>> = {
  plain_text_input: (value, { min_length, max_length }) => {
    if (value.length < (amount(min_length) ?? 0)) return `Use at least ${min_length} characters.`;
    if (value.length > (amount(max_length) ?? 3000))
      return `Use at most ${max_length ?? 3000} characters.`;
    return null;
  },
  number_input: (value, element) => {
    const number = Number(value);
    if (Number.isNaN(number)) return 'Enter a number.';
    if (element.is_decimal_allowed !== true && !Number.isInteger(number))
      return 'Enter a whole number.';
    if (number < Number(element.min_value ?? -Infinity))
      return `Enter ${element.min_value} or more.`;
    if (number > Number(element.max_value ?? Infinity))
      return `Enter ${element.max_value} or less.`;
    return null;
  },
  email_text_input: (value) =>
    /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(value) ? null : 'Enter a valid email address.',
  url_text_input: (value) => (URL.canParse(value) ? null : 'Enter a valid URL.'),
};
