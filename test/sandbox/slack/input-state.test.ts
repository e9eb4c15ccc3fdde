import { expect, test } from 'vitest';
import type { Json } from '../../../sandbox/json.ts';
import { stateValues } from '../../../sandbox/slack/input-state.ts';
import { fieldErrors } from '../../../sandbox/slack/interactions/field-errors.ts';
import { option } from './block-samples.ts';

const input = (id: string, element: Json, more: Json = {}): Json => ({
  type: 'input',
  block_id: id,
  element: { action_id: id, ...element },
  ...more,
});

const NAME = input('name', { type: 'plain_text_input', max_length: 5 });
const TAG = input('tag', { type: 'static_select', initial_option: option('prod') });
const NOTE = input('note', { type: 'plain_text_input' }, { optional: true });

const typed = (id: string, type: unknown, value: string | null) => ({
  [id]: { [id]: { type, value } },
});

const errorsOf = (blocks: Json[], values = {}) =>
  fieldErrors({
    ...{ id: 'V1', person: 'U1', type: 'modal', content: {}, hash: '', errors: {} },
    ...{ blocks, values },
  });

test('the state of an untouched form has the initial values', () => {
  expect(stateValues([NAME, TAG])).toEqual({
    name: { name: { type: 'plain_text_input', value: null } },
    tag: { tag: { type: 'static_select', selected_option: option('prod') } },
  });
});

test('a typed value replaces the initial value', () => {
  const filled = typed('name', 'plain_text_input', 'eu');
  expect(stateValues([NAME], filled)).toEqual(filled);
});

test('the state also has the selects of sections and of actions, but no buttons', () => {
  const select = { type: 'static_select', action_id: 'by', initial_option: option('day') };
  const blocks = [
    { type: 'section', block_id: 's', accessory: select },
    { type: 'actions', block_id: 'a', elements: [select] },
    { type: 'actions', block_id: 'b', elements: [{ type: 'button', action_id: 'go' }] },
  ];
  expect(Object.keys(stateValues(blocks))).toEqual(['s', 'a']);
});

test('an empty form has errors only at its required fields', () => {
  expect(errorsOf([NAME, TAG, NOTE])).toEqual({ name: 'Please complete this required field.' });
});

test('a fraction is valid where decimals are allowed', () => {
  const element = { type: 'number_input', min_value: '1', is_decimal_allowed: true };
  const typedIn = typed('field', element.type, '1.5');
  expect(errorsOf([input('field', element)], typedIn)).toEqual({});
});
