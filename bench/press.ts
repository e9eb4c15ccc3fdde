import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import { hasButton, isCard, placeOf } from '../test/harness/messages.ts';
import { startSimulators } from '../test/harness/simulators.ts';
import { ANA, BEN } from '../test/harness/users.ts';
import { median } from './figures.ts';
import { startSide } from './side.ts';

/** Another address of this machine, at which every answer of Slack takes longer. */
const FAR = '127.0.0.2';
const SLACK_MS = 100;
/** The cloud accepts ten requests in ten seconds. */
const APART_MS = 1_500;
const WITHIN_MS = 60_000;
const AIM_MS = 400;

/** From the press of the last Approve to the request at the cloud, in a process of its own. Returns whether the aim is met. */
export async function press(folder: string, changes = 20): Promise<boolean> {
  const { slack, cloud, env, deliverTo, stop } = await startSimulators({ slack: { host: FAR } });
  const far = createServer((near) => {
    const server = connect(Number(new URL(slack.url).port), '127.0.0.1');
    near.pipe(server);
    server.on('data', (part) => void wait(SLACK_MS).then(() => near.write(part)));
    for (const [one, other] of [
      [near, server],
      [server, near],
    ] as const) {
      one.on('error', () => one.destroy());
      one.on('close', () => other.destroy());
    }
  }).listen(Number(new URL(slack.url).port), FAR);
  await once(far, 'listening');
  const bot = await startSide('signalbox', { env, folder, profile: null });
  deliverTo({ url: bot.origin });
  const cards = () => slack.messages('db-approvals').filter(isCard);
  const writes = () => cloud.requests().filter(({ method }) => method !== 'GET').length;
  const took: number[] = [];
  for (let sent = 0; sent < changes; sent += 1) {
    await slack.command(ANA, 'ops', `/service scale staging max=${sent % 2 ? 64 : 48} "a figure"`);
    const mine = () => slack.clientState(ANA).messages;
    const preview = await until(() => mine().findLast((each) => hasButton(each, 'change.confirm')));
    await slack.click(ANA, placeOf(preview), 'change.confirm');
    const card = await until(() => cards().findLast((each) => hasButton(each, 'change.approve')));
    // What the confirmation leaves to do is done.
    await wait(APART_MS);
    const before = performance.now();
    const pressed = slack.click(BEN, placeOf(card), 'change.approve');
    await until(() => writes() > sent || undefined);
    took.push(performance.now() - before);
    await pressed;
    await until(() => (hasButton(card, 'change.approve') ? undefined : true));
    await wait(APART_MS);
  }
  await bot.stop();
  far.close();
  await stop();
  const middle = median(took);
  process.stdout.write(
    `${changes} presses of the last Approve, Slack answers in ${SLACK_MS} ms: the request is at the cloud after ` +
      `${Math.round(middle)} ms at the median (${Math.round(Math.min(...took))} to ${Math.round(Math.max(...took))}; aim ≤ ${AIM_MS})\n`,
  );
  return middle <= AIM_MS;
}

async function until<T>(look: () => T | undefined): Promise<T> {
  for (const last = performance.now() + WITHIN_MS; performance.now() < last; await turn()) {
    const value = look();
    if (value !== undefined) return value;
  }
  throw new Error(`Not within ${WITHIN_MS / 1_000} s: ${look}`);
}
