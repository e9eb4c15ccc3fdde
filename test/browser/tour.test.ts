import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { ORGANIZATION } from '../../sandbox/seed/organization.ts';
import { ANA, BEN, CLEO } from '../harness/users.ts';
import {
  APPROVALS,
  anaRequests,
  COSTS,
  goAs,
  OPS,
  openAs,
  picture,
  sandbox,
  say,
  startBeforeAll,
} from './open-page.ts';

startBeforeAll();

/** Closes the modal, which otherwise stays open for this user on every page. */
async function close(page: Page): Promise<void> {
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await dialog.waitFor({ state: 'detached' });
}

async function home(page: Page): Promise<void> {
  await page.getByText('Signalbox', { exact: true }).first().click();
  await page.getByRole('heading', { name: /Waiting for you/ }).waitFor();
}

test('in a browser: Ben decides in his Home tab, which updates after each press', async () => {
  await anaRequests('/service scale staging min=16 max=64 "a load test"', 'Scale staging');
  await anaRequests('/service stop ml-features for the night', 'Stop ml-features');

  const page = await openAs(BEN, APPROVALS);
  await home(page);
  await page.getByText('Waiting for you (2)').waitFor();
  await picture(page, 'home');
  await page.getByRole('button', { name: 'Approve', exact: true }).first().click();
  await page.getByText('Waiting for you (1)').waitFor();

  await expect.poll(() => sandbox.cloud.count('scale')).toBe(1);
  await goAs(page, ANA, OPS);
  await home(page);
  await page.getByText('Your requests (1)').waitFor();
  // On a slow machine the new size is in effect before the page is drawn.
  await page.getByText(/staging is scal(ing|ed)/).waitFor();
  // Evaluated in the page.
  const colour = (selector: string) =>
    `getComputedStyle(document.querySelector('${selector}')).color`;
  const root = '#slack_blocks_to_jsx';
  expect(await page.evaluate(colour(`${root} a`))).not.toBe(await page.evaluate(colour(root)));
  await picture(page, 'home-of-ana');
  await page.getByRole('combobox', { name: 'All commands…' }).click();
  await page.getByRole('option', { name: 'Create an endpoint' }).click();
  await page.getByRole('dialog').getByText('Create an endpoint').waitFor();
  await close(page);
});

test('in a browser: a form keeps the typed values', async () => {
  const ana = await openAs(ANA, OPS);
  await say(ana, '/service scale ci "more builds"');
  const dialog = ana.getByRole('dialog');
  await dialog.getByText('Scale a service').waitFor();
  await dialog.getByText('more builds').waitFor();
  await picture(ana, 'form-scale');
  await close(ana);
});

test('in a browser: a long request wraps on a phone', async () => {
  const ana = await openAs(ANA, OPS);
  await say(
    ana,
    '/service create "analytics new" provider=aws region=eu-west-1 ip=10.0.0.0/8 min=16 max=32',
  );
  await ana.getByRole('button', { name: 'Show request' }).last().click();
  await ana.setViewportSize({ width: 390, height: 844 });
  const request = ana.getByText('POST services').last();
  await request.waitFor();
  await expect.poll(async () => rightEnd(await request.boundingBox())).toBeLessThanOrEqual(390);
});

function rightEnd(box: { x: number; width: number } | null): number {
  return box ? box.x + box.width : Number.POSITIVE_INFINITY;
}

test('in a browser: alerts are listed, and the form of an alert has its current values', async () => {
  const ana = await openAs(ANA, OPS);
  await say(ana, '/alert list');
  const firing = ana.getByRole('heading', { name: '3 of 14 alerts firing' });
  await ana.getByRole('table', { name: 'Others' }).waitFor();
  await picture(ana, 'alerts', firing);
  const [alert] = sandbox.alerts.alerts().filter(({ name }) => name && !name.includes('<'));
  await say(ana, `/alert edit ${alert?.id}`);
  const dialog = ana.getByRole('dialog');
  await dialog.getByText(`Alert “${alert?.name}”`).waitFor();
  await picture(ana, 'form-alert');
  await close(ana);
});

test('in a browser: the answers about a backup and a pipe, and the form of an endpoint', async () => {
  const ana = await openAs(ANA, OPS, 1000);
  const backup = ORGANIZATION.backups.find(({ service }) => service === 'analytics-prod');
  await say(ana, `/backup show analytics-prod ${backup?.id}`);
  await ana.getByRole('heading', { name: /^Backup of/ }).waitFor();
  await picture(ana, 'backup');
  await say(ana, '/pipe settings analytics-prod orders');
  await ana.getByRole('heading', { name: /^Settings of orders/ }).waitFor();
  await picture(ana, 'pipe');

  await say(ana, '/endpoint create staging');
  const dialog = ana.getByRole('dialog');
  await dialog.getByText('Create an endpoint').waitFor();
  const name = dialog.getByRole('textbox', { name: /^Endpoint service name/ });
  expect(await name.count()).toBe(0);
  await dialog.getByRole('combobox', { name: /^Type/ }).click();
  await ana.getByRole('option', { name: 'VPC endpoint service' }).click();
  await name.waitFor();
  await picture(ana, 'form-endpoint');
  await close(ana);
});

test('in a browser: a command in a thread is answered in the thread', async () => {
  const ben = await openAs(BEN, OPS);
  await say(ben, 'staging is slow today');
  const list = ben.getByRole('log', { name: 'Messages' });
  const message = list.getByRole('article').filter({ hasText: 'staging is slow today' });
  await message.hover();
  await message.getByRole('button', { name: 'Reply in thread' }).click();
  const thread = ben.getByRole('complementary', { name: 'Thread' });
  await thread.getByRole('textbox').fill('let me see');
  await thread.getByRole('textbox').press('Enter');
  await thread.getByText('let me see').waitFor();
  await message.hover();
  await message.getByRole('button', { name: 'More actions' }).click();
  await ben.getByRole('menuitem', { name: /Run a command/ }).click();
  const dialog = ben.getByRole('dialog');
  await dialog.getByText('What do you want to do?').waitFor();
  await dialog.getByRole('combobox').click();
  await picture(ben, 'palette');
  await ben.getByRole('option', { name: /service list/ }).click();
  await dialog.getByText('List services').waitFor();
  await dialog.getByRole('button', { name: 'Look up' }).click();
  await thread.getByRole('table', { name: 'Others' }).waitFor();
  await picture(ben, 'palette-answer');
});

/** The number of pixels between the visible part and the end of the messages. */
function belowView(page: Page): Promise<number> {
  const list = page.getByRole('log', { name: 'Messages' });
  return list.evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight);
}

test('in a browser: the end of the newest message stays visible when the message grows', async () => {
  for (const name of ['ci', 'staging', 'load-test']) {
    await anaRequests(`/service stop ${name} for the night`, `Stop ${name}`);
  }
  await anaRequests('/service stop analytics-prod nightly maintenance', 'Stop analytics-prod');
  const [ben, cleo] = [await openAs(BEN, APPROVALS, 600), await openAs(CLEO, APPROVALS, 600)];
  for (const page of [ben, cleo]) {
    await page.getByText('requests: stop analytics-prod').waitFor();
    await expect.poll(() => belowView(page)).toBeLessThan(2);
  }
  await ben.getByRole('button', { name: 'Approve', exact: true }).last().click();
  await ben.getByText('(1 of 2 from').waitFor();
  await expect.poll(() => belowView(ben)).toBeLessThan(2);
  await cleo.getByRole('button', { name: 'Approve', exact: true }).last().click();
  for (const page of [ben, cleo]) {
    await page.getByText('analytics-prod is stopping').waitFor();
    await page
      .getByText(/^\d+ repl(y|ies)/)
      .last()
      .waitFor();
    await expect.poll(() => belowView(page)).toBeLessThan(2);
  }
});

test('in a browser: the end stays visible when a message shrinks and grows at the same time', async () => {
  const ben = await openAs(BEN, APPROVALS, 600);
  const list = ben.getByRole('log', { name: 'Messages' });
  await list.waitFor();
  await list.evaluate(async (box) => {
    const page = box.ownerDocument;
    const frame = () => new Promise((next) => page.defaultView?.requestAnimationFrame(next));
    const grown = page.createElement('div');
    box.firstElementChild?.append(grown);
    grown.style.height = '3000px';
    for (let count = 0; count < 4; count += 1) await frame();
    grown.style.height = '2000px';
    // The next task comes when this frame is drawn, and before the list hears that it moved.
    const { port1, port2 } = new MessageChannel();
    await new Promise((next) => {
      port1.onmessage = next;
      port2.postMessage(null);
    });
    grown.style.height = '4000px';
    for (let count = 0; count < 4; count += 1) await frame();
  });
  expect(await belowView(ben)).toBeLessThan(2);
});

test('in a browser: a digest is added in its form and posted in the channel', async () => {
  const page = await openAs(ANA, COSTS);
  await say(page, '/cost digest add');
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Add a cost digest').waitFor();
  expect(await dialog.getByText('Action').count()).toBe(0);
  await dialog.getByRole('textbox', { name: /^Time(?! zone)/ }).fill('09:30');
  await dialog.getByRole('textbox', { name: /^Time zone/ }).fill('Europe/Berlin');
  await picture(page, 'form-digest');
  await dialog.getByRole('button', { name: 'Add digest' }).click();
  await page.getByText('Posted in #db-costs weekdays 09:30 (Europe/Berlin).').waitFor();

  await page.getByRole('button', { name: 'Post now' }).click();
  await page.getByText('The scheduled one is still sent.').waitFor();
  await goAs(page, BEN, COSTS);
  await page.setViewportSize({ width: 1280, height: 1000 });
  const title = page.getByRole('heading', { name: /^Yesterday, .*: .* credits|budget/ }).last();
  await title.waitFor();
  await picture(page, 'digest', title);
});

test('in a browser: a password is shown once, and an unknown outcome is left to an operator', async () => {
  const where = 'provider=aws region=eu-west-1 ip=10.0.0.0/8';
  await anaRequests(`/service create "new one" ${where} "a new market"`, 'Create service new one');
  const page = await openAs(BEN, APPROVALS);
  await page.getByText('requests: create service new one').waitFor();
  await page.getByRole('button', { name: 'Approve', exact: true }).last().click();
  const show = page.getByRole('button', { name: 'Show the password' });
  await show.waitFor();
  await goAs(page, ANA, APPROVALS);
  await show.last().click();
  await page.getByRole('dialog').getByText('Shown only once').waitFor();
  await picture(page, 'password');
  await close(page);

  sandbox.cloud.injectFault({ operation: 'set state', fault: 'close-after-effect', times: 1 });
  await anaRequests('/service stop analytics-dev for the night', 'Stop analytics-dev');
  await goAs(page, BEN, APPROVALS);
  await page.getByText('requests: stop analytics-dev').waitFor();
  await page.getByRole('button', { name: 'Approve', exact: true }).last().click();
  await page.getByRole('button', { name: 'It was stopped' }).waitFor();
  await picture(page, 'unknown');
});
