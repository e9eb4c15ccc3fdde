import { expect, test } from 'vitest';
import { rebuildAll } from '../../src/workflow/index.ts';
import { withLog } from '../harness/read-log.ts';
import { requestChange, setTime, waitUntilIdle } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, GUS } from '../harness/users.ts';
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

/** One step of these. */
const together = (...steps: readonly Step[]): Step => {
  return async (sandbox) => {
    for (const step of steps) await step(sandbox);
  };
};

/** The steps of people and of the clock, and what the last card says. */
const SCENARIOS: Readonly<Record<string, readonly Step[]>> = {
  'a change with two approvals across restarts': [
    request('/service scale analytics-prod max=128 month end'),
    restart,
    approve(BEN),
    restart,
    together(approve(GUS), shown('analytics-prod is scaling')),
    restart,
  ],
  'a timed change that is undone later': [
    request('/service stop staging in=2h for=2h cleaning'),
    together(approve(BEN), shown('Stop staging: approved')),
    together(at('14:05'), STOPPED, shown('Start staging: planned')),
    together(at('16:10'), shown('staging is starting')),
  ],
  'an unknown outcome and a request that expires': [
    together(fault('reset-after-effect'), request()),
    request('/service stop analytics-dev for the night'),
    together(approve(BEN, 'requests: stop staging'), shown('outcome unknown')),
    at('15:00'),
    together(at('13:00', '2026-11-21'), shown('Stop analytics-dev: expired')),
  ],
  'a freeze that ends': [
    request(),
    ask(ANA, '/change freeze tag=staging until=2h all hands', 'Freeze everything tagged staging?'),
    together(
      approve(BEN, 'requests: freeze everything tagged staging'),
      shown('everything tagged staging is frozen'),
    ),
    at('14:30'),
    together(approve(BEN, 'requests: stop staging'), STOPPED),
  ],
  'two changes of two services, and a cancelled one': [
    request(),
    request('/service stop analytics-dev for the night'),
    request('/service stop ml-features for the night'),
    together(
      pressed(ANA, 'requests: stop ml-features', 'change.cancel'),
      shown('Stop ml-features: cancelled'),
    ),
    together(approve(BEN, 'requests: stop staging'), STOPPED),
    together(approve(BEN, 'requests: stop analytics-dev'), shown('analytics-dev is stopping')),
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

async function play(databaseUrl: string, steps: readonly Step[], between?: () => Promise<void>) {
  const sandbox = await startTestSandbox({ databaseUrl });
  for (const step of steps) {
    await step(sandbox);
    await waitUntilIdle(sandbox);
    if (!between) continue;
    await between();
    sandbox.wake();
    await waitUntilIdle(sandbox);
  }
  return seen(sandbox);
}

/** What writes all views, and most jobs, is rebuilt on both engines. */
const ON_BOTH = [
  'a timed change that is undone later',
  'two changes of two services, and a cancelled one',
];

test.for(Object.entries(SCENARIOS))(
  'without views and jobs between any two steps nothing changes: %s',
  async ([name, steps]) => {
    const plain = await play(await emptyUrl('sqlite'), steps);
    expect(plain.messages.length).toBeGreaterThan(0);
    for (const engine of ENGINES) {
      if (engine !== 'sqlite' && !ON_BOTH.includes(name)) continue;
      const url = await emptyUrl(engine);
      const rebuilt = await play(url, steps, () => withLog(url, rebuildAll));
      expect(rebuilt, engine).toEqual(plain);
    }
  },
);
