import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { ANA, BEN, CLEO } from '../harness/users.ts';
import { APPROVALS, newPage, OPS, openAs, sandbox, say, startBeforeAll } from './open-page.ts';

startBeforeAll();

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** The dark theme differs in its colours only, so that the rules about colours are enough there. */
const RULES = { light: '{}', dark: '{ runOnly: ["color-contrast", "link-in-text-block"] }' };

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** What axe-core calls serious or critical on this screen, in both themes. */
async function seriousFindings(page: Page): Promise<readonly string[]> {
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.evaluate(AXE);
    const run = `axe.run(document, ${RULES[colorScheme]}).then((all) => all.violations)`;
    const violations = await page.evaluate<readonly Violation[]>(run);
    const serious = violations.filter(({ impact }) => ['serious', 'critical'].includes(impact));
    for (const { id, nodes } of serious) {
      found.push(
        ...nodes.map((node) => `${colorScheme} ${id}: ${node.html} ${node.failureSummary}`),
      );
    }
  }
  return found;
}

test('axe finds nothing serious on the first page, in the menus and in the controls', async () => {
  const page = await newPage();
  await page.goto(sandbox.url);
  await page.getByRole('complementary', { name: 'Guide' }).getByText('0 of 5 done').waitFor();
  await page.getByRole('textbox').fill('/');
  await page.getByRole('option', { name: '/service' }).waitFor();
  expect(await seriousFindings(page)).toEqual([]);

  await page.getByRole('button', { name: /^Act as:/ }).click();
  await page.getByRole('menuitemradio', { name: 'Ben' }).waitFor();
  expect(await seriousFindings(page)).toEqual([]);

  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: /^Controls/ }).click();
  await page.getByRole('button', { name: 'Next morning' }).waitFor();
  expect(await seriousFindings(page)).toEqual([]);

  await page.setViewportSize({ width: 390, height: 844 });
  expect(await seriousFindings(page)).toEqual([]);
  await page.goto(`${sandbox.url}/?as=ana`);
  await page.getByRole('heading', { name: 'Channels' }).waitFor();
  expect(await seriousFindings(page)).toEqual([]);
});

test('axe finds nothing serious in a preview, a card, a thread and the Home tab', async () => {
  const ana = await openAs(ANA, OPS);
  await say(ana, '/service stop analytics-dev nightly maintenance');
  await ana.getByRole('button', { name: 'Request approval' }).waitFor();
  expect(await seriousFindings(ana)).toEqual([]);
  await ana.getByRole('button', { name: 'Request approval' }).click();
  await ana.getByText('Sent to #db-approvals').waitFor();

  const ben = await openAs(BEN, APPROVALS);
  await ben.getByRole('button', { name: 'Approve', exact: true }).waitFor();
  expect(await seriousFindings(ben)).toEqual([]);
  await ben.getByText('Signalbox', { exact: true }).first().click();
  await ben.getByText('Waiting for you (1)').waitFor();
  expect(await seriousFindings(ben)).toEqual([]);
  await ben.getByRole('button', { name: 'Approve', exact: true }).click();

  const cleo = await openAs(CLEO, APPROVALS);
  await cleo.getByText('1 reply').click();
  await cleo.getByText('was accepted by the server').waitFor();
  expect(await seriousFindings(cleo)).toEqual([]);
});

test('axe finds nothing serious in a form, a list of options, tables and charts', async () => {
  const ana = await openAs(ANA, OPS);
  await say(ana, '/service create');
  const dialog = ana.getByRole('dialog');
  await dialog.getByRole('combobox', { name: 'Provider' }).click();
  await ana.getByRole('option', { name: 'aws' }).waitFor();
  expect(await seriousFindings(ana)).toEqual([]);
  await ana.keyboard.press('Escape');
  await ana.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });

  await say(ana, '/cost');
  await ana
    .getByRole('columnheader', { name: /service/i })
    .first()
    .waitFor();
  expect(await seriousFindings(ana)).toEqual([]);
});
