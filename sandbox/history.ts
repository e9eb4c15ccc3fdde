import { setTimeout as wait } from 'node:timers/promises';
import type { ClockMover } from './clock/clock-mover.ts';
import { lastMorning } from './clock/moves.ts';
import type { CloudSimulator } from './cloud/simulator.ts';
import { elementsIn } from './slack/input-state.ts';
import type { StoredMessage } from './slack/records.ts';
import type { SlackSimulator } from './slack/simulator.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** 17:30 of the day before. */
const AFTERNOON_BEFORE_MORNING_MS = 15.5 * HOUR_MS;
// Costs count as settled when two days have not changed them. The digest of the next morning then
// has a further settled day and does not wait for one.
const DAYS_OF_COSTS = 3;
// On a machine so slow, a sandbox without a history is better than none.
const WITHIN_MS = 180_000;

const [FINN, GUS] = ['U0FINN0001', 'U0GUS00001'];
const lineFor = (service: string) => `/service scale ${service} max=64 longer builds`;

interface HistoryOptions {
  readonly slack: SlackSimulator;
  readonly cloud: CloudSimulator;
  readonly mover: ClockMover;
  /** The time at which the sandbox was started. */
  readonly startedAt: Date;
  /** The service of the change, as people name it. */
  readonly service: string;
  /** The time at which the history ends, when all of it has happened. */
  readonly ends: () => Date;
}

/** The time at which the history begins: in an afternoon, some days before the last morning. */
export function historyBegin(startedAt: Date): Date {
  return new Date(lastAfternoon(startedAt) - DAYS_OF_COSTS * DAY_MS);
}

function lastAfternoon(startedAt: Date): number {
  return lastMorning(startedAt).getTime() - AFTERNOON_BEFORE_MORNING_MS;
}

/** One finished change of yesterday and the digest of this morning, made by the real bot. */
export async function playHistory({
  slack,
  cloud,
  service,
  mover,
  startedAt,
  ends,
}: HistoryOptions) {
  const until = patience();
  const morning = lastMorning(startedAt);
  const afternoon = lastAfternoon(startedAt);
  for (let daysAgo = DAYS_OF_COSTS - 1; daysAgo >= 0; daysAgo -= 1) {
    await mover.jumpTo(new Date(afternoon - daysAgo * DAY_MS));
  }
  await finishChange({ slack, cloud, service, until });
  // What follows the change happens soon after it, and not when the clock is moved to the morning.
  for (const minutes of [1, 2, 5]) await mover.jumpTo(new Date(afternoon + minutes * MINUTE_MS));
  await mover.jumpTo(morning);
  await until(() => slack.messages('db-costs').length > 0);
  await mover.jumpTo(new Date(Math.max(morning.getTime(), ends().getTime())));
  // The digest stays unread, so that its channel is bold.
  for (const channel of ['ops', 'db-approvals', 'db-audit']) {
    for (const { id } of slack.workspace.members) slack.markRead(id, channel);
  }
}

async function finishChange({ slack, cloud, service, until }: Play): Promise<void> {
  // On a loaded machine, the bot may not answer within the 3 s of Slack.
  await until(async () => (await slack.command(FINN, 'ops', lineFor(service))).error === null);
  await pressWhenShown({ slack, until }, FINN, 'ops', 'change.confirm');
  await pressWhenShown({ slack, until }, GUS, 'db-approvals', 'change.approve');
  await until(() => cloud.effectCount('scale') > 0);
  await until(() => messageWith(slack, 'db-approvals', 'change.approve', GUS) === undefined);
}

async function pressWhenShown(
  { slack, until }: Pick<Play, 'slack' | 'until'>,
  as: string,
  channel: string,
  actionId: string,
): Promise<void> {
  // Who opens the page early may have a preview there too.
  const shown = () => messageWith(slack, channel, actionId, as);
  await until(() => shown() !== undefined);
  const message = shown();
  if (message === undefined) return;
  const place = { in: 'message', channel: message.channel, ts: message.ts } as const;
  await slack.click(as, place, actionId);
}

function messageWith(
  slack: SlackSimulator,
  channel: string,
  actionId: string,
  as: string,
): StoredMessage | undefined {
  return slack
    .messages(channel)
    .find(
      ({ blocks, ephemeralFor }) =>
        (ephemeralFor ?? as) === as &&
        elementsIn(blocks).some(({ element }) => element.action_id === actionId),
    );
}

interface Play extends Pick<HistoryOptions, 'slack' | 'cloud' | 'service'> {
  /** Waits until this is so, or until the time for the whole history is over. */
  readonly until: (isReached: () => boolean | Promise<boolean>) => Promise<void>;
}

function patience(): Play['until'] {
  const end = performance.now() + WITHIN_MS;
  return async (isReached) => {
    while (!(await isReached()) && performance.now() < end) await wait(20);
  };
}
