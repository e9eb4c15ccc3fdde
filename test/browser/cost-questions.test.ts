import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { ANA, BEN, CLEO, DORA, FINN, GUS } from '../harness/users.ts';
import { COSTS, OPS, openAs, picture, say, startBeforeAll } from './open-page.ts';

startBeforeAll();

/**
 * The questions that a FinOps engineer asks each week: the picture, the command, the title of the answer,
 * and a user who has no other answer in the channel.
 */
const QUESTIONS: readonly (readonly [string, string, RegExp, string])[] = [
  ['cost-forecast', '/cost forecast', /^\w+ \d{4}: heading for [\d,]+ credits/, DORA],
  ['cost-team', '/cost last-week team analytics vs prev', /^team analytics · .* credits/, ANA],
  ['cost-metrics', '/cost last-month analytics-prod by metric', /^analytics-prod · /, BEN],
  ['cost-budget', '/cost budget', /^Budgets · /, CLEO],
  ['cost-final', '/cost last-month', /^\w+ \d{4} \(UTC\): [\d,.]+ credits/, FINN],
  ['cost-refresh', '/cost 7d refresh top 3', /\(UTC\): [\d,.]+ credits so far/, GUS],
  ['cost-why', '/cost why last-month', / vs .*UTC/, DORA],
];

/** The number of pixels of each table that a phone does not show without scrolling. */
function hiddenPixels(page: Page): Promise<readonly number[]> {
  const tables = page.locator('.table-scroll');
  return tables.evaluateAll((all) => all.map((one) => one.scrollWidth - one.clientWidth));
}

/** The height of the smallest text on the axes of the charts; the largest number without a chart. */
function smallestText(page: Page): Promise<number> {
  const texts = page.locator('.axes text:not([transform])');
  return texts.evaluateAll((all) =>
    Math.min(Number.MAX_VALUE, ...all.map((one) => one.getBoundingClientRect().height)),
  );
}

test.for(QUESTIONS)(
  'in a browser: %s, the tables and charts of %s are legible on a phone',
  async ([name, line, words, by]) => {
    const page = await openAs(by, name === 'cost-why' ? COSTS : OPS, 1000);
    await say(page, line);
    const title = page.getByRole('heading', { name: words }).last();
    await title.waitFor();
    // On a phone, the table of metrics is below two charts, which have a picture of their own.
    await picture(page, name, name === 'cost-metrics' ? page.getByRole('table').last() : title);
    await page.setViewportSize({ width: 390, height: 844 });
    expect((await hiddenPixels(page)).every((hidden) => hidden === 0)).toBe(true);
    await expect.poll(() => smallestText(page)).toBeGreaterThan(9);
  },
);
