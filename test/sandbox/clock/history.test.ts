import { expect, test } from 'vitest';
import { CLOUD_KEY, ORGANIZATION } from '../../../sandbox/seed/organization.ts';
import { organizationWorkspace } from '../../../sandbox/slack/workspace/organization.ts';
import { type SandboxOptions, startSandbox } from '../../../sandbox/start.ts';
import { peopleOn } from '../../harness/people.ts';
import { BOT } from '../../harness/programs.ts';
import { SLACK_TIMEOUT_MS } from '../../harness/simulators.ts';
import { DORA } from '../../harness/users.ts';
import { basic, send } from '../servers.ts';

const HOUR_S = 3_600;
const AT = new Date('2026-11-27T16:00:00+01:00');

/** The sandbox with its history, begun at that moment. */
async function begun(options: Partial<SandboxOptions> = {}) {
  const sandbox = await startSandbox({
    ...{ port: 0, delivery: 'http', program: BOT, history: true, at: AT },
    slackTimeoutMs: SLACK_TIMEOUT_MS,
    ...options,
  });
  return { sandbox, ...peopleOn(sandbox.slack) };
}

test('a sandbox begins at a given moment, and nothing that it shows contradicts the simulators', async ({
  onTestFinished,
}) => {
  const { sandbox, privateMessage } = await begun();
  onTestFinished(sandbox.stop);
  const { slack, cloud, alerts, clock } = sandbox;

  const ranMs = clock.now().getTime() - AT.getTime();
  expect(ranMs).toBeGreaterThanOrEqual(0);
  expect(ranMs).toBeLessThan(60_000);
  const all = ['ops', 'db-approvals', 'db-audit', 'db-costs'].flatMap(slack.messages);
  expect(Math.max(...all.map(({ ts }) => Number(ts)))).toBeLessThanOrEqual(
    AT.getTime() / 1_000 + 60,
  );

  // The change of yesterday is over, and the server has what its card says.
  const [card, ...thread] = slack.messages('db-approvals');
  expect(card?.text).toMatch(/^● ci is scaled .*\n.*32 → 64\n/);
  const ci = cloud.services().find(({ name }) => name === 'ci');
  expect(ci?.scaling.maxReplicaMemoryGb).toBe(64);
  const seconds = thread.map(({ ts }) => Number(ts) - Number(card?.ts));
  expect(Math.max(...seconds)).toBeLessThan(HOUR_S / 4);

  // The digest of the morning has the costs of the usage report.
  const report = await send({
    method: 'GET',
    url: `${cloud.url}/v1/organizations/${ORGANIZATION.id}/usageCost?from_date=2026-11-26&to_date=2026-11-26`,
    headers: basic(CLOUD_KEY),
  });
  const figure = /yesterday(?:, Thu 26 Nov)?: (\d+) credits so far/i;
  const digest = slack.messages('db-costs').find(({ text }) => figure.test(text));
  const posted = new Date(Number(digest?.ts) * 1_000).toISOString();
  expect(posted).toMatch('2026-11-27T08:00');
  const told = figure.exec(digest?.text ?? '')?.[1];
  // The day is not final: the server adds a little with each read.
  expect(Number(told) / Number(report.json.result?.grandTotalCredits)).toBeCloseTo(1, 1);

  const rowsOf = async (line: string, words: string) => {
    await slack.command(DORA, 'ops', line);
    return (await privateMessage(DORA, words))?.text.split('\n') ?? [];
  };
  const listed = await rowsOf('/service list', 'analytics-dev');
  for (const { name, state } of cloud.services()) {
    const row = listed.find((each) => each.startsWith(`${name} · `));
    expect(row, name).toContain(`${state} · `);
  }
  const shown = (await rowsOf('/alert list', 'Slow queries')).join('\n');
  const named = alerts.alerts().filter(({ name }) => name && !/[<&]/.test(name));
  expect(named.filter(({ name }) => !shown.includes(`${name} · `))).toEqual([]);

  // A service that was stopped in the console costs nothing from the next day on.
  const stopped = ORGANIZATION.activities.find(({ type }) => type === 'service_stop');
  const pause = cloud.services().find(({ name }) => name === stopped?.service);
  expect(pause?.state).toBe('stopped');
  const days = stopped ? stopped.minutesAgo / (24 * 60) : null;
  const seed = ORGANIZATION.services.find(({ name }) => name === stopped?.service);
  expect(seed?.usage.stoppedDaysAgo).toBe(days);
});

test('with two organizations and two workspaces it begins with the same change', async ({
  onTestFinished,
}) => {
  const { sandbox } = await begun({ organizations: 2, workspace: organizationWorkspace });
  onTestFinished(sandbox.stop);
  const [card] = sandbox.slack.messages('db-approvals');
  expect(card?.text).toMatch(/^● prod-eu\/ci is scaled .*\n.*32 → 64\n/);
  expect(sandbox.cloud.effectCount('scale')).toBe(1);
});
