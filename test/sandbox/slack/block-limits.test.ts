import { expect, test } from 'vitest';
import { messageProblems } from '../../../sandbox/slack/block-kit/validate.ts';
import {
  actions,
  barChart,
  button,
  dataTable,
  input,
  mrkdwn,
  option,
  plain,
  points,
  raw,
  raws,
  richText,
  section,
  select,
  table,
  times,
  words,
} from './block-samples.ts';

type Builder = (size: number) => unknown[];

const confirming = (more: object) => actions(button({ confirm: { text: plain('x'), ...more } }));
const typed = (more: object = {}) => ({ type: 'plain_text_input', ...more });
const grouped = (groups: number, options: number) => ({
  type: 'static_select',
  option_groups: times(groups, () => ({
    label: plain('g'),
    options: times(options, (i) => option(`${i}`)),
  })),
});
const choice = (type: string, count: number) => ({
  type,
  options: times(count, (i) => option(`${i}`)),
});
const series = (index: number, labels: string[]) => ({ name: `s${index}`, data: points(labels) });
const chart = (lines: number, count: number) => {
  const labels = times(count, (i) => `${i}`);
  return barChart(
    labels,
    times(lines, (i) => series(i, labels)),
  );
};

/** Name, the smallest size Slack takes, the largest, and a message of that size. */
const limits: [string, number, number, Builder][] = [
  ['blocks of a message', 0, 50, (n) => times(n, () => ({ type: 'divider' }))],
  ['text of a section', 1, 3000, (n) => [section(words(n))]],
  ['text of a field', 1, 2000, (n) => [{ type: 'section', fields: [plain(words(n))] }]],
  ['fields of a section', 1, 10, (n) => [{ type: 'section', fields: times(n, () => plain('x')) }]],
  ['emoji in a section', 1, 3000, (n) => [section('🚦'.repeat(n))]],
  ['header', 1, 150, (n) => [{ type: 'header', text: plain(words(n)) }]],
  ['context', 1, 10, (n) => [{ type: 'context', elements: times(n, () => mrkdwn('x')) }]],
  ['elements of actions', 1, 25, (n) => [actions(...times(n, () => button()))]],
  ['text of a button', 1, 75, (n) => [actions(button({ text: plain(words(n)) }))]],
  ['value of a button', 0, 2000, (n) => [actions(button({ value: words(n) }))]],
  ['url of a button', 1, 3000, (n) => [actions(button({ url: words(n) }))]],
  ['accessibility label', 1, 75, (n) => [actions(button({ accessibility_label: words(n) }))]],
  ['action_id', 1, 255, (n) => [actions(button({ action_id: words(n) }))]],
  ['block_id', 1, 255, (n) => [{ ...section('x'), block_id: words(n) }]],
  ['confirm title', 1, 100, (n) => [confirming({ title: plain(words(n)) })]],
  ['confirm text', 1, 300, (n) => [confirming({ text: plain(words(n)) })]],
  ['confirm button', 1, 30, (n) => [confirming({ confirm: plain(words(n)) })]],
  ['deny button', 1, 30, (n) => [confirming({ deny: plain(words(n)) })]],
  ['options', 1, 100, (n) => [actions(select({ options: times(n, (i) => option(`${i}`)) }))]],
  ['option text', 1, 75, (n) => [actions(select({ options: [option('v', words(n))] }))]],
  ['option value', 1, 75, (n) => [actions(select({ options: [option(words(n), 'v')] }))]],
  ['placeholder', 1, 150, (n) => [actions(select({ placeholder: plain(words(n)) }))]],
  ['option groups', 1, 100, (n) => [actions(grouped(n, 1))]],
  ['options of a group', 1, 100, (n) => [actions(grouped(1, n))]],
  ['overflow', 1, 5, (n) => [actions(choice('overflow', n))]],
  ['label of an input', 1, 2000, (n) => [input(typed(), { label: plain(words(n)) })]],
  ['hint of an input', 1, 2000, (n) => [input(typed(), { hint: plain(words(n)) })]],
  ['max_length', 1, 3000, (n) => [input(typed({ max_length: n }))]],
  ['min_length', 0, 3000, (n) => [input(typed({ min_length: n }))]],
  ['cells of a row', 1, 20, (n) => [dataTable([raws(n), raws(n)])]],
  ['rows of a data table', 2, 201, (n) => [dataTable(times(n, () => raws(1)))]],
  ['page size', 1, 100, (n) => [dataTable([raws(1), raws(1)], { page_size: n })]],
  ['chars of a data table', 2, 20_000, (n) => [dataTable([raws(1), [raw(words(n - 1))]])]],
  ['rows of a table', 1, 100, (n) => [table(times(n, () => raws(1)))]],
  ['chars of a table', 1, 10_000, (n) => [table([[raw(words(n))]])]],
  ['charts', 0, 2, (n) => times(n, () => chart(1, 1))],
  ['series', 1, 12, (n) => [chart(n, 1)]],
  ['points', 1, 20, (n) => [chart(1, n)]],
  ['chart title', 1, 50, (n) => [{ ...chart(1, 1), title: words(n) }]],
  ['label of a category', 1, 20, (n) => [barChart([words(n)], [series(0, [words(n)])])]],
  ['text of rich text', 1, 40_000, (n) => [richText({ type: 'text', text: words(n) })]],
];

test.for(limits)('Slack accepts the bounds of %s, not less or more', ([, least, most, build]) => {
  expect(messageProblems(build(least))).toEqual([]);
  expect(messageProblems(build(most))).toEqual([]);
  expect(messageProblems(build(most + 1))).not.toEqual([]);
  if (least > 0) expect(messageProblems(build(least - 1))).not.toEqual([]);
});
