import { expect, test } from 'vitest';
import {
  messageProblems,
  refuseBlocks,
  viewProblems,
} from '../../../sandbox/slack/block-kit/validate.ts';
import {
  actions,
  barChart,
  button,
  dataTable,
  input,
  modal,
  mrkdwn,
  option,
  plain,
  points,
  raws,
  richText,
  section,
  select,
  table,
  times,
  words,
} from './block-samples.ts';

const first = '/blocks/0/elements/0';
const NO_BLOCK = 'unsupported_type /blocks/0/type';
const NO_VIEW_BLOCK = 'unsupported_type /view/blocks/0/type';
const series = 'duplicate_series /blocks/0/chart/series';

const codes = (found: readonly { code: string; pointer: string }[]) =>
  found.map(({ code, pointer }) => `${code} ${pointer}`);

test.for<[string, object[], string]>([
  ['an unknown block', [{ type: 'blink' }], NO_BLOCK],
  ...['image', 'carousel', 'markdown', 'card', 'video'].map((type): [string, object[], string] => [
    `a ${type}, which Signalbox does not send`,
    [{ type }],
    NO_BLOCK,
  ]),
  ['a datepicker', [actions({ type: 'datepicker' })], `unsupported_type ${first}/type`],
  ['an authored file', [{ type: 'file', source: 'remote' }], NO_BLOCK],
  ['an unknown key', [{ ...section('x'), colour: 'red' }], 'unknown_field /blocks/0'],
  ['a mrkdwn header', [{ type: 'header', text: mrkdwn('x') }], 'invalid_value /blocks/0/text/type'],
  ['a section without text', [{ type: 'section' }], 'missing_field /blocks/0'],
  ['a header without text', [{ type: 'header' }], 'missing_field /blocks/0'],
  ['a bare string as text', [{ type: 'section', text: 'x' }], 'wrong_type /blocks/0/text'],
  ['one block_id twice', [ided('a'), ided('a')], 'duplicate_block_id /blocks/1/block_id'],
  ['one action_id twice', [actions(named('a'), named('a'))], 'duplicate_action_id /blocks/0'],
  ['a text input outside input', [actions(typed())], 'unsupported_type /blocks/0/elements/0/type'],
  ['a button in an input', [input(button())], 'unsupported_type /blocks/0/element/type'],
  ['an option that is not offered', [actions(chosen('c'))], invalid('initial_option')],
  ['options and groups', [actions(both())], invalid('options')],
  ['a purple button', [actions(button({ style: 'purple' }))], `invalid_value ${first}/style`],
  ['uneven rows', [dataTable([raws(2), raws(1)])], 'uneven_rows /blocks/0/rows/1'],
  ['rich text as a header cell', [dataTable([[rich()], raws(1)])], 'rich_header /blocks/0/rows/0'],
  ['two tables', times(2, () => table([raws(1)])), 'only_one_table_allowed /blocks'],
  ['a middle column', [aligned('middle')], 'invalid_value /blocks/0/column_settings/0/align'],
  ['a data table without caption', [captionless()], 'missing_field /blocks/0'],
  [
    'a missing point',
    [barChart(['a', 'b'], [one(['a'])])],
    'points_mismatch /blocks/0/chart/series/0/data',
  ],
  ['two series of one name', [barChart(['a'], [one(['a']), one(['a'])])], series],
])('Slack refuses %s in a message', ([, blocks, problem]) => {
  expect(codes(messageProblems(blocks))).toContain(problem);
});

test.for<[string, object, string]>([
  ['a title of 25 characters', { title: plain(words(25)) }, 'too_long /view/title/text'],
  ['a submit of 25 characters', { submit: plain(words(25)) }, 'too_long /view/submit/text'],
  ['a close of 25 characters', { close: plain(words(25)) }, 'too_long /view/close/text'],
  ['much metadata', { private_metadata: words(3001) }, 'too_long /view/private_metadata'],
  ['a callback_id of 256', { callback_id: words(256) }, 'too_long /view/callback_id'],
  ['101 blocks', { blocks: times(101, () => section('x')) }, 'too_long /view/blocks'],
  ['inputs without submit', { blocks: [input(typed())] }, 'missing_submit /view'],
  ['a data table', { blocks: [dataTable([raws(1), raws(1)])] }, NO_VIEW_BLOCK],
  ['a table', { blocks: [table([raws(1)])] }, NO_VIEW_BLOCK],
  ['a chart', { blocks: [barChart(['a'], [one(['a'])])] }, NO_VIEW_BLOCK],
  ['markdown', { blocks: [{ type: 'markdown', text: 'x' }] }, NO_VIEW_BLOCK],
  ['a mrkdwn title', { title: mrkdwn('x') }, 'invalid_value /view/title/type'],
  ['an unknown key', { width: 'wide' }, 'unknown_field /view'],
])('Slack refuses a modal with %s', ([, more, problem]) => {
  expect(codes(viewProblems(modal(more)))).toContain(problem);
});

test.for<[string, object]>([
  ['100 blocks', { blocks: times(100, () => section('x')) }],
  ['24 characters of title', { title: plain(words(24)) }],
  ['inputs and submit', { submit: plain('Ask'), blocks: [input(typed()), input(select())] }],
  ['3000 characters of metadata', { private_metadata: words(3000) }],
])('Slack accepts a modal with %s', ([, more]) => {
  expect(viewProblems(modal(more))).toEqual([]);
});

test('a Home tab accepts 100 blocks and a chart, but no title', () => {
  const home = (more: object) => viewProblems({ type: 'home', blocks: [], ...more });
  expect(home({ blocks: times(100, () => section('x')) })).toEqual([]);
  expect(home({ blocks: [barChart(['a'], [one(['a'])])] })).toEqual([]);
  expect(home({ blocks: times(101, () => section('x')) })).not.toEqual([]);
  expect(home({ title: plain('x') })).not.toEqual([]);
});

test('the error reply lists the pointer and the reason of each problem', () => {
  const [picker] = messageProblems([actions({ type: 'datepicker' })]);
  expect(picker?.message).toBe('datepicker: not simulated');
  const problems = messageProblems([actions(button({ text: plain(words(76)) }))]);
  expect(refuseBlocks('invalid_blocks', problems)).toEqual({
    ok: false,
    error: 'invalid_blocks',
    errors: [
      {
        pointer: `${first}/text/text`,
        code: 'too_long',
        message: 'must be less than 76 characters',
      },
    ],
    response_metadata: {
      messages: [`[ERROR] must be less than 76 characters [json-pointer:${first}/text/text]`],
    },
  });
});

test('a value that is not a list of blocks is refused', () => {
  expect(codes(messageProblems('x'))).toEqual(['wrong_type /blocks']);
  expect(codes(messageProblems([null]))).toEqual(['wrong_type /blocks/0']);
  expect(viewProblems({ type: 'workflow_step' })).not.toEqual([]);
});

function invalid(what: string): string {
  return `invalid_${what} ${first}`;
}
function ided(block_id: string) {
  return { ...section('x'), block_id };
}
function named(action_id: string) {
  return button({ action_id });
}
function typed() {
  return { type: 'plain_text_input' };
}
function chosen(value: string) {
  return select({ initial_option: option(value) });
}
function both() {
  return select({ option_groups: [{ label: plain('g'), options: [option('a')] }] });
}
function rich() {
  return richText({ type: 'text', text: 'x' });
}
function aligned(align: string) {
  return table([raws(1)], { column_settings: [{ align }] });
}
function captionless() {
  return { type: 'data_table', rows: [raws(1), raws(1)] };
}
function one(labels: string[]) {
  return { name: 's', data: points(labels) };
}
