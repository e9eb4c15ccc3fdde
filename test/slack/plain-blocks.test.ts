import { expect, test } from 'vitest';
import { answerMessage, sentenceMessage } from '../../src/slack/answer.ts';
import { inPlainBlocks } from '../../src/slack/tables.ts';
import { expectSound, NASTY } from './fixtures.ts';

const COSTS = answerMessage({
  title: '1–19 Nov (UTC)',
  parts: [
    {
      kind: 'chart',
      title: 'Credits a day',
      unit: 'credits',
      axis: '1–31 Nov (UTC)',
      points: Array.from({ length: 31 }, (_, day) => ({ label: `11-${day + 1}`, value: day })),
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

test('a workspace without the newest blocks gets the same figures as text', () => {
  const plain = inPlainBlocks(COSTS);
  if (!plain) throw new Error('nothing to draw otherwise');
  expectSound(plain);
  expect(plain.blocks.map(({ type }) => type)).toEqual(['header', 'rich_text', 'rich_text']);
  expect(JSON.stringify(plain.blocks)).toContain('1,234.5');
  expect(JSON.stringify(plain.blocks)).toContain('Credits a day\\n1–31 Nov (UTC)\\n11-12');
  expect(JSON.stringify(plain.blocks)).toContain('11-29        28\\n11-30        29');
  expect(JSON.stringify(plain.blocks)).toContain('Service · Credits\\nanalytics-prod · 1,234.5');
  expect(inPlainBlocks(sentenceMessage(['nothing new here']))).toBeNull();
});

function plainTable(rows: readonly (readonly string[])[]): readonly string[] {
  const parts = [{ kind: 'table' as const, columns: ['Service', 'Credits'], rows }];
  const plain = inPlainBlocks(answerMessage({ title: 'Costs', parts }));
  if (!plain) throw new Error('There is no table');
  expectSound(plain);
  const texts = JSON.stringify(plain.blocks).match(/"rich_text_preformatted".*?"text":"(.*?)"/);
  return (texts?.[1] ?? '').split('\\n');
}

test('rows that do not fit as text are counted', () => {
  const rows = Array.from({ length: 150 }, (_, n) => [`service-${n}-of-a-large-team`, '1,234.5']);
  const lines = plainTable(rows);
  const left = 150 - (lines.length - 3);
  expect(left).toBeGreaterThan(0);
  expect(lines.at(-1)).toBe(`${left} more rows not shown.`);
  expect(lines.at(-2)).toContain(`service-${lines.length - 4}-of-a-large-team`);
});

test('a list that begins with its table keeps its title as text', () => {
  expect(plainTable([['staging', '2.0']])).toEqual(['Costs', 'Service · Credits', 'staging · 2.0']);
});
