import type { Json, ViewValues } from '../protocol.ts';
import { isJson, stringOr } from './json.ts';
import { freshId } from './state.ts';

/** Something in a block that people press or fill in. */
export interface Placed {
  readonly blockId: string;
  readonly block: Json;
  readonly element: Json;
}

const interactive = new Set([
  ...['button', 'overflow', 'radio_buttons', 'checkboxes', 'datepicker', 'timepicker'],
  ...['datetimepicker', 'icon_button', 'feedback_buttons', 'file_input', 'rich_text_input'],
  ...['plain_text_input', 'number_input', 'email_text_input', 'url_text_input'],
  ...['static', 'external', 'users', 'conversations', 'channels'].flatMap((kind) => [
    `${kind}_select`,
    `multi_${kind}_select`,
  ]),
]);

/** Blocks as Slack keeps them: every block and every element has an id, texts their flags. */
export function completed(blocks: readonly Json[]): Json[] {
  return blocks.map((block) => ({ block_id: freshId('b'), ...completedFields(block) }));
}

function completedFields(value: Json): Json {
  const fields = Object.entries(value).map(([key, one]) => [key, completedValue(key, one)]);
  const type = stringOr(value.type, '');
  return { ...defaultsOf(type), ...Object.fromEntries(fields) };
}

function completedValue(key: string, value: unknown): unknown {
  if (key === 'child_blocks' && Array.isArray(value)) return completed(value.filter(isJson));
  if (Array.isArray(value)) return value.map((one) => completedValue('', one));
  return isJson(value) ? completedFields(value) : value;
}

function defaultsOf(type: string): Json {
  if (type === 'plain_text') return { emoji: true };
  if (type === 'mrkdwn') return { verbatim: false };
  return interactive.has(type) ? { action_id: freshId('a') } : {};
}

/** Every element with an action_id, wherever it stands. */
export function elementsIn(blocks: readonly Json[]): Placed[] {
  return blocks.flatMap((block) => elementsOf(block, block, stringOr(block.block_id, '')));
}

function elementsOf(value: unknown, block: Json, blockId: string): Placed[] {
  if (Array.isArray(value)) return value.flatMap((one) => elementsOf(one, block, blockId));
  if (!isJson(value)) return [];
  if (typeof value.action_id === 'string') return [{ blockId, block, element: value }];
  const inner = typeof value.block_id === 'string' ? value : block;
  const innerId = stringOr(inner.block_id, blockId);
  return Object.values(value).flatMap((one) => elementsOf(one, inner, innerId));
}

export function elementAt(
  blocks: readonly Json[],
  blockId: string,
  actionId: string,
): Json | undefined {
  const same = elementsIn(blocks).filter(({ element }) => element.action_id === actionId);
  return same.find((one) => one.blockId === blockId)?.element;
}

/** For each kind of input: where its value stands, where its first value, what nothing is. */
const stateFields: Readonly<Record<string, readonly [string, string, unknown]>> = {
  plain_text_input: ['value', 'initial_value', null],
  number_input: ['value', 'initial_value', null],
  email_text_input: ['value', 'initial_value', null],
  url_text_input: ['value', 'initial_value', null],
  rich_text_input: ['rich_text_value', 'initial_value', null],
  file_input: ['files', 'initial_files', []],
  static_select: ['selected_option', 'initial_option', null],
  external_select: ['selected_option', 'initial_option', null],
  radio_buttons: ['selected_option', 'initial_option', null],
  multi_static_select: ['selected_options', 'initial_options', []],
  multi_external_select: ['selected_options', 'initial_options', []],
  checkboxes: ['selected_options', 'initial_options', []],
  users_select: ['selected_user', 'initial_user', null],
  multi_users_select: ['selected_users', 'initial_users', []],
  conversations_select: ['selected_conversation', 'initial_conversation', null],
  multi_conversations_select: ['selected_conversations', 'initial_conversations', []],
  channels_select: ['selected_channel', 'initial_channel', null],
  multi_channels_select: ['selected_channels', 'initial_channels', []],
  datepicker: ['selected_date', 'initial_date', null],
  timepicker: ['selected_time', 'initial_time', null],
  datetimepicker: ['selected_date_time', 'initial_date_time', null],
};

/** The state that Slack sends along: what people filled in, else what the inputs began with. */
export function stateValues(blocks: readonly Json[], filled: ViewValues = {}): ViewValues {
  const values: Record<string, Record<string, Json>> = {};
  for (const { blockId, element } of elementsIn(blocks)) {
    const type = stringOr(element.type, '');
    const field = stateFields[type];
    if (!field) continue;
    const [key, initial, nothing] = field;
    const actionId = stringOr(element.action_id, '');
    const given = filled[blockId]?.[actionId] ?? {};
    values[blockId] ??= {};
    values[blockId][actionId] = { [key]: element[initial] ?? nothing, ...given, type };
  }
  return values;
}

export function heldValue(state: Json): unknown {
  const field = stateFields[stringOr(state.type, '')];
  return field && state[field[0]];
}
