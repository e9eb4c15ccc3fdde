import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { FOCUSED, newPage, picture, sandbox, startBeforeAll } from './open-page.ts';

startBeforeAll();

const MOST_PRESSES = 60;

/** Presses the key until the element with this name has the focus. */
async function focusWith(page: Page, key: 'Tab' | 'Shift+Tab' | 'ArrowDown', name: RegExp) {
  for (let presses = 0; presses < MOST_PRESSES; presses += 1) {
    if (name.test(String(await page.evaluate(FOCUSED)))) return;
    await page.keyboard.press(key);
  }
  throw new Error(`${name} did not get the focus with ${key}`);
}

async function actAs(page: Page, name: string): Promise<void> {
  await focusWith(page, 'Shift+Tab', /Act as: /);
  await page.keyboard.press('Enter');
  await page.getByRole('menuitemradio', { checked: true }).waitFor();
  await focusWith(page, 'ArrowDown', new RegExp(`^${name}`));
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: `Act as: ${name}` }).waitFor();
}

async function openChannel(page: Page, name: string): Promise<void> {
  await focusWith(page, 'Shift+Tab', new RegExp(`^${name}`));
  await page.keyboard.press('Enter');
  await composerFocus(page, name);
}

/** Waits until the composer of the channel has the focus, where the page puts it. */
async function composerFocus(page: Page, name: string): Promise<void> {
  const focused = () => page.evaluate(FOCUSED);
  await expect.poll(focused).toBe(`Message #${name}`);
}

test('by keyboard: the first four steps of the guide, and the costs of the fifth', async () => {
  const page = await newPage();
  await page.addInitScript("localStorage.setItem('signalbox.guide', 'closed')");
  await page.goto(sandbox.url);
  await composerFocus(page, 'ops');
  await page.keyboard.type('/serv');
  await page.getByRole('option', { name: '/service' }).waitFor();
  await page.keyboard.press('Enter');
  await page.keyboard.type('stop analytics-prod nightly maintenance');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Request approval' }).waitFor();
  await focusWith(page, 'Shift+Tab', /^Request approval/);
  await page.keyboard.press('Enter');
  await page.getByText('Sent to #db-approvals').waitFor();

  await openChannel(page, 'db-approvals');
  await page.getByRole('button', { name: 'Approve', exact: true }).waitFor();
  await focusWith(page, 'Shift+Tab', /^Approve$/);
  await page.keyboard.press('Enter');
  await page.getByText('someone else must approve').waitFor();

  for (const [name, words] of [
    ['Ben', '(1 of 2 from'],
    ['Cleo', 'analytics-prod is stopping'],
  ] as const) {
    await actAs(page, name);
    await composerFocus(page, 'db-approvals');
    await focusWith(page, 'Shift+Tab', /^Approve$/);
    await page.keyboard.press('Enter');
    await page.getByText(words).waitFor();
  }
  expect(sandbox.cloud.count('set state')).toBe(1);

  await focusWith(page, 'Shift+Tab', /^\d+ repl/);
  await page.keyboard.press('Enter');
  await page.getByText('shows the response.').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('complementary', { name: 'Thread' }).waitFor({ state: 'detached' });

  // The fourth step: the answer is lost, and Ben records the outcome.
  const operation = 'set state';
  sandbox.cloud.injectFault({ operation, fault: 'close-after-effect', times: 1 });
  await actAs(page, 'Ana');
  await openChannel(page, 'ops');
  await page.keyboard.type('/service stop staging for the night');
  await page.keyboard.press('Enter');
  await page.getByText('Stop staging?').waitFor();
  await focusWith(page, 'Shift+Tab', /^Request approval/);
  await page.keyboard.press('Enter');
  await page.getByText('Stop staging', { exact: true }).waitFor();
  await actAs(page, 'Ben');
  await openChannel(page, 'db-approvals');
  await page.getByText('requests: stop staging').waitFor();
  await focusWith(page, 'Shift+Tab', /^Approve$/);
  await page.keyboard.press('Enter');
  await page.getByText('Stop staging: outcome unknown').waitFor();
  await focusWith(page, 'Shift+Tab', /^It was stopped$/);
  await page.keyboard.press('Enter');
  const note = page.getByRole('textbox', { name: 'What did you find?' });
  const isFocused = () => note.evaluate((box) => box.matches(':focus'));
  await expect.poll(isFocused).toBe(true);
  await page.keyboard.type('the console shows idle');
  await focusWith(page, 'Tab', /^Save$/);
  await page.keyboard.press('Enter');
  await page.getByText('Stop staging: it was stopped').waitFor();

  // The fifth step: costs.
  await actAs(page, 'Dora');
  await openChannel(page, 'ops');
  await page.keyboard.type('/cost');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: /credits so far · \w+ heading for/ }).waitFor();
});

test('by keyboard: a form is filled in and closed, and the clock is moved', async () => {
  const page = await newPage();
  await page.goto(`${sandbox.url}/?as=ana&channel=ops`);
  await composerFocus(page, 'ops');
  await page.keyboard.type('/service create');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog');
  const provider = dialog.getByRole('combobox', { name: 'Provider' });
  await provider.waitFor();
  for (let presses = 0; presses < MOST_PRESSES; presses += 1) {
    if (await provider.evaluate((box) => box.matches(':focus'))) break;
    await page.keyboard.press('Tab');
  }
  await page.keyboard.type('aws');
  await page.getByRole('option', { name: 'aws' }).waitFor();
  await page.keyboard.press('Enter');
  await dialog.getByRole('combobox', { name: 'Region' }).waitFor();
  await picture(page, 'form-create');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await composerFocus(page, 'ops');

  const before = sandbox.clock.now().getTime();
  await focusWith(page, 'Shift+Tab', /^Controls/);
  await page.keyboard.press('Enter');
  await focusWith(page, 'Tab', /^\+5 min/);
  await page.keyboard.press('Enter');
  const moved = () => sandbox.clock.now().getTime() - before;
  await expect.poll(moved).toBeGreaterThanOrEqual(300_000);
  await page.keyboard.press('Escape');
  await expect.poll(() => page.evaluate(FOCUSED)).toMatch(/^Controls/);
});
