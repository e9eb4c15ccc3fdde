import { mkdirSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSandbox } from '../../sandbox/start.ts';

// Without these flags Chromium contacts servers of its vendor, which a closed network refuses.
const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

let browser: Browser;
let sandbox: Awaited<ReturnType<typeof startSandbox>>;

beforeAll(async () => {
  sandbox = await startSandbox({ port: 0, delivery: 'http' });
  const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
  browser = await chromium.launch({ executablePath, args: QUIET });
}, 60_000);

afterAll(async () => {
  await browser?.close();
  await sandbox?.stop();
});

async function openAs(person: string, channel: string): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(`${sandbox.url}/?as=${person}&channel=${channel}`);
  return page;
}

/** Takes screenshots for a person to review, if PICTURES names a folder. */
async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.PICTURES;
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: `${folder}/${name}.png` });
  await page.setViewportSize({ width: 390, height: 844 });
  await page.screenshot({ path: `${folder}/${name}-phone.png` });
  await page.setViewportSize({ width: 1280, height: 800 });
}

test('in a browser: Ana requests, Ben and Cleo approve, and the service stops once', async () => {
  const ana = await openAs('U0ANA00001', 'C0OPS000001');
  const box = ana.getByRole('textbox').first();
  await box.fill('/service stop analytics-prod nightly maintenance');
  await box.press('Enter');
  const confirm = ana.getByRole('button', { name: 'Request approval' });
  await confirm.waitFor();
  await picture(ana, 'preview');
  await confirm.click();
  await ana.getByText('Sent to #db-approvals').waitFor();

  const ben = await openAs('U0BEN00001', 'C0APPROVALS');
  await ben.getByRole('button', { name: 'Approve' }).click();
  await ben.getByText('(1 of 2)').waitFor();
  await picture(ben, 'card');
  expect(sandbox.cloud.count('set state')).toBe(0);

  const cleo = await openAs('U0CLEO0001', 'C0APPROVALS');
  await cleo.getByRole('button', { name: 'Approve' }).click();
  await cleo.getByText('Stop analytics-prod: accepted').waitFor();
  await cleo.getByText('1 reply').click();
  await cleo.getByText('was accepted by the server').waitFor();
  await picture(cleo, 'ending');
  expect(sandbox.cloud.count('set state')).toBe(1);
});

test('in a browser: a user without a role sees the reason and who can request it', async () => {
  const emil = await openAs('U0EMIL0001', 'C0OPS000001');
  const box = emil.getByRole('textbox').first();
  await box.fill('/service start analytics-prod please');
  await box.press('Enter');
  await emil.getByText('You can’t use /service start on analytics-prod').waitFor();
  await picture(emil, 'refusal');
});

test('in a browser: the Home tab shows the changes that wait for each user', async () => {
  const ana = await openAs('U0ANA00001', 'C0OPS000001');
  const box = ana.getByRole('textbox').first();
  await box.fill('/service stop staging for the night');
  await box.press('Enter');
  await ana.getByRole('button', { name: 'Request approval' }).last().click();
  await ana.getByText('Stop staging: waiting for approval').waitFor();

  const ben = await openAs('U0BEN00001', 'C0APPROVALS');
  await ben.getByText('Signalbox', { exact: true }).first().click();
  await ben.getByText('Waiting for you (1)').waitFor();
  await picture(ben, 'home');
});
