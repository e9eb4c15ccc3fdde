import type { Json } from '../../protocol.ts';
import { elementsIn, heldValue, stateValues } from '../block-elements.ts';
import { jsonOr, stringOr } from '../json.ts';
import type { StoredView } from '../views.ts';

/** What Slack itself says about filled-in fields before it asks the app, by block_id. */
export function fieldErrors(view: StoredView): Record<string, string> {
  const state = stateValues(view.blocks, view.values);
  const found = elementsIn(view.blocks)
    .filter(({ block }) => block.type === 'input')
    .map(({ block, blockId, element }): [string, string | null] => {
      const held = jsonOr(state[blockId]?.[stringOr(element.action_id, '')]);
      return [blockId, complaint(block, element, heldValue(held))];
    });
  return Object.fromEntries(found.filter((one): one is [string, string] => one[1] !== null));
}

function complaint(block: Json, element: Json, value: unknown): string | null {
  const empty = value === null || value === '' || (Array.isArray(value) && value.length === 0);
  if (empty || value === undefined) {
    return block.optional === true ? null : 'Please complete this required field.';
  }
  if (typeof value !== 'string') return null;
  if (element.type === 'number_input') return numberComplaint(element, value);
  if (element.type === 'plain_text_input') return lengthComplaint(element, value);
  if (element.type === 'url_text_input' && !URL.canParse(value)) return 'Please enter a valid URL.';
  if (element.type === 'email_text_input' && !/^\S+@\S+$/.test(value)) {
    return 'Please enter a valid email address.';
  }
  return null;
}

function numberComplaint(element: Json, value: string): string | null {
  const number = Number(value);
  if (!Number.isFinite(number)) return 'Please enter a number.';
  if (element.is_decimal_allowed !== true && !Number.isInteger(number)) {
    return 'Please enter a whole number.';
  }
  if (number < Number(element.min_value ?? Number.NEGATIVE_INFINITY)) {
    return `Please enter a number of at least ${element.min_value}.`;
  }
  if (number > Number(element.max_value ?? Number.POSITIVE_INFINITY)) {
    return `Please enter a number of at most ${element.max_value}.`;
  }
  return null;
}

function lengthComplaint(element: Json, value: string): string | null {
  const length = [...value].length;
  if (length < Number(element.min_length ?? 0)) {
    return `Please enter at least ${element.min_length} characters.`;
  }
  return length > Number(element.max_length ?? 3000)
    ? `Please enter at most ${element.max_length ?? 3000} characters.`
    : null;
}
