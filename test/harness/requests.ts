import { expect } from 'vitest';
import { buttonsOf, isCard, textOf } from './messages.ts';
import { asTimePasses, quietness, type Watched } from './passing-time.ts';
import type { People } from './people.ts';
import type { TestSandbox } from './test-sandbox.ts';
import { ANA, BEN } from './users.ts';

export const STAGING = '1525c708-e4bc-426d-a9e7-d11b6c27caf5';
export const ANALYTICS = '2f7c9d34-5f0e-4f0a-8f58-0f6f0b1c2d3e';
export const NO_MESSAGE = { text: '', blocks: [] };

type Requesting = Pick<TestSandbox, 'slack'> & People;

/** The words of the card of a waiting change with this title: `Stop staging`. */
export function requested(title: string): string {
  return `requests: ${title.charAt(0).toLowerCase()}${title.slice(1)}`;
}

/** The subject of the card of an accepted change with this title: `Stop staging` → `staging`. */
export function subjectOf(title: string): string {
  const [, verb = '', object = ''] = /^(\w+) (.*)$/.exec(title) ?? [];
  const hasNoun = verb === 'Create' || verb === 'Edit';
  return hasNoun ? `${object.charAt(0).toUpperCase()}${object.slice(1)}` : object;
}

const PROGRESS: Readonly<Record<string, string>> = {
  Stop: 'is stopping',
  Start: 'is starting',
  Scale: 'is scaling',
  Create: 'is being created',
  Edit: 'was edited',
};

/** The words of the card of an accepted change with this title: `Stop staging` → `staging is stopping`. */
export function accepted(title: string): string {
  return `${subjectOf(title)} ${PROGRESS[title.split(' ')[0] ?? '']}`;
}

/** Requests and confirms a change of a service, which needs approvals, and returns its card. */
export async function requestChange(
  sandbox: Requesting,
  as = ANA,
  line = '/service stop staging for the night',
) {
  const [, verb = '', name = ''] = /^\/service (\w+) (\S+)/.exec(line) ?? [];
  await sandbox.slack.command(as, 'ops', line);
  const preview = await sandbox.privateMessage(as, `${name}?`);
  await sandbox.press(as, preview, 'change.confirm');
  const title = `${verb[0]?.toUpperCase()}${verb.slice(1)} ${name}`;
  const card = await sandbox.card(requested(title));
  if (!card) throw new Error(`There is no card of ${title}`);
  // It is answered after the card stands; a later request must not find it.
  await expect.poll(() => isShown(sandbox, as, preview)).toBe(false);
  return card;
}

function isShown(sandbox: Requesting, as: string, preview: { readonly ts: string } | undefined) {
  const { messages } = sandbox.slack.clientState(as);
  const shown = messages.find(({ ts }) => ts === preview?.ts);
  return shown !== undefined && buttonsOf(shown).includes('change.confirm');
}

/** Requests a change with this command line and approves it as Ben. */
export async function requestAndApprove(sandbox: TestSandbox, line: string): Promise<string> {
  const card = await requestChange(sandbox, ANA, line);
  await sandbox.press(BEN, card, 'change.approve');
  return card.ts;
}

/** Sets the clock to a time (UTC) on the day of the test, or on another day. */
export function setTime(sandbox: TestSandbox, hour: string, day = '2026-11-20'): void {
  sandbox.clock.now = new Date(`${day}T${hour}:00.000Z`);
  sandbox.wake();
}

/** The text of the thread below a card. */
export function threadText(sandbox: TestSandbox, ts: string): string {
  const below = sandbox.slack.messages('db-approvals').filter(({ threadTs }) => threadTs === ts);
  return below.map(textOf).join('\n');
}

/** Waits until the card with this title contains these words. */
export async function expectCardText(sandbox: TestSandbox, title: string, words: string) {
  const text = async () => textOf(await sandbox.card(title));
  await expect.poll(text).toContain(words);
}

/** The id of the change that the card shows. */
export function changeIdOf(card: { readonly text: string } | undefined): string {
  return / · ([0-9A-Z]{6})(?: ·|$)/m.exec(card?.text ?? '')?.[1] ?? 'no id';
}

/** Waits until the bot has sent no request for a moment. */
export async function waitUntilIdle(sandbox: Watched): Promise<void> {
  await expect.poll(quietness(sandbox), { interval: 50 }).toBe(true);
}

/** Waits for a card with these words, while the clock moves past the pauses between retries. */
export async function cardAfterRetries(sandbox: TestSandbox, words: string) {
  const texts = () => sandbox.slack.messages('db-approvals').filter(isCard).map(textOf);
  const later = asTimePasses(sandbox, 11_000, texts);
  await expect.poll(later).toContainEqual(expect.stringContaining(words));
  return sandbox.card(words);
}
