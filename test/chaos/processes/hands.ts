import { expect } from 'vitest';
import type { StoredMessage } from '../../../sandbox/slack/records.ts';
import { ANA } from '../../scenarios/stage.ts';
import type { openShippedStage } from './shipped.ts';

/** The poll limits: a process starts slowly on a loaded machine. */
export const PATIENCE = { timeout: 20_000, interval: 50 };
export type ShippedStage = Awaited<ReturnType<typeof openShippedStage>>;

/** Requests and confirms a change of staging, and returns its card. */
export async function asked({ slack }: ShippedStage, verb: string): Promise<StoredMessage> {
  await slack.command(ANA, 'ops', `/service ${verb} staging for the night`);
  const preview = () =>
    slack.messages('ops').find((each) => holds(each, 'change.confirm') && each.ephemeralFor);
  await expect.poll(preview, PATIENCE).toBeTruthy();
  await slack.click(ANA, placeOf(preview()), 'change.confirm');
  const card = () => slack.messages('db-approvals').find((each) => holds(each, 'change.approve'));
  await expect.poll(card, PATIENCE).toBeTruthy();
  const found = card();
  if (!found) throw new Error('There is no card');
  return found;
}

const holds = ({ blocks }: StoredMessage, actionId: string) =>
  JSON.stringify(blocks).includes(`"${actionId}"`);

export function placeOf(message: StoredMessage | undefined) {
  if (!message) throw new Error('There is no such message');
  return { in: 'message', channel: message.channel, ts: message.ts } as const;
}
