import { type Json, record, stringOf } from '../../json.ts';
import { elementsIn, stateValues, valueKey } from '../input-state.ts';
import type { StoredView } from '../records.ts';

/** The errors, by block_id, that Slack shows before it sends a submission to the app. */
export function fieldErrors(view: StoredView): Record<string, string> {
  const state = stateValues(view.blocks, view.values);
  const inputs = elementsIn(view.blocks).filter(({ block }) => block.type === 'input');
  const errors = inputs.map(({ block, blockId, element }): [string, string | null] => {
    const input = record(state[blockId]?.[stringOf(element.action_id)]);
    return [blockId, fieldError(block, element, input[valueKey(stringOf(input.type))])];
  });
  return Object.fromEntries(errors.filter((one): one is [string, string] => one[1] !== null));
}

function fieldError(block: Json, element: Json, value: unknown): string | null {
  if (value === null || value === undefined || value === '') {
    return block.optional === true ? null : 'Please complete this required field.';
  }
  if (typeof value !== 'string') return null;
  if (element.type === 'number_input') return numberError(element, value);
  return element.type === 'plain_text_input' ? lengthError(element, value) : null;
}

function numberError(element: Json, value: string): string | null {
  const number = Number(value);
  if (!Number.isFinite(number)) return 'Please enter a number.';
  if (element.is_decimal_allowed !== true && !Number.isInteger(number)) {
    return 'Please enter a whole number.';
  }
  if (number < Number(element.min_value ?? Number.NEGATIVE_INFINITY)) {
    return `Please enter a number of at least ${element.min_value}.`;
  }
  return number > Number(element.max_value ?? Number.POSITIVE_INFINITY)
    ? `Please enter a number of at most ${element.max_value}.`
    : null;
}

function lengthError(element: Json, value: string): string | null {
  const length = [...value].length;
  if (length < Number(element.min_length ?? 0)) {
    return `Please enter at least ${element.min_length} characters.`;
  }
  return length > Number(element.max_length ?? 3000)
    ? `Please enter at most ${element.max_length ?? 3000} characters.`
    : null;
}
