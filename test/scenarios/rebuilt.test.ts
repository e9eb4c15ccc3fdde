import { expect, test } from 'vitest';
import { rebuildAll } from '../../src/workflow/index.ts';
import { withLog } from '../harness/read-log.ts';
import { requestChange, setTime, waitUntilIdle } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, CLEO, GUS } from '../harness/users.ts';
import { ENGINES, emptyUrl } from '../storage/engines.ts';

type Step = (sandbox: TestSandbox) => Promise<unknown>;

const request =
  (line?: string): Step =>
  (sandbox) =>
    requestChange(sandbox, ANA, line);
const pressed = (as: string, words: string, id: string): Step => {
  return async (sandbox) => sandbox.press(as, await sandbox.card(words), id);
};
const approve = (as: string, words = 'requests: '): Step => pressed(as, words, 'change.approve');
const shown =
  (words: string): Step =>
  (sandbox) =>
    sandbox.card(words);
const at =
  (hour: string, day?: string): Step =>
  async (sandbox) =>
    setTime(sandbox, hour, day);
const restart: Step = (sandbox) => sandbox.restart();
const fault = (name: 'reset-after-effect'): Step => {
  return async ({ cloud }) => cloud.injectFault({ operation: 'set state', fault: name, times: 1 });
};
const ask = (as: string, line: string, preview: string): Step => {
  return async (sandbox) => {
    await sandbox.confirm(as, line, preview);
  };
};

const STOPPED = shown('staging is stopping');

/** The steps of people and of the clock, and what the last card says. */
const SCENARIOS: Readonly<Record<string, readonly Step[]>> = {
  'a stop that is approved': [request(), approve(BEN), STOPPED],
  'a cancelled request': [
    request(),
    pressed(ANA, 'requests: ', 'change.cancel'),
    shown('Stop staging: cancelled'),
  ],
  'a request that expires': [request(), at('13:00', '2026-11-21'), shown('Stop staging: expired')],
  'a change with two approvals': [
    request('/service scale analytics-prod max=128 month end'),
    approve(BEN),
    approve(GUS),
    shown('analytics-prod is scaling'),
  ],
  'a timed change': [
    request('/service stop staging in=2h for the night'),
    approve(BEN),
    shown('Stop staging: approved'),
    at('14:05'),
    STOPPED,
  ],
  'a temporary change': [
    request('/service stop staging for=2h cleaning'),
    approve(BEN),
    STOPPED,
    shown('Start staging: planned'),
    at('14:05'),
    shown('staging is starting'),
  ],
  'an unknown outcome': [
    fault('reset-after-effect'),
    request(),
    approve(BEN),
    shown('outcome unknown'),
    at('15:00'),
  ],
  'a change across a restart': [request(), restart, approve(CLEO), STOPPED, restart],
  'a freeze that ends': [
    request(),
    ask(ANA, '/change freeze tag=staging until=2h all hands', 'Freeze everything tagged staging?'),
    approve(BEN, 'requests: freeze everything tagged staging'),
    shown('everything tagged staging is frozen'),
    at('14:30'),
    approve(BEN, 'requests: stop staging'),
    STOPPED,
  ],
  'two changes of two services': [
    request(),
    request('/service stop analytics-dev for the night'),
    approve(BEN, 'requests: stop staging'),
    approve(BEN, 'requests: stop analytics-dev'),
    STOPPED,
    shown('analytics-dev is stopping'),
  ],
};

/** What people and the server have seen in the end, without ids and times. */
function seen({ slack, cloud }: TestSandbox) {
  const channels = ['db-approvals', 'db-audit', 'ops'];
  const all = channels.flatMap((channel) => slack.messages(channel));
  const firstLine = ({ text }: { readonly text: string }) =>
    (text.split('\n')[0] ?? '')
      .replaceAll(/\b[0-9A-Z]{6}\b/g, 'ID')
      .replaceAll(/<!date[^>]*>|https?:\S+/g, '…');
  const requests = cloud.requests().map(({ operation, body }) => [operation, body] as const);
  return {
    sent: requests.filter(([, body]) => body !== null),
    // Reads in the background have no order.
    read: requests.flatMap(([operation, body]) => (body === null ? [operation] : [])).toSorted(),
    messages: all
      .filter(({ ephemeralFor }) => !ephemeralFor)
      .map(firstLine)
      .toSorted(),
  };
}

async function play(databaseUrl: string, steps: readonly Step[], between: () => Promise<void>) {
  const sandbox = await startTestSandbox({ databaseUrl });
  for (const step of steps) {
    await step(sandbox);
    await waitUntilIdle(sandbox);
    await between();
    sandbox.wake();
    await waitUntilIdle(sandbox);
  }
  return seen(sandbox);
}

/** What writes all views, and most jobs, is rebuilt on both engines. */
const ON_BOTH = ['a timed change', 'two changes of two services'];

const CASES = Object.entries(SCENARIOS).flatMap(([name, steps]) =>
  ENGINES.filter((engine) => engine === 'sqlite' || ON_BOTH.includes(name)).map(
    (engine) => [name, engine, steps] as const,
  ),
);

test.for(CASES)(
  'without views and jobs between any two steps nothing changes: %s (%s)',
  async ([, engine, steps]) => {
    const plain = await play(await emptyUrl(engine), steps, async () => undefined);
    const url = await emptyUrl(engine);
    const rebuilt = await play(url, steps, () => withLog(url, rebuildAll));
    expect(plain.messages.length).toBeGreaterThan(0);
    expect(rebuilt).toEqual(plain);
  },
);
