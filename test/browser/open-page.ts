import { mkdirSync } from 'node:fs';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Locator,
  type Page,
} from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { sandboxWorkspace } from '../../sandbox/slack/workspace/sandbox-workspace.ts';
import { type SandboxOptions, startSandbox } from '../../sandbox/start.ts';
import { peopleOn } from '../harness/people.ts';
import { BOT } from '../harness/programs.ts';
import { requested } from '../harness/requests.ts';
import { SLACK_TIMEOUT_MS } from '../harness/simulators.ts';
import { ANA } from '../harness/users.ts';
import { CHROMIUM, FLAGS } from './chromium.ts';

export const OPS = 'C0OPS000001';
export const APPROVALS = 'C0APPROVALS';
export const COSTS = 'C0DBCOSTS01';

/** As long as a poll of these tests: 30 s, the default of Playwright, are few on a loaded machine. */
const PAGE_TIMEOUT_MS = 120_000;

export let sandbox: Awaited<ReturnType<typeof startSandbox>>;

let browser: Browser;
let context: BrowserContext;

/** Starts a sandbox for the tests of this file, and connects to the browser. */
export function startBeforeAll(options: Pick<SandboxOptions, 'priced' | 'history'> = {}): void {
  beforeAll(async () => {
    sandbox = await startSandbox({
      port: 0,
      delivery: 'http',
      program: BOT,
      slackTimeoutMs: SLACK_TIMEOUT_MS,
      ...options,
    });
    browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
    context = await browser.newContext();
    context.setDefaultTimeout(PAGE_TIMEOUT_MS);
    // The process of this page stays, so that Chromium compiles the script of the pages once.
    await context.newPage().then((page) => page.goto(`${sandbox.url}/sandbox/clock`));
  });
  afterAll(async () => {
    await browser?.close();
    await sandbox?.stop();
  });
}

/** Opens the page of the sandbox as this user, in this channel, without the guide. */
export async function openAs(person: string, channel: string, height = 800): Promise<Page> {
  const page = await context.newPage();
  onTestFinished(() => page.close());
  await page.setViewportSize({ width: 1280, height });
  await page.addInitScript("localStorage.setItem('signalbox.guide', 'closed')");
  await page.goto(`${sandbox.url}/?as=${person}&channel=${channel}`);
  return page;
}

/** Shows the page as another user, by a link: this takes a quarter of the time of a second page. */
export async function goAs(page: Page, person: string, channel: string): Promise<void> {
  const link = `?as=${person}&channel=${channel}`;
  const follow = "dispatchEvent(new PopStateEvent('popstate'))";
  await page.evaluate(`history.pushState(null, '', '${link}'); ${follow}`);
  const { realName } = sandboxWorkspace.members.find(({ id }) => id === person) ?? expect.fail();
  await page.getByRole('button', { name: `Act as: ${realName}` }).waitFor();
}

/** A page in a browser that has never seen the sandbox; it is closed after the test. */
export async function newPage(options: BrowserContextOptions = {}): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, ...options });
  page.setDefaultTimeout(PAGE_TIMEOUT_MS);
  // Every open page reads the state again after each change.
  onTestFinished(() => page.close());
  return page;
}

/**
 * Takes screenshots for a person to review, if PICTURES names a folder. `top`: what is at the upper end
 * of the picture.
 */
export async function picture(page: Page, name: string, top?: Locator): Promise<void> {
  const folder = process.env.PICTURES;
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  await scrollTo(top);
  await page.screenshot({ path: `${folder}/${name}.png` });
  await page.setViewportSize({ width: 390, height: 844 });
  await scrollTo(top);
  await page.screenshot({ path: `${folder}/${name}-phone.png` });
  await page.setViewportSize({ width: 1280, height: 800 });
}

async function scrollTo(top: Locator | undefined): Promise<void> {
  await top?.evaluate((element) => element.scrollIntoView({ block: 'start' }));
}

/** The accessible name of the focused element, as far as the page sets it. */
export const FOCUSED = `(() => {
  const { tagName, ariaLabel, innerText, placeholder, title } = document.activeElement;
  if (tagName === 'BODY') return '';
  return (ariaLabel || innerText || placeholder || title).replaceAll(/\\s+/g, ' ').trim();
})()`;

/** Types a message or a command and sends it. */
export async function say(page: Page, text: string): Promise<void> {
  const box = page.getByRole('textbox').first();
  await box.fill(text);
  await box.press('Enter');
}

/** Ana requests this change without the page, which takes a tenth of the time. `title`: of its preview. */
export async function anaRequests(line: string, title: string): Promise<void> {
  const people = peopleOn(sandbox.slack);
  await people.confirm(ANA, line, `${title}?`);
  await people.card(requested(title));
}
