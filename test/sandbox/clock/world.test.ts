import { expect, test } from 'vitest';
import { startSandbox } from '../../../sandbox/start.ts';
import { peopleOn } from '../../harness/people.ts';
import { BOT } from '../../harness/programs.ts';
import { SLACK_TIMEOUT_MS } from '../../harness/simulators.ts';
import { ANA, BEN } from '../../harness/users.ts';

const HOUR_MS = 3_600_000;

test('moved time lets a request expire and a revert run, in the real bot', async ({
  onTestFinished,
}) => {
  const sandbox = await startSandbox({
    port: 0,
    delivery: 'http',
    program: BOT,
    slackTimeoutMs: SLACK_TIMEOUT_MS,
  });
  onTestFinished(sandbox.stop);
  const { slack, cloud, clock, mover } = sandbox;
  const { card, press, privateMessage } = peopleOn(slack);
  const request = async (line: string, title: string) => {
    await slack.command(ANA, 'ops', line);
    await press(ANA, await privateMessage(ANA, `${title}?`), 'change.confirm');
    return card(`requests: ${title.toLowerCase()}`);
  };
  await request('/service stop analytics-prod nightly maintenance', 'Stop analytics-prod');
  const staging = await request('/service stop staging for=1h "a short pause"', 'Stop staging');
  await press(BEN, staging, 'change.approve');
  await expect.poll(() => cloud.effectCount('set state')).toBe(1);

  const before = clock.now().getTime();
  await mover.walkTo(new Date(before + 5 * HOUR_MS));
  expect(clock.now().getTime() - before).toBeGreaterThanOrEqual(5 * HOUR_MS);
  await card('Stop analytics-prod: expired');
  await expect.poll(() => cloud.effectCount('set state')).toBe(2);
  expect(cloud.effects().map(({ body }) => body)).toEqual([
    { command: 'stop' },
    { command: 'start' },
  ]);
  const [stopped, started] = cloud.effects().map(({ at }) => Date.parse(at));
  // The revert runs at the first step of the clock after its time.
  expect(((started ?? 0) - (stopped ?? 0)) / HOUR_MS).toBeCloseTo(1.25, 0);
});
