import { expect, test } from 'vitest';
import { METHODS } from '../../sandbox/slack/web-api/router.ts';
import { groupsOf, readPage } from './pages.ts';

const PAGE = readPage('sandbox/README.md');

/** The rows of the table under a heading, as the texts of their cells. */
function rowsUnder(heading: string): readonly (readonly string[])[] {
  const [, section = ''] = PAGE.split(`## ${heading}\n`);
  const [, ...rows] = groupsOf(section.split('\n## ')[0] ?? '', /^\| (.+) \|$/gm);
  return rows.map((row) => row.split(' | '));
}

test('the page lists exactly the methods that the Slack simulator answers, with their limits', () => {
  const listed = rowsUnder('Methods').map(([method, tier]) => [method, tier]);
  const answered = Object.entries(METHODS).map(([name, { tier }]) => [`\`${name}\``, tier]);
  expect(listed.toSorted()).toEqual(answered.toSorted());
});

test('each behaviour has a page of Slack, and each row says what is not simulated', () => {
  const rows = rowsUnder('Behaviour');
  expect(rows.length).toBeGreaterThan(15);
  expect(rows.filter(([, page = '']) => !/^docs\.slack\.dev\/[\w./-]+$/.test(page))).toEqual([]);
  const all = [...rows, ...rowsUnder('Methods')];
  expect(all.filter((row) => row.length !== 3 || row.at(-1)?.trim() === '')).toEqual([]);
});

test('each limit of a method is in the table of limits', () => {
  const limits = new Set<string>(Object.values(METHODS).map(({ tier }) => tier));
  const listed = rowsUnder('Rate limits').map(([limit]) => limit);
  expect(listed.toSorted()).toEqual([...limits].toSorted());
});
