import { expect, test } from 'vitest';
import { answerCosts, answerCsv } from '../../src/costs/answer.ts';
import { withOpenDays } from '../../src/costs/reader.ts';
import type { UserId } from '../../src/domain/change.ts';
import { snapshotHistory } from '../../src/maths/days.ts';
import { daily, row } from '../maths/rows.ts';
import { written } from './written.ts';

const NOW = new Date('2026-11-20T12:00:00Z');
const ASKER = { by: 'U0ANA00001' as UserId };

// On 18 November, the row of analytics is locked, and that of staging is not.
const analytics = daily('2026-11-15', [10, 10, 10, 10]);
const staging = row({
  day: '2026-11-18',
  entityId: 's-2',
  entityName: 'staging',
  serviceId: 's-2',
  credits: 5,
  locked: false,
});
const rows = withOpenDays({ rows: [...analytics, staging], fetchedAt: NOW }, snapshotHistory([]));
const context = {
  costs: async () => ({ rows, fetchedAt: NOW, problems: [], gaps: [], lockAge: null }),
  refreshCosts: () => Promise.reject(new Error('not requested')),
  services: [],
  now: () => NOW,
};

test('title, text, chart and table count the same days as not final', async () => {
  const answer = await answerCosts('2026-11-15..2026-11-18 by day', context, ASKER);
  const text = written(answer);
  expect(answer.title).toContain(' credits, not final');
  expect(text).toContain('1 of 4 days is not final (33% of the credits).');
  const chart = answer.parts.find((part) => part.kind === 'chart');
  expect(chart?.points.filter(({ isFinal }) => !isFinal).map(({ label }) => label)).toEqual(['18']);
  expect(text.match(/^.* Nov \| .*\*/gm)).toEqual([
    expect.stringMatching(/^Wed 18 Nov \| 15\.0\*/),
  ]);
});

test('a locked row of a day that is not final can still get other rows, and has the mark', async () => {
  const answer = await answerCosts('2026-11-18 by service', context, ASKER);
  expect(written(answer)).toMatch(/^analytics-prod \| 10\.0\*/m);
});

test('the column of the file says whether the day is final', async () => {
  const { parts } = await answerCsv('2026-11-17..2026-11-18', context, ASKER);
  const file = parts.find((part) => part.kind === 'file');
  const [header = '', ...lines] = file?.text.trim().split('\n') ?? [];
  const column = header.split(',').indexOf('final');
  expect(lines.map((line) => line.split(',')[column])).toEqual(['yes', 'no', 'no']);
});
