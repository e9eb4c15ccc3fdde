import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { GUS } from '../harness/users.ts';
import { newPage, sandbox, startBeforeAll } from './open-page.ts';
import { seriousFindings } from './serious-findings.ts';

startBeforeAll({ history: true });

const PHONE = { width: 390, height: 844 };

const guideOf = (page: Page) => page.getByRole('complementary', { name: 'Guide' });

/** The titles of the steps that the guide shows as done. */
function doneSteps(page: Page) {
  return guideOf(page)
    .getByRole('button', { name: /, done$/ })
    .allInnerTexts();
}

/** Acts through a link of the guide, for example “Ben in #db-approvals”. */
async function follow(page: Page, link: string): Promise<void> {
  await guideOf(page).getByRole('link', { name: link }).click();
  await page.getByRole('button', { name: `Act as: ${link.split(' ')[0]}` }).waitFor();
}

const button = (page: Page, name: string) =>
  page.getByRole('main').getByRole('button', { name, exact: true });

test('a new user follows the guide, and each step is done when the simulators have seen it', async () => {
  const page = await newPage();
  await page.goto(sandbox.url);
  await page.getByRole('heading', { name: '#ops' }).waitFor();
  const composer = page.getByRole('textbox', { name: 'Message #ops' });
  const guide = guideOf(page);
  await guide.getByText('Engineers operate an analytics database from Slack').waitFor();
  expect(await guide.getByRole('button').count()).toBe(1);
  await guide.getByRole('button', { name: 'Write the first command' }).click();
  await guide.getByText('0 of 6 done').waitFor();
  await expect.poll(() => composer.evaluate((box) => box.matches(':focus'))).toBe(true);
  await composer.press('Enter');
  await button(page, 'Request approval').click();
  await guide.getByText('1 of 6 done').waitFor();

  await follow(page, 'Ana in #db-approvals');
  await button(page, 'Approve').click();
  await guide.getByText('2 of 6 done').waitFor();

  await follow(page, 'Ben in #db-approvals');
  await button(page, 'Approve').click();
  await page.getByText('(1 of 2 from').waitFor();
  await follow(page, 'Cleo in #db-approvals');
  await button(page, 'Approve').click();
  await guide.getByText('3 of 6 done').waitFor();
  expect(sandbox.cloud.count('set state')).toBe(1);

  await guide.getByRole('button', { name: 'Inject the fault' }).click();
  await guide.getByText('Injected').waitFor();
  await guide.getByRole('button', { name: 'Insert' }).click();
  await page.getByRole('button', { name: 'Act as: Ana' }).waitFor();
  await composer.press('Enter');
  await button(page, 'Request approval').click();
  await page.getByText('Stop staging', { exact: true }).waitFor();
  await follow(page, 'Ben in #db-approvals');
  await button(page, 'Approve').click();
  await button(page, 'It was stopped').click();
  const form = page.getByRole('dialog');
  await form.getByRole('textbox', { name: 'What did you find?' }).fill('the console shows idle');
  await guide.getByText('3 of 6 done').waitFor();
  await form.getByRole('button', { name: 'Save' }).click();
  await guide.getByText('4 of 6 done').waitFor();

  await guide.getByRole('button', { name: 'Insert' }).click();
  await page.getByRole('button', { name: 'Act as: Dora' }).waitFor();
  await composer.press('Enter');
  await page
    .getByRole('columnheader', { name: /service/i })
    .first()
    .waitFor();
  await guide.getByRole('button', { name: /next morning/ }).click();
  await expect.poll(() => doneSteps(page)).toHaveLength(5);

  await guide.getByRole('button', { name: 'Insert' }).click();
  await page.getByRole('heading', { name: 'Slackbot' }).waitFor();
  await page.getByText('has no model. I understand').waitFor();
  await page.getByRole('textbox', { name: 'Message Slackbot' }).press('Enter');
  await button(page, 'Allow once').click();
  await page.getByText('the person must press Request approval in Slack').waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  await follow(page, 'Ana in Signalbox');
  await button(page, 'Request approval').click();
  await page.getByText('Sent to #db-approvals').last().waitFor();
  await follow(page, 'Ben in #db-approvals');
  await page.getByText('requests: stop analytics-dev').waitFor();
  await button(page, 'Approve').click();
  await guide.getByText('All six steps are done').waitFor();
});

test('a link with names opens the page of one user, and a closed guide comes back from the menu', async () => {
  const page = await newPage();
  await page.goto(`${sandbox.url}/?as=gus&channel=db-costs`);
  await page.getByRole('heading', { name: '#db-costs' }).waitFor();
  await page.getByRole('button', { name: 'Act as: Gus' }).waitFor();
  await guideOf(page).getByRole('button', { name: 'Close the guide' }).click();
  await page.reload();
  await page.getByRole('heading', { name: '#db-costs' }).waitFor();
  expect(await guideOf(page).count()).toBe(0);
  await page.getByRole('button', { name: 'Help' }).click();
  await page.getByRole('menuitem', { name: 'Show the guide' }).click();
  await guideOf(page).waitFor();
});

test('a link that names nobody offers the people of the workspace', async () => {
  const page = await newPage();
  await page.goto(`${sandbox.url}/?as=nobody&channel=ops`);
  await page.getByRole('alert').getByText('Nobody here is called “nobody”').waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  expect(await page.getByRole('link', { name: 'signalbox' }).count()).toBe(0);
  await page.getByRole('link', { name: 'ben', exact: true }).click();
  await page.getByRole('button', { name: 'Act as: Ben' }).waitFor();
});

test('a channel with news is bold, and only messages for the user have a badge', async () => {
  const page = await newPage();
  await page.goto(`${sandbox.url}/?as=gus&channel=general`);
  const entry = (name: string) => page.getByRole('link', { name: new RegExp(`^${name}`) });
  await sandbox.slack.sendMessage({ as: GUS, channel: 'C0OPS000001', text: 'of my own' });
  await sandbox.slack.sendMessage({ as: 'U0ANA00001', channel: 'C0OPS000001', text: 'hello all' });
  await expect.poll(() => entry('ops').innerText()).toContain('unread');
  expect(await entry('ops').getByRole('img').count()).toBe(0);
  await sandbox.slack.sendMessage({ as: 'U0ANA00001', channel: 'C0OPS000001', text: 'hello @gus' });
  await entry('ops').getByRole('img', { name: '1 for you' }).waitFor();
});

test('on a touch screen the actions of a message cover no text', async () => {
  const page = await newPage({ viewport: PHONE, hasTouch: true, isMobile: true });
  await page.goto(`${sandbox.url}/?as=ana&channel=db-approvals`);
  const article = page.getByRole('article').first();
  await article.getByRole('button', { name: 'Reply in thread' }).waitFor();
  const tools = await article.locator('.message-tools').boundingBox();
  const text = await article.locator('.message-main').boundingBox();
  expect(tools?.x).toBeGreaterThanOrEqual((text?.x ?? 0) + (text?.width ?? 390));
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
});
