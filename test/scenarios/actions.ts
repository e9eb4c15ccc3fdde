import { expect } from 'vitest';
import { ask, empty } from './request.ts';
import { BEN, type Stage, textOf } from './stage.ts';

/** Sets the clock to a time (UTC) on the day of the test, or on another day. */
export function goTo(stage: Stage, hour: string, day = '2026-11-20'): void {
  stage.clock.now = new Date(`${day}T${hour}:00.000Z`);
  stage.wake();
}

/** Requests a change with this command line and approves it as Ben. */
export async function approved(stage: Stage, line: string): Promise<string> {
  const card = await ask(stage, undefined, line);
  await stage.press(BEN, card, 'change.approve');
  return card?.ts ?? '';
}

/** The text of the thread below a card. */
export function threadOf(stage: Stage, ts: string): string {
  const below = stage.slack.messages('db-approvals').filter(({ threadTs }) => threadTs === ts);
  return below.map(textOf).join('\n');
}

/** Waits until the card with this title contains these words. */
export async function saysCard(stage: Stage, title: string, words: string): Promise<void> {
  const text = async () => textOf((await stage.card(title)) ?? empty);
  await expect.poll(text).toContain(words);
}

/** The id of the change that the card shows. */
export function idOf(card: { readonly text: string } | undefined): string {
  return / · ([0-9A-Z]{6})$/m.exec(card?.text ?? '')?.[1] ?? 'no id';
}

/** Waits until no request has been sent to Slack or the cloud for 150 ms. */
export async function settled(stage: Stage): Promise<void> {
  let before = -1;
  await expect
    .poll(
      () => {
        const count = stage.slack.calls().length + stage.cloud.requests().length;
        const isQuiet = count === before;
        before = count;
        return isQuiet;
      },
      { interval: 150 },
    )
    .toBe(true);
}
