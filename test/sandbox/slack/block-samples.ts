/** Small builders of blocks for the tests of what Slack takes and refuses. */

export const words = (length: number) => 'x'.repeat(length);
export const times = <T>(count: number, one: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => one(index));

export const plain = (text: string) => ({ type: 'plain_text', text });
export const mrkdwn = (text: string) => ({ type: 'mrkdwn', text });
export const section = (text: string) => ({ type: 'section', text: mrkdwn(text) });
export const option = (value: string, text = value) => ({ text: plain(text), value });
export const button = (more: object = {}) => ({ type: 'button', text: plain('Go'), ...more });
export const actions = (...elements: object[]) => ({ type: 'actions', elements });
export const input = (element: object, more: object = {}) => ({
  type: 'input',
  label: plain('Label'),
  element,
  ...more,
});
export const select = (more: object = {}) => ({
  type: 'static_select',
  options: [option('a'), option('b')],
  ...more,
});
export const raw = (text: string) => ({ type: 'raw_text', text });
export const raws = (count: number) => times(count, () => raw('1'));
export const dataTable = (rows: object[][], more: object = {}) => ({
  type: 'data_table',
  caption: 'Costs',
  rows,
  ...more,
});
export const table = (rows: object[][], more: object = {}) => ({ type: 'table', rows, ...more });
export const barChart = (categories: string[], series: object[]) => ({
  type: 'data_visualization',
  title: 'Credits',
  chart: { type: 'bar', series, axis_config: { categories } },
});
export const points = (labels: string[]) => labels.map((label) => ({ label, value: 1 }));
export const richText = (...elements: object[]) => ({
  type: 'rich_text',
  elements: [{ type: 'rich_text_section', elements }],
});
export const modal = (more: object = {}) => ({
  type: 'modal',
  title: plain('Stop?'),
  blocks: [section('Sure?')],
  ...more,
});
