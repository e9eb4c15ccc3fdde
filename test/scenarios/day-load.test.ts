import { expect, test } from 'vitest';
import { sandboxWorkspace } from '../../sandbox/slack/workspace/sandbox-workspace.ts';
import { userIds, workspaceWith } from '../harness/generated-users.ts';
import { timeInSteps } from '../harness/passing-time.ts';
import { requestChange } from '../harness/requests.ts';
import { copiesOfStaging, organizationWith } from '../harness/services.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';

/** `CHAOS=long` plays the whole day; by default only its first twelve minutes, the densest ones. */
const MINUTES = process.env.CHAOS === 'long' ? 8 * 60 : 12;
const COMMANDS = 300;
const CHANGES = 60;
const DIGESTS = 10;
const LOOK_EVERY_MS = 20;
const STARTS_AT = Date.parse('2026-11-23T09:00:00.000Z');

const VIEWERS = userIds('VIEW', 30);
const OPERATORS = userIds('OPER', 12);
const APPROVERS = userIds('APPR', 8);
const EVERYONE = [...VIEWERS, ...OPERATORS, ...APPROVERS];
const SERVICES = copiesOfStaging(CHANGES);
const [FIRST_CHANNEL] = sandboxWorkspace.channels;
const TEAMS = Array.from({ length: DIGESTS }, (_, index) => ({
  ...(FIRST_CHANNEL ?? expect.fail('there is no channel')),
  id: `C0TEAM${String(index).padStart(5, '0')}`,
  name: `team-${index}`,
  members: [sandboxWorkspace.botUserId],
}));
const QUERIES = ['/service list', '/cost 7d', '/change list', '/service show shard-1', '/cost mtd'];

interface Step {
  readonly kind: 'change' | 'decision' | 'query';
  /** Minutes after 09:00. */
  readonly minute: number;
  readonly play: (sandbox: TestSandbox) => Promise<unknown>;
}

/** Half of them in the first hour, the others over the rest of the eight hours. */
function minuteOf(index: number, count: number): number {
  const half = count / 2;
  return index < half ? (60 / half) * index : 60 + (420 / half) * (index - half);
}

function nth(people: readonly string[], index: number): string {
  return people[index % people.length] ?? expect.fail('there are no people');
}

/** A request with its two decisions, 20 s and 40 s later. */
function changeSteps(index: number): readonly Step[] {
  const minute = minuteOf(index, CHANGES);
  const title = `stop shard-${index + 1} `;
  const approve = (after: number, approver: number): Step => ({
    kind: 'decision',
    minute: minute + after / 60,
    play: async ({ card, press }) =>
      press(nth(APPROVERS, approver), await card(title), 'change.approve'),
  });
  const request: Step = {
    kind: 'change',
    minute,
    play: (sandbox) =>
      requestChange(
        sandbox,
        nth(OPERATORS, index),
        `/service stop shard-${index + 1} saves the night`,
      ),
  };
  return [request, approve(20, index), approve(40, index + 1)];
}

function queryStep(index: number): Step {
  const line = QUERIES[index % QUERIES.length] ?? '/service list';
  const play: Step['play'] = async ({ slack }) => {
    const { error } = await slack.command(nth(EVERYONE, index), 'ops', line);
    expect(error).toBeNull();
  };
  return { kind: 'query', minute: minuteOf(index, COMMANDS) + 0.1, play };
}

function timeline(): readonly Step[] {
  const changes = Array.from({ length: CHANGES }, (_, index) => changeSteps(index));
  const queries = Array.from({ length: COMMANDS }, (_, index) => queryStep(index));
  return [...changes.flat(), ...queries]
    .filter(({ minute }) => minute < MINUTES)
    .toSorted((a, b) => a.minute - b.minute);
}

function workspaceOfTheDay() {
  const workspace = workspaceWith(EVERYONE, {
    engineering: EVERYONE,
    'db-operators': OPERATORS,
    'db-leads': APPROVERS,
  });
  return { ...workspace, channels: [...workspace.channels, ...TEAMS] };
}

function yamlOfTheDay(file: { readonly services?: readonly unknown[] }) {
  const services = SERVICES.map(({ name, id }) => {
    return { name, id, tags: ['prod'], warehouse: 'lab' };
  });
  const digests = TEAMS.map(({ name }) => {
    return { channel: `#${name}`, at: '09:01', timezone: 'UTC', days: 'daily' };
  });
  return { ...file, services: [...(file.services ?? []), ...services], digests };
}

/** Moves the clock by seconds, so that calls that Slack refused are repeated. */
async function whileTimePasses(sandbox: TestSandbox, work: Promise<unknown>): Promise<void> {
  const timer = setInterval(timeInSteps(sandbox, 1_000), LOOK_EVERY_MS);
  await work.finally(() => clearInterval(timer));
}

test("the load of 50 people on one day gets no 429 for a decision under Slack's hard limits", async () => {
  const sandbox = await startTestSandbox({
    workspace: workspaceOfTheDay(),
    organization: organizationWith(SERVICES),
    rateLimits: 'hard',
    yaml: yamlOfTheDay,
  });
  const steps = timeline();
  for (const { minute, play } of steps) {
    const due = STARTS_AT + minute * 60_000;
    sandbox.clock.now = new Date(Math.max(due, sandbox.clock.now.getTime()));
    await whileTimePasses(sandbox, play(sandbox));
  }
  const stops = () => sandbox.cloud.requests().filter(({ operation }) => operation === 'set state');
  const changes = steps.filter(({ kind }) => kind === 'change').length;
  await whileTimePasses(sandbox, expect.poll(() => stops().length).toBe(changes));

  const limited = sandbox.slack.calls().filter(({ status }) => status === 429);
  const methods = limited.map(({ method }) => method);
  if (process.env.CHAOS) process.stdout.write(`limited calls: ${methods.join(', ') || 'none'}\n`);
  // Posting is limited to one message per second and channel; the outbox posts again.
  expect(methods.filter((method) => method !== 'chat.postMessage')).toEqual([]);
  const without = () => TEAMS.filter(({ name }) => sandbox.slack.messages(name).length === 0);
  await whileTimePasses(sandbox, expect.poll(without).toEqual([]));
}, 300_000);
