import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { REFUSED } from '../harness/refused.ts';
import { ANA, BEN, DORA, EMIL, GINA } from '../harness/users.ts';
import {
  APPROVALS,
  anaRequests,
  COSTS,
  OPS,
  openAs,
  sandbox,
  say,
  startBeforeAll,
} from './open-page.ts';
import { seriousFindings } from './serious-findings.ts';

// With the digest of the morning at any hour.
startBeforeAll({ history: true });

const button = (page: Page, name: string) =>
  page.getByRole('main').getByRole('button', { name, exact: true }).last();

test.for([
  ['an operator', ANA, 'Answers appear in the Messages tab.'],
  ['a viewer', DORA, 'Answers appear in the Messages tab.'],
  ['a user without a role', EMIL, 'You have no role'],
  ['a guest', GINA, REFUSED.guest],
] as const)('axe finds nothing serious in the Home tab of %s', async ([, user, words]) => {
  const page = await openAs(user, OPS);
  await page.getByText('Signalbox', { exact: true }).first().click();
  await page.getByText(words).first().waitFor();
  expect(await seriousFindings(page)).toEqual([]);
});

test('axe finds nothing serious in refusals and in the help of each role', async () => {
  const emil = await openAs(EMIL, OPS);
  await say(emil, '/service start analytics-prod please');
  await emil.getByText("You can't start analytics-prod").waitFor();
  await say(emil, '/signalbox');
  await emil.getByText('You have no role').waitFor();
  expect(await seriousFindings(emil)).toEqual([]);

  const dora = await openAs(DORA, OPS);
  await say(dora, '/signalbox');
  await button(dora, 'Show all commands').click();
  await dora.getByText('All commands of Signalbox').waitFor();
  expect(await seriousFindings(dora)).toEqual([]);
});

test('axe finds nothing serious in an alert edit: its form, preview and card', async () => {
  const ana = await openAs(ANA, OPS);
  await say(ana, '/alert edit "5xx rate"');
  const dialog = ana.getByRole('dialog');
  await expect
    .poll(() => dialog.getByRole('textbox', { name: 'Threshold' }).evaluate(hasFocus))
    .toBe(true);
  expect(await seriousFindings(ana)).toEqual([]);
  await ana.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });

  await say(ana, '/alert edit "5xx rate" threshold=250 interval=15m');
  await ana.getByText('Edit alert "5xx rate" (firing)?').waitFor();
  expect(await seriousFindings(ana)).toEqual([]);
  await button(ana, 'Request approval').click();
  const ben = await openAs(BEN, APPROVALS);
  await ben.getByText('requests: edit alert "5xx rate"').waitFor();
  expect(await seriousFindings(ben)).toEqual([]);
});

const hasFocus = (element: { matches(selector: string): boolean }) => element.matches(':focus');

test('axe finds nothing serious in break-glass: the menu, the form and the card', async () => {
  const ana = await openAs(ANA, OPS);
  await say(ana, '/service stop analytics-prod nightly maintenance');
  await ana.getByText('Stop analytics-prod?').waitFor();
  await ana.getByRole('main').getByRole('button', { name: 'More options' }).last().click();
  await ana.getByRole('menuitem', { name: /break-glass/ }).waitFor();
  expect(await seriousFindings(ana)).toEqual([]);
  await ana.getByRole('menuitem', { name: /break-glass/ }).click();
  const reason = ana.getByRole('dialog').getByRole('textbox', { name: /wait/ });
  await reason.waitFor();
  expect(await seriousFindings(ana)).toEqual([]);
  await reason.fill('the disk fills up');
  await ana.getByRole('dialog').getByRole('button', { name: 'Use break-glass' }).click();
  const ben = await openAs(BEN, APPROVALS);
  await ben.getByText('⚠ EMERGENCY').waitFor();
  // The next test makes a request fail, which must not be this one.
  await ben.getByText('analytics-prod is stopping').waitFor();
  expect(await seriousFindings(ben)).toEqual([]);
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
  const ana = await openAs(ANA, OPS);
  const line =
    '/service schedule ci stop="weekdays 20:00" start="weekdays 07:00" zone=Europe/Berlin';
  await say(ana, line);
  await ana.getByText('Schedule ci?').waitFor();
  expect(await seriousFindings(ana)).toEqual([]);
  await button(ana, 'Request approval').click();
  const ben = await openAs(BEN, APPROVALS);
  await ben.getByText('requests: schedule ci').waitFor();
  expect(await seriousFindings(ben)).toEqual([]);
  await button(ben, 'Approve').click();
  await ben.getByText('ci is scheduled').waitFor();
  await say(ana, '/service schedule list');
  await ana.getByText('1 schedule').waitFor();
  expect(await seriousFindings(ana)).toEqual([]);
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
