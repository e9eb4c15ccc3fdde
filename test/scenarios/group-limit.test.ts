import { expect, test } from 'vitest';
import { requestChange, waitUntilIdle } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { BEN } from '../harness/users.ts';

const STEP_MS = 1_000;
const EVERY_STEPS = 6;
const ANSWER_MS = 100;
const CHANGES = 7;
/** What is not sent by then waits for the clock of the sandbox, also on a slow machine. */
const REAL_WAIT_MS = 10_000;

/** A sandbox with Slack's limit of twenty group reads a minute, in which each wait of the bot moves the clock. */
function startLimited() {
  return startTestSandbox({ rateLimits: 'hard', waitsPass: true });
}

function groupReads({ slack }: TestSandbox): number {
  return slack.calls('usergroups.list').length;
}

/** Lets a second pass, and waits for what is due then, for example a message that Slack refused before. */
async function passSecond(sandbox: TestSandbox): Promise<void> {
  sandbox.pass(STEP_MS);
  await waitUntilIdle(sandbox);
}

/** Requests and approves a change. Returns the milliseconds from the press of Approve to the request. */
async function pressToWire(sandbox: TestSandbox, reason: string): Promise<number> {
  const line = `/service scale staging min=16 max=64 "for ${reason}"`;
  const card = await requestChange(sandbox, undefined, line);
  await passSecond(sandbox);
  const [pressedAt, reads] = [sandbox.clock.now.getTime(), groupReads(sandbox)];
  const sent = () => sandbox.cloud.requests().filter(({ method }) => method === 'PATCH');
  const before = sent().length;
  await sandbox.press(BEN, card, 'change.approve');
  const isSent = () => sent().length > before;
  const inTime = { interval: 5, timeout: REAL_WAIT_MS };
  for (let second = 0; !isSent() && second < 60; second += 1) {
    const late = () => passSecond(sandbox);
    await expect.poll(isSent, inTime).toBe(true).catch(late);
  }
  const waited = Date.parse(sent().at(-1)?.at ?? '') - pressedAt;
  const answers = (groupReads(sandbox) - reads) * ANSWER_MS;
  return waited + answers;
}

test('of seven changes, one every six seconds, each is sent within a second of its approval', async () => {
  const sandbox = await startLimited();
  const took: number[] = [];
  for (let change = 0; change < CHANGES; change += 1) {
    const startedAt = sandbox.clock.now.getTime();
    took.push(await pressToWire(sandbox, `load test ${change}`));
    while (sandbox.clock.now.getTime() < startedAt + EVERY_STEPS * STEP_MS) {
      await passSecond(sandbox);
    }
  }
  expect(Math.max(...took), `${took} ms`).toBeLessThanOrEqual(1_000);
  expect(sandbox.slack.calls('usergroups.list').filter(({ status }) => status === 429)).toEqual([]);
});
