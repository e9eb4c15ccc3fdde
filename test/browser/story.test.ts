import { expect, test } from 'vitest';
import { ANA, BEN, CLEO, DORA } from '../harness/users.ts';
import {
  APPROVALS,
  goAs,
  OPS,
  openAs,
  picture,
  sandbox,
  say,
  startBeforeAll,
} from './open-page.ts';

startBeforeAll({ priced: true });

test('in a browser: Ana requests, Ben and Cleo approve, and the service stops once', async () => {
  const page = await openAs(ANA, OPS);
  await say(page, '/service stop analytics-prod nightly maintenance');
  const confirm = page.getByRole('button', { name: 'Request approval' });
  await confirm.waitFor();
  await picture(page, 'preview');
  await confirm.click();
  await page.getByText('Sent to #db-approvals').waitFor();

  await goAs(page, BEN, APPROVALS);
  await page.getByRole('button', { name: 'Approve', exact: true }).click();
  await page.getByText('(1 of 2 from').waitFor();
  await picture(page, 'card');
  expect(sandbox.cloud.count('set state')).toBe(0);

  await goAs(page, CLEO, APPROVALS);
  await page.getByRole('button', { name: 'Approve', exact: true }).click();
  await page.getByText('analytics-prod is stopping').waitFor();
  await page.getByText(/^\d+ repl(y|ies)/).click();
  await page.getByText('shows the response.').waitFor();
  await picture(page, 'ending');
  expect(sandbox.cloud.count('set state')).toBe(1);
});

test('in a browser, on a phone: a link to a card opens the channel, where a refusal is visible', async () => {
  const ana = await openAs(ANA, OPS);
  await ana.setViewportSize({ width: 390, height: 844 });
  await say(ana, '/service stop ci for the night');
  await ana.getByRole('button', { name: 'Request approval' }).last().click();
  await ana.getByRole('link', { name: 'Open card' }).last().click();
  const card = ana.getByRole('article').filter({ hasText: 'requests: stop ci' });
  await card.getByRole('button', { name: 'Approve', exact: true }).click();
  const refusal = ana.getByText('someone else must approve').last();
  await refusal.waitFor();
  const { bottom } = await refusal.evaluate((each) => each.getBoundingClientRect());
  expect(bottom).toBeLessThan(844);
  expect(await ana.getByRole('complementary', { name: 'Thread' }).count()).toBe(0);
});

test('in a browser: with a price, money is beside the credits', async () => {
  const dora = await openAs(DORA, OPS, 1000);
  await say(dora, '/cost 7d vs prev top 4');
  const title = dora.getByRole('heading', { name: /credits \(€[\d,.]+\) so far/ });
  await title.waitFor();
  await picture(dora, 'cost-money', title);
});

// The last test of this file: the app gets no more payloads.
test('in a browser: Slackbot shows that a command did not reach the app', async () => {
  const ana = await openAs(ANA, OPS);
  sandbox.slack.deliverTo(null);
  await say(ana, '/service list');
  await ana.getByText('/service failed with the error "dispatch_failed"').waitFor();
  expect(await ana.getByRole('main').getByText('Slackbot').count()).toBe(1);
  await picture(ana, 'slackbot');
});
