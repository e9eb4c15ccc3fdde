import { expect, test } from 'vitest';
import {
  edits,
  initialState,
  problemOf,
  problemsOf,
  valuesOf,
} from '../../../sandbox/page/elements/element-state.ts';
import type { Json } from '../../../sandbox/protocol.ts';

const option = (value: string) => ({ text: { type: 'plain_text', text: value }, value });
const input = (id: string, element: Json, more: Json = {}): Json => ({
  type: 'input',
  block_id: id,
  element: { action_id: id, ...element },
  ...more,
});

const NAME = input('name', { type: 'plain_text_input', max_length: 5 });
const TAGS = input('tags', { type: 'multi_static_select', initial_options: [option('prod')] });
const NOTE = input('note', { type: 'plain_text_input' }, { optional: true });

test('an untouched form holds what the bot filled in', () => {
  expect(valuesOf([NAME, TAGS], {})).toEqual({
    name: { name: { type: 'plain_text_input', value: null } },
    tags: { tags: { type: 'multi_static_select', selected_options: [option('prod')] } },
  });
});

test('what a person typed wins over what the bot filled in', () => {
  const edited = { [edits('name', 'name')]: { type: 'plain_text_input', value: 'eu' } };
  expect(valuesOf([NAME], edited).name?.name).toEqual({ type: 'plain_text_input', value: 'eu' });
});

test('selects beside a section, in actions and in a container are part of the form too', () => {
  const select = { type: 'static_select', action_id: 'by', initial_option: option('day') };
  const blocks = [
    { type: 'section', block_id: 's', accessory: select },
    { type: 'container', child_blocks: [{ type: 'actions', block_id: 'a', elements: [select] }] },
    { type: 'actions', block_id: 'b', elements: [{ type: 'button', action_id: 'go' }] },
  ];
  expect(Object.keys(valuesOf(blocks, {}))).toEqual(['s', 'a']);
});

test('a form sent empty is refused at its required fields only', () => {
  expect(problemsOf([NAME, TAGS, NOTE], {})).toEqual({
    name: 'Please complete this required field.',
  });
});

test('a date and time picked by nobody is empty, midnight of 1970 is not', () => {
  const picker = { type: 'datetimepicker', action_id: 'at' };
  expect(problemOf(picker, initialState(picker), false)).not.toBeNull();
  expect(problemOf(picker, { ...picker, selected_date_time: 0 }, false)).toBeNull();
});

const NUMBER = { type: 'number_input', min_value: '1', max_value: '20' };

test.for<[who: string, element: Json, value: string, fits: boolean]>([
  ['a number in range', NUMBER, '3', true],
  ['a word for a number', NUMBER, 'three', false],
  ['half a replica', NUMBER, '1.5', false],
  ['half a credit where decimals fit', { ...NUMBER, is_decimal_allowed: true }, '1.5', true],
  ['a number below the range', NUMBER, '0', false],
  ['a number above the range', NUMBER, '21', false],
  ['a mail address', { type: 'email_text_input' }, 'a@b.c', true],
  ['half a mail address', { type: 'email_text_input' }, 'a@b', false],
  ['an address of the web', { type: 'url_text_input' }, 'https://a.b', true],
  ['words for an address', { type: 'url_text_input' }, 'a b', false],
  ['a text that is too short', { type: 'plain_text_input', min_length: 3 }, 'ab', false],
  ['a text that is too long', { type: 'plain_text_input', max_length: 3 }, 'abcd', false],
])('when somebody types %s', ([, element, value, fits]) => {
  expect(problemOf(element, { type: element.type, value }, false) === null).toBe(fits);
});
