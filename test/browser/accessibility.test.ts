import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { REFUSED } from '../harness/refused.ts';
import { ANA, BEN, CLEO, DORA, EMIL, GINA } from '../harness/users.ts';
import {
  APPROVALS,
  anaRequests,
  COSTS,
  goAs,
  newPage,
  OPS,
  openAs,
  picture,
  sandbox,
  say,
  startBeforeAll,
} from './open-page.ts';
import { seriousFindings } from './serious-findings.ts';

// With the digest of the morning at any hour.
startBeforeAll({ history: true });

const button = (page: Page, name: string) =>
  page.getByRole('main').getByRole('button', { name, exact: true }).last();

test('axe finds nothing serious on the first page, in the menus and in the controls', async () => {
  const page = await newPage();
  await page.goto(sandbox.url);
  const guide = page.getByRole('complementary', { name: 'Guide' });
  await guide.getByRole('button', { name: 'Write the first command' }).waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  await guide.getByRole('button', { name: 'Write the first command' }).click();
  await guide.getByText('0 of 6 done').waitFor();
  await page.getByRole('textbox').fill('/');
  await page.getByRole('option', { name: '/service' }).waitFor();
  expect(await seriousFindings(page)).toEqual([]);

  await page.getByRole('button', { name: /^Act as:/ }).click();
  await page.getByRole('menuitemradio', { name: 'Ben' }).waitFor();
  expect(await seriousFindings(page)).toEqual([]);

  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: /^Controls/ }).click();
  await page.getByRole('button', { name: 'Next morning' }).waitFor();
  await page.getByRole('list', { name: 'Requests' }).waitFor();
  expect(await seriousFindings(page)).toEqual([]);

  await page.setViewportSize({ width: 390, height: 844 });
  expect(await seriousFindings(page)).toEqual([]);
  await page.goto(`${sandbox.url}/?as=ana`);
  await page.getByRole('heading', { name: 'Channels' }).waitFor();
  expect(await seriousFindings(page)).toEqual([]);
});

test('axe finds nothing serious in a preview, a card, a thread and the Home tab', async () => {
  const page = await openAs(ANA, OPS);
  await say(page, '/service stop analytics-dev nightly maintenance');
  await button(page, 'Request approval').waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  await button(page, 'Request approval').click();
  await page.getByText('Sent to #db-approvals').waitFor();

  await goAs(page, BEN, APPROVALS);
  await button(page, 'Approve').waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  await page.getByText('Signalbox', { exact: true }).first().click();
  await page.getByText('Waiting for you (1)').waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  await button(page, 'Approve').click();

  await goAs(page, CLEO, APPROVALS);
  await page.getByText('analytics-dev is stopping').waitFor();
  await page
    .getByText(/^\d+ repl(y|ies)/)
    .last()
    .click();
  await page.getByText('shows the response.').waitFor();
  expect(await seriousFindings(page)).toEqual([]);
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

test('axe finds nothing serious in the Home tab of each kind of user', async () => {
  const page = await openAs(ANA, OPS);
  for (const [user, words] of [
    [ANA, 'Answers appear in the Messages tab.'],
    [DORA, 'Answers appear in the Messages tab.'],
    [EMIL, 'You have no role'],
    [GINA, REFUSED.guest],
  ] as const) {
    await goAs(page, user, OPS);
    await page.getByText('Signalbox', { exact: true }).first().click();
    await page.getByText(words).first().waitFor();
    expect(await seriousFindings(page), user).toEqual([]);
  }
});

test('axe finds nothing serious in refusals and in the help of each role', async () => {
  const page = await openAs(EMIL, OPS);
  await say(page, '/service start analytics-prod please');
  await page.getByText("You can't start analytics-prod").waitFor();
  await picture(page, 'refusal');
  await say(page, '/signalbox');
  await page.getByText('You have no role').waitFor();
  expect(await seriousFindings(page)).toEqual([]);

  await goAs(page, DORA, OPS);
  await say(page, '/signalbox');
  await button(page, 'Show all commands').click();
  await page.getByText('All commands of Signalbox').waitFor();
  expect(await seriousFindings(page)).toEqual([]);
});

test('axe finds nothing serious in an alert edit: its form, preview and card', async () => {
  const page = await openAs(ANA, OPS);
  await say(page, '/alert edit "5xx rate"');
  const dialog = page.getByRole('dialog');
  await expect
    .poll(() => dialog.getByRole('textbox', { name: 'Threshold' }).evaluate(hasFocus))
    .toBe(true);
  expect(await seriousFindings(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });

  await say(page, '/alert edit "5xx rate" threshold=250 interval=15m');
  await page.getByText('Edit alert "5xx rate" (firing)?').waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  await button(page, 'Request approval').click();
  await goAs(page, BEN, APPROVALS);
  await page.getByText('requests: edit alert "5xx rate"').waitFor();
  expect(await seriousFindings(page)).toEqual([]);
});

const hasFocus = (element: { matches(selector: string): boolean }) => element.matches(':focus');

test('axe finds nothing serious in break-glass: the menu, the form and the card', async () => {
  const page = await openAs(ANA, OPS);
  await say(page, '/service stop analytics-prod nightly maintenance');
  await page.getByText('Stop analytics-prod?').waitFor();
  await page.getByRole('main').getByRole('button', { name: 'More options' }).last().click();
  await page.getByRole('menuitem', { name: /break-glass/ }).waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  await page.getByRole('menuitem', { name: /break-glass/ }).click();
  const reason = page.getByRole('dialog').getByRole('textbox', { name: /wait/ });
  await reason.waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  await reason.fill('the disk fills up');
  await page.getByRole('dialog').getByRole('button', { name: 'Use break-glass' }).click();
  await goAs(page, BEN, APPROVALS);
  await page.getByText('⚠ EMERGENCY').waitFor();
  // The next test makes a request fail, which must not be this one.
  await page.getByText('analytics-prod is stopping').waitFor();
  expect(await seriousFindings(page)).toEqual([]);
});

test('axe finds nothing serious in an unknown outcome: the card, Home, the form and the answer', async () => {
  const operation = 'set state';
  sandbox.cloud.injectFault({ operation, fault: 'close-after-effect', times: 1 });
  await anaRequests('/service stop staging for the night', 'Stop staging');
  const ben = await openAs(BEN, APPROVALS);
  await button(ben, 'Approve').click();
  await button(ben, 'It was stopped').waitFor();
  expect(await seriousFindings(ben)).toEqual([]);
  await ben.getByText('Signalbox', { exact: true }).first().click();
  await ben.getByText(/Needs your answer/).waitFor();
  expect(await seriousFindings(ben)).toEqual([]);
  await ben.getByRole('button', { name: 'It was stopped', exact: true }).first().click();
  const note = ben.getByRole('dialog').getByRole('textbox', { name: 'What did you find?' });
  await expect.poll(() => note.evaluate(hasFocus)).toBe(true);
  expect(await seriousFindings(ben)).toEqual([]);
  await note.fill('the console shows idle');
  await ben.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await ben.getByRole('link', { name: /db-approvals/ }).click();
  await ben.getByText('Stop staging: it was stopped').waitFor();
  expect(await seriousFindings(ben)).toEqual([]);
});

test('axe finds nothing serious in a schedule: preview, card and list', async () => {
  const page = await openAs(ANA, OPS);
  const line =
    '/service schedule ci stop="weekdays 20:00" start="weekdays 07:00" zone=Europe/Berlin';
  await say(page, line);
  await page.getByText('Schedule ci?').waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  await button(page, 'Request approval').click();
  await goAs(page, BEN, APPROVALS);
  await page.getByText('requests: schedule ci').waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  await button(page, 'Approve').click();
  await page.getByText('ci is scheduled').waitFor();
  await goAs(page, ANA, OPS);
  await say(page, '/service schedule list');
  await page.getByText('1 schedule').waitFor();
  expect(await seriousFindings(page)).toEqual([]);
});

test('axe finds nothing serious in the digest, its form and its list', async () => {
  const dora = await openAs(DORA, COSTS);
  await dora
    .getByRole('heading', { name: /yesterday|budget|heading for/i })
    .first()
    .waitFor();
  expect(await seriousFindings(dora)).toEqual([]);
  await say(dora, '/cost digest add');
  await dora.getByRole('dialog').getByText('Add a cost digest').waitFor();
  expect(await seriousFindings(dora)).toEqual([]);
  await dora.getByRole('dialog').getByRole('button', { name: 'Add digest' }).click();
  await dora.getByText('weekdays 09:30 (Europe/Berlin).').waitFor();
  await say(dora, '/cost digest list');
  await dora.getByText('3 cost digests').waitFor();
  expect(await seriousFindings(dora)).toEqual([]);
});
