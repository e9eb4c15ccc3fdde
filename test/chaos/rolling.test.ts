import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import {
  APPROVERS,
  OPERATORS,
  organization,
  SHARDS,
  workspace,
  yaml,
} from '../../bench/soak/organization.ts';
import { ImpossibleInteraction } from '../../sandbox/slack/interactions/actor.ts';
import type { StoredMessage } from '../../sandbox/slack/records.ts';
import { verifyAll } from '../../src/log/upkeep.ts';
import { startProcessSandbox } from '../harness/bot-process.ts';
import { startLoadBalancer } from '../harness/load-balancer.ts';
import { hasButton, isCard } from '../harness/messages.ts';
import { changesIn, withLog } from '../harness/read-log.ts';
import { emptyUrl } from '../storage/engines.ts';

/** Two for each restart: the cloud accepts ten requests in ten seconds from all replicas together. */
const CHANGES = 6;
const PROCESS_LIMITS = { interval: 100 };

test('no press is lost while three replicas restart in turn and 20 users press', async () => {
  const databaseUrl = await emptyUrl('postgres');
  const own = SHARDS.slice(0, CHANGES);
  const sandbox = await startProcessSandbox({
    databaseUrl,
    organization: organization,
    workspace,
    yaml: yaml(),
  });
  const { slack, cloud } = sandbox;
  const replicas = await Promise.all([sandbox.start(), sandbox.start(), sandbox.start()]);
  const balancer = await startLoadBalancer(() => replicas.map(({ url }) => url));
  sandbox.deliverTo({ url: balancer });
  const lost: string[] = [];
  let presses = 0;

  async function press(by: string, { channel, ts }: StoredMessage, id: string): Promise<void> {
    try {
      const { error, status } = await slack.click(by, { in: 'message', channel, ts }, id);
      presses += 1;
      if (error) lost.push(`${id} of ${by}: ${error} (${status})`);
    } catch (thrown) {
      // Enough others have pressed, so the button is gone.
      if (!(thrown instanceof ImpossibleInteraction)) throw thrown;
    }
  }

  const cards = () => slack.messages('db-approvals').filter(isCard);
  const cardOf = (name: string) =>
    cards().find(({ text }) => new RegExp(`${name}(?![\\w-])`).test(text.split('\n')[0] ?? ''));
  let over = false;

  /** Approves each card once, until the test is over. */
  async function approver(id: string): Promise<void> {
    const pressed = new Set<string>();
    while (!over) {
      const next = cards().find(
        (card) => !pressed.has(card.ts) && hasButton(card, 'change.approve'),
      );
      if (next) await press(id, next, 'change.approve');
      if (next) pressed.add(next.ts);
      await pause(50);
    }
  }

  async function ask(name: string, index: number): Promise<void> {
    const by = OPERATORS[index % OPERATORS.length] ?? '';
    const { error } = await slack.command(by, 'ops', `/service stop ${name} for the night`);
    if (error) lost.push(`the command for ${name}: ${error}`);
    const preview = () =>
      slack
        .messages('ops')
        .find((each) => hasButton(each, 'change.confirm') && JSON.stringify(each).includes(name));
    await expect.poll(preview, PROCESS_LIMITS).toBeTruthy();
    const found = preview();
    if (found) await press(by, found, 'change.confirm');
    await expect.poll(() => cardOf(name), PROCESS_LIMITS).toBeTruthy();
  }

  async function restart(index: number): Promise<void> {
    replicas[index]?.signal('SIGTERM');
    expect(await replicas[index]?.exited).toBe(0);
    replicas[index] = await sandbox.start();
  }

  const approving = APPROVERS.map(approver);
  for (const index of replicas.keys()) {
    const batch = own.slice(index * 2, index * 2 + 2);
    await Promise.all([restart(index), ...batch.map(({ name }) => ask(name, index))]);
  }
  expect(lost).toEqual([]);
  const texts = () => own.map(({ name }) => cardOf(name)?.text ?? `${name}: lost`);
  await expect
    .poll(() => texts().filter((text) => !text.includes(' is stopping')), PROCESS_LIMITS)
    .toEqual([]);
  over = true;
  await Promise.all(approving);

  expect(lost).toEqual([]);
  expect(presses).toBeGreaterThan(CHANGES * 2);
  expect(own.map(({ id }) => cloud.effectCount('set state', id))).toEqual(own.map(() => 1));
  const changes = await changesIn(databaseUrl);
  expect(changes.map(({ state }) => state)).toEqual(own.map(() => 'succeeded'));
  expect(await withLog(databaseUrl, verifyAll)).toMatchObject({ ok: true });
  // A rate-limited request was not executed and is sent again.
  const carriedOut = cloud.requests().filter(({ operation, status }) => {
    return operation === 'set state' && status !== 429;
  });
  expect(carriedOut).toHaveLength(CHANGES);
});
