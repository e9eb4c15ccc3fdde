import { type Json, record, stringOf } from '../json.ts';
import type { ViewValues } from '../protocol.ts';

/** An element of a block that a person can press or fill in. */
export interface BlockElement {
  readonly blockId: string;
  readonly block: Json;
  readonly element: Json;
}

/** For each kind of input: the field of its value in the state, and of its initial value. */
const stateFields: Readonly<Record<string, readonly [key: string, initial: string]>> = {
  plain_text_input: ['value', 'initial_value'],
  number_input: ['value', 'initial_value'],
  static_select: ['selected_option', 'initial_option'],
  external_select: ['selected_option', 'initial_option'],
  conversations_select: ['selected_conversation', 'initial_conversation'],
};

/** The field that holds the value in the state of an input of this type. */
export const valueKey = (type: string): string => stateFields[type]?.[0] ?? 'value';

/** The state of an input that nobody has changed, in the shape of Slack's `state.values`. */
export function initialInputState(element: Json): Json {
  const type = stringOf(element.type);
  const [key, initial] = stateFields[type] ?? ['value', 'initial_value'];
  return { type, [key]: element[initial] ?? null };
}

/** Every element of the blocks that has an action_id. */
export function elementsIn(blocks: readonly Json[]): BlockElement[] {
  return blocks.flatMap((block) => {
    const blockId = stringOf(block.block_id);
    const candidates = [block.accessory, block.element, ...elementList(block)].map(record);
    return candidates
      .filter(({ action_id }) => typeof action_id === 'string')
      .map((element) => ({ blockId, block, element }));
  });
}

const elementList = ({ elements }: Json): readonly unknown[] =>
  Array.isArray(elements) ? elements : [];

/** The state that Slack sends with a payload: the filled-in values, otherwise the initial ones. */
export function stateValues(blocks: readonly Json[], filled: ViewValues = {}): ViewValues {
  const values: Record<string, Record<string, Json>> = {};
  for (const { blockId, element } of elementsIn(blocks)) {
    const type = stringOf(element.type);
    if (!(type in stateFields)) continue;
    const actionId = stringOf(element.action_id);
    const input = { ...initialInputState(element), ...filled[blockId]?.[actionId], type };
    values[blockId] = { ...values[blockId], [actionId]: input };
  }
  return values;
}
