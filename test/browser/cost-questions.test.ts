import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { ANA } from '../harness/users.ts';
import { OPS, openAs, picture, say, startBeforeAll } from './open-page.ts';

startBeforeAll();

/** The questions that a FinOps engineer asks each week: the picture, the command and the title of the answer. */
const QUESTIONS: readonly (readonly [string, string, RegExp])[] = [
  ['cost', '/cost', /credits so far · \w+ heading for/],
  ['cost-forecast', '/cost forecast', /^\w+ \d{4}: heading for [\d,]+ credits/],
  ['cost-team', '/cost last-week team analytics vs prev', /^team analytics · .* credits/],
  ['cost-metrics', '/cost last-month analytics-prod by metric', /^analytics-prod · /],
  ['cost-budget', '/cost budget', /^Budgets · /],
  ['cost-final', '/cost last-month', /^\w+ \d{4} \(UTC\): [\d,.]+ credits/],
  ['cost-refresh', '/cost 7d refresh top 3', /\(UTC\): [\d,.]+ credits so far/],
  ['cost-why', '/cost why last-month', / vs .*UTC/],
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

test('in a browser: the tables and charts of costs are legible on a phone', async () => {
  const page = await openAs(ANA, OPS);
  for (const [name, line, words] of QUESTIONS) {
    await page.setViewportSize({ width: 1280, height: 1000 });
    const titles = page.getByRole('heading', { name: words });
    // An earlier answer may have a title like this one.
    const title = titles.nth(await titles.count());
    await say(page, line);
    await title.waitFor();
    // On a phone, the table of metrics is below two charts, which have a picture of their own.
    await picture(page, name, name === 'cost-metrics' ? page.getByRole('table').last() : title);
    await page.setViewportSize({ width: 390, height: 844 });
    const hidden = await hiddenPixels(page);
    expect(hidden, name).toEqual(hidden.map(() => 0));
    await expect.poll(() => smallestText(page), { message: name }).toBeGreaterThan(9);
  }
});
