import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { FOCUSED, say } from './open-page.ts';

const expectFocus = (page: Page, name: RegExp) =>
  expect.poll(() => page.evaluate(FOCUSED)).toMatch(name);

export async function actAs(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: /^Act as: / }).click();
  await page.getByRole('menuitemradio', { name: new RegExp(`^${name}`) }).click();
  await page.getByRole('button', { name: `Act as: ${name}` }).waitFor();
}

/** In #ops as Ana: Escape closes each dialog, menu and pane, and the focus returns to its opener. */
export async function expectEscapeToReturn(page: Page): Promise<void> {
  const dialog = page.getByRole('dialog');
  await say(page, '/service create');
  const provider = dialog.getByRole('combobox', { name: 'Provider' });
  await provider.click();
  await page.getByRole('option', { name: 'aws' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('option').first().waitFor({ state: 'detached' });
  expect(await provider.evaluate((box) => box.matches(':focus'))).toBe(true);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await expectFocus(page, /^Message #ops/);

  for (const name of [/Help$/, /Act as: /, /Shortcuts$/]) {
    await page.getByRole('button', { name }).press('Enter');
    await page.getByRole('menu').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('menu').waitFor({ state: 'detached' });
    await expectFocus(page, name);
  }

  await page.getByRole('button', { name: /^Controls/ }).press('Enter');
  await page.getByRole('complementary', { name: 'Controls' }).waitFor();
  await page.keyboard.press('Escape');
  await expectFocus(page, /^Controls/);

  await page.getByRole('link', { name: /^db-approvals/ }).click();
  await page
    .getByRole('button', { name: /\d repl/ })
    .first()
    .press('Enter');
  await expectFocus(page, /^Reply/);
  await page.keyboard.press('Escape');
  await page.getByRole('complementary', { name: 'Thread' }).waitFor({ state: 'detached' });
  await expectFocus(page, /\d repl/);
}

/** As Ana: a change of the person by the menu, the history or a link leaves no dialog and no text. */
export async function expectNothingToSurvive(page: Page, url: string): Promise<void> {
  const dialog = page.getByRole('dialog');
  const composer = page.getByRole('textbox', { name: 'Message #ops' });
  const openForm = async () => {
    await say(page, '/service scale ci more');
    await dialog.getByRole('textbox', { name: /^Reason/ }).fill('only Ana types this');
  };
  await page.goto(`${url}/?as=ana&channel=ops`);
  await composer.fill('of Ana');
  await actAs(page, 'Ben');
  await expect.poll(() => composer.inputValue()).toBe('');
  await actAs(page, 'Ana');
  await expect.poll(() => composer.inputValue()).toBe('');

  await openForm();
  await page.goBack();
  await page.getByRole('button', { name: 'Act as: Ben' }).waitFor();
  expect(await dialog.count()).toBe(0);
  await page.goForward();
  await page.getByRole('button', { name: 'Act as: Ana' }).waitFor();
  expect(await dialog.count()).toBe(0);

  await openForm();
  await page.goto(`${url}/?as=ben&channel=ops`);
  await composer.waitFor();
  expect(await dialog.count()).toBe(0);
  await page.goto(`${url}/?as=ana&channel=ops`);
  await composer.waitFor();
  expect(await dialog.count()).toBe(0);
  await say(page, '/service scale ci');
  const reason = dialog.getByRole('textbox', { name: /^Reason/ });
  await reason.waitFor();
  expect(await reason.inputValue()).toBe('');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
}
