import { expect, test } from 'vitest';
import { ANA, BEN, DORA } from '../harness/users.ts';
import { actAs, expectEscapeToReturn, expectNothingToSurvive } from './dialogs.ts';
import {
  APPROVALS,
  anaRequests,
  COSTS,
  goAs,
  OPS,
  openAs,
  sandbox,
  startBeforeAll,
} from './open-page.ts';

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
  await anaRequests('/service stop analytics-prod nightly maintenance', 'Stop analytics-prod');
  const page = await openAs(BEN, APPROVALS);
  await page.getByRole('button', { name: 'Reject', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Reason' }).fill('not tonight');
  await sandbox.mover.walkTo(new Date(sandbox.clock.now().getTime() + 86_400_000));

  await page.getByText('Stop analytics-prod: expired').waitFor();
  await dialog.getByRole('button', { name: 'Reject' }).click();
  await dialog.getByRole('alert').getByText('Too late: it has expired.').waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: /\d repl/ }).click();
  const thread = page.getByRole('complementary', { name: 'Thread' });
  await thread.getByText('expired before it was decided').waitFor();
  expect(await thread.getByText('still needs').count()).toBeGreaterThan(0);
  await goAs(page, DORA, COSTS);
  await page
    .getByRole('heading', { name: /yesterday|budget|heading for/i })
    .first()
    .waitFor();

  await goAs(page, ANA, OPS);
  await expectEscapeToReturn(page);
  await expectNothingToSurvive(page, sandbox.url);
});
