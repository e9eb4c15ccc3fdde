import { expect, test } from 'vitest';
import { ANA, BEN, DORA } from '../harness/users.ts';
import { actAs, expectEscapeToReturn, expectNothingToSurvive } from './dialogs.ts';
import { APPROVALS, COSTS, OPS, openAs, sandbox, say, startBeforeAll } from './open-page.ts';

startBeforeAll();

test('a dialog that opens after the user has left is not shown when the user is back', async () => {
  const page = await openAs(BEN, OPS);
  await page.getByRole('button', { name: 'Act as: Ben' }).waitFor();
  await sandbox.slack.command(ANA, 'ops', '/service scale ci');
  const views = () => sandbox.slack.clientState(ANA).views.length;
  await expect.poll(views).toBe(1);
  await actAs(page, 'Ana');
  await page.getByRole('textbox', { name: 'Message #ops' }).waitFor();
  expect(await page.getByRole('dialog').count()).toBe(0);
});

test('a day later a dialog of an expired card says so, and the page works as before', async () => {
  const ana = await openAs(ANA, OPS);
  await say(ana, '/service stop analytics-prod nightly maintenance');
  await ana.getByRole('button', { name: 'Request approval' }).click();
  await ana.getByText('Sent to #db-approvals').waitFor();

  const ben = await openAs(BEN, APPROVALS);
  await ben.getByRole('button', { name: 'Reject', exact: true }).click();
  const dialog = ben.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Reason' }).fill('not tonight');
  await ana.getByRole('button', { name: /^Controls/ }).click();
  const before = sandbox.clock.now().getTime();
  await ana.getByRole('button', { name: '+1 day' }).click();
  const moved = () => sandbox.clock.now().getTime() - before;
  await expect.poll(moved).toBeGreaterThan(86_000_000);
  await expect.poll(() => sandbox.mover.isMoving()).toBe(false);
  await ana.keyboard.press('Escape');

  await ben.getByText('Stop analytics-prod: expired').waitFor();
  await dialog.getByRole('button', { name: 'Reject' }).click();
  await dialog.getByRole('alert').getByText('Too late: it has expired.').waitFor();
  await ben.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await ben.getByRole('button', { name: /\d repl/ }).click();
  const thread = ben.getByRole('complementary', { name: 'Thread' });
  await thread.getByText('expired before it was decided').waitFor();
  expect(await thread.getByText('still needs').count()).toBeGreaterThan(0);
  const dora = await openAs(DORA, COSTS);
  await dora
    .getByRole('heading', { name: /yesterday|budget|heading for/i })
    .first()
    .waitFor();

  await expectEscapeToReturn(ana);
  await expectNothingToSurvive(ana, sandbox.url);
});
