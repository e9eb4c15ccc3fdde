import { expect, test } from 'vitest';
import { commands, helpFor } from '../../src/commands/index.ts';
import type { Answer, AnswerPart } from '../../src/domain/answer.ts';
import { answerMessage, sentenceMessage } from '../../src/slack/answer.ts';
import type { Message } from '../../src/slack/blocks.ts';
import { NOON } from '../domain/changes-fixtures.ts';
import { expectSound, NASTY, NASTY_SEEN, shownIn } from './fixtures.ts';

function answer(...parts: readonly AnswerPart[]): Message {
  return answerMessage({ title: 'Services', parts });
}

function tableOf(
  rows: Extract<AnswerPart, { kind: 'table' }>['rows'],
  columns = ['Service', 'Tags'],
) {
  return answer({ kind: 'table', columns, rows });
}

function rowsOf({ blocks }: Message): number {
  return blocks.flatMap((block) => ('rows' in block && Array.isArray(block.rows) ? block.rows : []))
    .length;
}

function leftOut(message: Message): number {
  return Number(/(\d+) more rows? not shown/.exec(shownIn(message))?.[1] ?? 0);
}

/** Each place of an answer that has words of others. */
const placesOf = (text: string): readonly [string, AnswerPart][] => [
  ['a text', { kind: 'text', text }],
  ['a note', { kind: 'note', text }],
  ['lines', { kind: 'lines', lines: [[text, { at: NOON }]] }],
  ['a fact', { kind: 'facts', facts: [[text, text]] }],
  ['a row', { kind: 'rows', rows: [{ text, about: [], show: null }] }],
  ['a cell', { kind: 'table', columns: [text, 'x'], rows: [[text, 1]] }],
];

test.for(placesOf(NASTY))('a nasty name is literal in %s', ([, part]) => {
  const drawn = answer(part);
  expectSound(drawn);
  expect(shownIn(drawn)).toContain(NASTY_SEEN);
});

const LONG = '&x'.repeat(6_000);

test.for<[string, AnswerPart]>([
  ...placesOf(LONG),
  [
    'the second column',
    { kind: 'rows', rows: [{ text: 'a', about: [LONG, { at: NOON }], show: null }] },
  ],
  ['an offer', { kind: 'offers', offers: [{ label: LONG, line: 'cost' }] }],
])('Slack takes %s of any length', ([, part]) => {
  expectSound(answer(part));
});

test('a nasty name is literal in a title, in a sentence and on a button', () => {
  const offers = [{ label: NASTY, line: 'service show x' }];
  const drawn = sentenceMessage([`There's no service called “${NASTY}”.`], offers);
  expectSound(drawn);
  expect(shownIn(drawn)).toContain(NASTY_SEEN.slice(0, 60));
  const titled = answerMessage({ title: NASTY, parts: [] });
  expectSound(titled);
  expect(shownIn(titled)).toContain(NASTY_SEEN);
});

test('buttons in two places of one answer are two blocks, as Slack wants them', () => {
  const offers = (label: string) =>
    ({ kind: 'offers', offers: [{ label, line: 'cost' }] }) as const;
  const drawn = answer(offers('CSV'), { kind: 'text', text: 'Not set yet.' }, offers('Add'));
  expectSound(drawn);
  expect(drawn.blocks.flatMap(({ block_id }) => block_id ?? [])).toEqual(['offers', 'offers.1']);
});

test('a name with a line break or a turned direction is one line of a table', () => {
  const { text } = tableOf([['prod\n\u202eTotal', 'a\u2028b']]);
  expect(text.split('\n').at(-1)).toBe('prod Total · a b');
});

test('cells show what is not known, and times in the zone of the reader', () => {
  const drawn = tableOf([
    ['a', null],
    ['b', NOON],
    ['c', 0],
    ['\u200b', ''],
  ]);
  expectSound(drawn);
  expect(drawn.text).toBe(
    [
      'Services',
      'Service · Tags',
      'a · –',
      'b · <!date^1795176000^{date_short_pretty} at {time}|2026-11-20T12:00:00.000Z>',
      'c · 0',
      '– · –',
    ].join('\n'),
  );
  const [table] = drawn.blocks;
  expect(table).toMatchObject({ type: 'data_table' });
  expect(JSON.stringify(table)).toContain(
    '{"type":"date","timestamp":1795176000,"format":"{date_short_pretty} {time}","fallback":"2026-11-20 12:00 UTC"}',
  );
});

test('facts say what is not known, and tell times in the zone of the reader', () => {
  const facts = Object.entries({ Seen: NOON, Tags: null, Id: '' });
  const drawn = answer({ kind: 'facts', facts });
  expectSound(drawn);
  expect(drawn.text).toContain('Seen  <!date^1795176000^');
  expect(drawn.text).toContain('Tags  unknown');
});

test.for([
  ['short names', 'service', 200],
  ['names of 60 letters', 'n'.repeat(60), 100],
  ['endless names', 'n'.repeat(3_000), 20],
] as const)(
  'of 300 services with %s the table shows many and counts the rest',
  ([, name, least]) => {
    const rows = Array.from({ length: 300 }, (_, index) => [`${index}-${name}`, 'prod, eu']);
    const drawn = tableOf(rows);
    expectSound(drawn);
    const shown = rowsOf(drawn) - 1;
    expect(shown).toBeGreaterThanOrEqual(least);
    expect(leftOut(drawn)).toBe(300 - shown);
  },
);

test('a table that fits leaves nothing out and does not say so', () => {
  const drawn = tableOf(Array.from({ length: 200 }, (_, index) => [`s${index}`, null]));
  expectSound(drawn);
  expect([rowsOf(drawn), leftOut(drawn)]).toEqual([201, 0]);
});

test('a table without rows is a sentence, for Slack takes none', () => {
  const drawn = tableOf([]);
  expectSound(drawn);
  expect(shownIn(drawn)).toContain('Nothing to show.');
});

function valuesIn(message: Message, column: number): readonly unknown[] {
  const [block] = message.blocks.flatMap((one) => ('rows' in one ? [one] : []));
  // The table that was just drawn: rows of cells.
  const rows = (block?.rows ?? []) as { type: string; value?: number }[][];
  return rows.slice(1).map((cells) => cells[column]?.value ?? cells[column]?.type);
}

test('a column of figures sorts by value, and what is not known below all of it', () => {
  const drawn = tableOf([
    ['a', { value: 1_000, text: '1,000.0' }],
    ['b', { value: null, text: 'no data' }],
    ['c', { value: -9, text: '−9.0' }],
    ['d', null],
  ]);
  expectSound(drawn);
  expect(valuesIn(drawn, 1).slice(0, 4)).toEqual([1_000, -10, -9, -10]);
  expect(shownIn(drawn)).toContain('no data');
});

test('a column that has words in it, or nothing known, is sorted by its words', () => {
  const mixed = tableOf([
    ['a', { value: 5, text: '5' }],
    ['b', 'soon'],
    ['c', null],
  ]);
  expect(valuesIn(mixed, 1).slice(0, 3)).toEqual([5, 'raw_text', 'raw_text']);
  expect(valuesIn(tableOf([['a', null]]), 1)).toEqual(['raw_text']);
});

test('who cannot see the blocks reads the figures, the axis of the chart and the footer', () => {
  const drawn = answer(
    {
      kind: 'chart',
      title: 'Credits a day',
      unit: 'credits',
      axis: '18–19 Nov (UTC)',
      points: [18, 19].map((day) => ({ label: `${day}`, value: day === 18 ? 8 : 4.123 })),
    },
    { kind: 'table', caption: 'Credits by day', columns: ['Day'], rows: [['Wed 18 Nov']] },
    { kind: 'note', text: 'figures do not add up <1 vs 2>' },
  );
  expectSound(drawn);
  expect(drawn.text.split('\n')).toEqual([
    'Services',
    'Credits a day · 18–19 Nov (UTC) · 18: 8, 19: 4.12',
    'Day',
    'Wed 18 Nov',
    'figures do not add up &lt;1 vs 2&gt;',
  ]);
  expect(JSON.stringify(drawn.blocks)).toContain('"caption":"Credits by day"');
});

test('the times of a footer are dates in the zone of the reader, and no part ends in a separator', () => {
  const asOf = new Date('2026-11-20T08:00:00Z');
  const next = { label: 'Next digest', at: new Date('2026-11-23T08:00:00Z') };
  const drawn = answer({ kind: 'note', text: 'row *x* :tada:', asOf, next });
  expectSound(drawn);
  const dateOf = (ts: number, iso: string) => `<!date^${ts}^{date_short_pretty} at {time}|${iso}>`;
  const age = `As of ${dateOf(1795161600, '2026-11-20T08:00:00.000Z')}`;
  const last = `Next digest ${dateOf(1795420800, '2026-11-23T08:00:00.000Z')}`;
  expect(drawn.blocks.at(-1)).toEqual({
    type: 'context',
    elements: [
      { type: 'mrkdwn', text: age, verbatim: true },
      { type: 'plain_text', text: 'row *x* :tada:', emoji: false },
      { type: 'mrkdwn', text: last, verbatim: true },
    ],
  });
  expect(drawn.text).toContain(`${age} · row *x* :tada: · ${last}`);
});

test('the title above a sortable table is its caption, and is shown once', () => {
  const drawn = answer({ kind: 'table', columns: ['Channel'], rows: [['#db-costs']] });
  expectSound(drawn);
  expect(drawn.blocks.map(({ type }) => type)).toEqual(['data_table']);
  expect(JSON.stringify(drawn.blocks)).toContain('"caption":"Services"');
  expect(drawn.text).toBe('Services\nChannel\n#db-costs');
});

test('six offers are shown, each with the line that it types', () => {
  const offers = Array.from({ length: 7 }, (_, index) => ({
    label: `stop ${index}`,
    line: `service stop ${index}`,
  }));
  const drawn = sentenceMessage(['Which one?'], offers);
  expectSound(drawn);
  const lines = JSON.stringify(drawn.blocks).match(/"value":"[^"]*"/g);
  expect(lines).toEqual([0, 1, 2, 3, 4, 5].map((index) => `"value":"service stop ${index}"`));
});

test('an offer whose line is too long for a button is left out, never cut', () => {
  const long = `service stop staging "${'x'.repeat(2_000)}"`;
  const offers = [
    { label: 'stop staging', line: long },
    { label: 'show staging', line: 'service show staging' },
  ];
  const drawn = sentenceMessage(['/service has no “sotp”.'], offers);
  expectSound(drawn);
  expect(JSON.stringify(drawn.blocks)).not.toContain('stop staging');
  expect(JSON.stringify(drawn.blocks)).toContain('service show staging');
});

test('a sentence of 3,000 letters is cut, not refused', () => {
  expectSound(sentenceMessage([`There's no service called “${'<'.repeat(3_000)}”.`]));
});

test('help fits, whatever one may do', () => {
  const reader = { who: ['Your roles: oncall.'], frequent: [], note: null, prefix: '' };
  const answers: readonly Answer[] = [null, 'all'].flatMap((about) =>
    [true, false].map((may) =>
      helpFor({ noun: null, about }, commands, { ...reader, mayUse: () => may }),
    ),
  );
  for (const help of answers) expectSound(answerMessage(help));
});
