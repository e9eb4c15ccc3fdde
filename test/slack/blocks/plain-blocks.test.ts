import { expect, test } from 'vitest';
import { answerMessage, sentenceMessage } from '../../../src/slack/blocks/answer-blocks.ts';
import { inPlainBlocks } from '../../../src/slack/blocks/plain-blocks.ts';
import { expectSound, NASTY } from '../fixtures.ts';

const COSTS = answerMessage({
  title: '1–19 Nov (UTC)',
  parts: [
    {
      kind: 'chart',
      title: 'Credits a day',
      unit: 'credits',
      axis: '1–31 Nov (UTC)',
      points: Array.from({ length: 31 }, (_, index) => ({
        label: `11-${index + 1}`,
        value: index,
      })),
    },
    {
      kind: 'table',
      columns: ['Service', 'Credits'],
      rows: [
        ['analytics-prod', { value: 1234.5, text: '1,234.5' }],
        [NASTY, { value: 2, text: '2.0' }],
      ],
    },
  ],
});

test('a chart and a table of figures are blocks that Slack takes', () => {
  expectSound(COSTS);
  expect(COSTS.blocks.map(({ type }) => type)).toEqual([
    'header',
    'data_visualization',
    'data_table',
  ]);
  expect(JSON.stringify(COSTS.blocks)).toContain('"value":1234.5');
});

test('a workspace without the newest blocks gets the same figures as text', () => {
  const plain = inPlainBlocks(COSTS);
  if (!plain) throw new Error('nothing to draw otherwise');
  expectSound(plain);
  expect(plain.blocks.map(({ type }) => type)).toEqual(['header', 'rich_text', 'rich_text']);
  expect(JSON.stringify(plain.blocks)).toContain('1,234.5');
  expect(JSON.stringify(plain.blocks)).toContain('Credits a day\\n1–31 Nov (UTC)\\n11-12');
  expect(inPlainBlocks(sentenceMessage(['nothing new here']))).toBeNull();
});
