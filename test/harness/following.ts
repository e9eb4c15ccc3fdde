import { expect } from 'vitest';
import { textOf } from './messages.ts';
import { timeInSteps } from './passing-time.ts';
import { accepted, NO_MESSAGE, requested } from './requests.ts';
import { startTestSandbox, type TestSandbox, type TestSandboxOptions } from './test-sandbox.ts';
import { ANA, BEN } from './users.ts';

type Yaml = Record<string, never>;
const EXTENDED = (file: Yaml) => ({ ...file, cloud: { reads: 'extended' } });
export const STOP = '/service stop staging for the night';
export const START = '/service start archive "for the audit"';
export const SCALE = '/service scale staging min=16 max=64 "night saving"';
export const CREATE =
  '/service create "analytics new" provider=aws region=eu-west-1 ip=10.0.0.0/8 min=16 max=32 "a market"';
export const ENDPOINT =
  '/endpoint create staging type=VPC_ENDPOINT_SERVICE service-name=vpce-svc-0a1b2c3d description=orders "feed"';

/** The sandbox with `cloud.reads: extended`. */
export const startExtended = (options: TestSandboxOptions = {}) =>
  startTestSandbox({ yaml: EXTENDED, ...options });

/** Lets the time pass in steps until a card with this title has these words; returns its text. */
export async function passUntil(
  sandbox: TestSandbox,
  title: string,
  words: string,
  stepMs = 5_000,
) {
  const card = () =>
    sandbox.slack
      .messages('db-approvals')
      .findLast(({ threadTs, text }) => !threadTs && text.includes(title));
  // A slow machine must miss no state.
  const pass = timeInSteps(sandbox, stepMs);
  await expect
    .poll(() => {
      pass();
      return textOf(card() ?? NO_MESSAGE);
    })
    .toContain(words);
  return card() ?? { ...NO_MESSAGE, channel: '', ts: '' };
}

/** Requests and approves a change with this preview title, and waits until it was sent. */
export async function approve(
  sandbox: TestSandbox,
  line: string,
  title: string,
  outcome: 'accepted' | 'outcome unknown' = 'accepted',
): Promise<void> {
  await sandbox.slack.command(ANA, 'ops', line);
  await sandbox.press(ANA, await sandbox.privateMessage(ANA, `${title}?`), 'change.confirm');
  const card = await sandbox.card(requested(title));
  // The usage report and the reads of the start have used the budget of requests.
  sandbox.clock.now = new Date(sandbox.clock.now.getTime() + 11_000);
  await sandbox.press(BEN, card, 'change.approve');
  const sent = outcome === 'accepted' ? accepted(title) : `${title}: ${outcome}`;
  // A target that the server does not let it read yet is read again after some seconds.
  await passUntil(sandbox, sent, sent, 1_000);
}
