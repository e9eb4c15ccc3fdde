import { expect, test } from 'vitest';
import { ANA, BEN, CLEO } from '../harness/users.ts';
import { APPROVALS, newPage, OPS, openAs, sandbox, say, startBeforeAll } from './open-page.ts';
import { seriousFindings } from './serious-findings.ts';

startBeforeAll();

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
  await cleo.getByText(/^\d+ repl(y|ies)/).click();
  await cleo.getByText('shows the response.').waitFor();
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
