import { expect, test } from 'vitest';
import { BEN, DORA } from '../harness/users.ts';
import {
  APPROVALS,
  anaRequests,
  newPage,
  OPS,
  openAs,
  sandbox,
  say,
  startBeforeAll,
} from './open-page.ts';
import { seriousFindings } from './serious-findings.ts';

startBeforeAll();

const PHONE = { width: 390, height: 844 };

test('on a phone the guide takes one line, which leads through the steps and can be opened', async () => {
  const page = await newPage({ viewport: PHONE, hasTouch: true, isMobile: true });
  await page.goto(sandbox.url);
  const guide = page.getByRole('complementary', { name: 'Guide' });
  const atStep = (number: number) =>
    guide.getByRole('button', { name: new RegExp(`^Guide, step ${number} of 6: `) }).waitFor();
  const height = async () => (await guide.boundingBox())?.height;
  const pressInGuide = (name: string) => guide.getByRole('button', { name }).click();
  const follow = (name: string) => guide.getByRole('link', { name }).click();
  const press = (name: string) =>
    page.getByRole('main').getByRole('button', { name, exact: true }).click();
  await pressInGuide('Write the first command');
  await atStep(1);
  expect(await height()).toBeLessThanOrEqual(52);
  const messages = await page.getByRole('log', { name: 'Messages' }).boundingBox();
  expect(messages?.height).toBeGreaterThan(500);
  expect(await seriousFindings(page)).toEqual([]);

  await guide.getByRole('button', { name: /^Guide, step 1/ }).click();
  await guide.getByRole('button', { name: 'Close the guide' }).waitFor();
  expect(await height()).toBeGreaterThan(150);
  await guide.getByRole('button', { name: 'Insert' }).click();
  expect(await height()).toBeLessThanOrEqual(52);

  await page.getByRole('button', { name: 'Send now' }).click();
  await press('Request approval');
  await atStep(2);
  await follow('Act as Ana');
  await press('Approve');
  await atStep(3);
  expect(await height()).toBeLessThanOrEqual(52);
  for (const name of ['Ben', 'Cleo']) {
    await follow(`Act as ${name}`);
    await page.getByRole('button', { name: `Act as: ${name}` }).waitFor();
    await press('Approve');
  }
  await atStep(4);
  await page.getByRole('button', { name: 'Back to all conversations' }).click();
  const channels = await page.getByRole('heading', { name: 'Channels' }).boundingBox();
  const line = await guide.boundingBox();
  expect(channels?.y).toBeGreaterThanOrEqual((line?.y ?? 844) + (line?.height ?? 0));

  await pressInGuide('Inject the fault');
  await pressInGuide('Insert');
  await page.getByRole('button', { name: 'Act as: Ana' }).waitFor();
  const composer = page.getByRole('textbox', { name: 'Message #ops' });
  expect(await composer.inputValue()).toBe('/service stop staging for the night');
  expect(await guide.getByRole('link', { name: 'Act as Ben' }).count()).toBe(1);
  expect(await height()).toBeLessThanOrEqual(52);
});

test('on a phone a table fades where it continues, until its end is visible', async () => {
  const page = await openAs(DORA, OPS);
  await page.setViewportSize(PHONE);
  await say(page, '/service list');
  await page.getByRole('table', { name: 'Others' }).waitFor();
  const scroller = page.locator('.table-scroll').last();
  // Evaluated in the page.
  const style = "getComputedStyle([...document.querySelectorAll('.table-scroll')].at(-1))";
  const fade = () => page.evaluate<number>(`parseFloat(${style}.getPropertyValue('--fade'))`);
  await expect.poll(fade).toBeGreaterThan(20);
  await scroller.evaluate((box) => box.scrollTo({ left: box.scrollWidth }));
  await expect.poll(fade).toBe(0);
});

test('on a phone an approver approves with less: the form keeps what is more, and says why', async () => {
  await anaRequests('/service scale lab-core max=64 for=4h a backfill', 'Scale lab-core');
  const page = await openAs(BEN, APPROVALS);
  await page.setViewportSize(PHONE);
  await page.getByRole('main').getByRole('button', { name: 'More options' }).last().click();
  await page.getByRole('menuitem', { name: 'Approve with less…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('combobox', { name: /^Maximum memory/ }).click();
  await page.getByRole('option', { name: '32', exact: true }).click();
  await dialog.getByRole('textbox', { name: /^Revert after/ }).fill('5h');
  await dialog.getByRole('button', { name: 'Approve' }).click();
  await dialog.getByRole('alert').getByText('must be shorter than requested').waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  await dialog.getByRole('textbox', { name: /^Revert after/ }).fill('2h');
  await dialog.getByRole('button', { name: 'Approve' }).click();
  await page.getByText('64 → 32, reverts 4 h later → 2 h later').first().waitFor();
});
