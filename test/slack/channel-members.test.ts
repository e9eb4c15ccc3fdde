import type { WebClient } from '@slack/web-api';
import { expect, test } from 'vitest';
import type { Clock } from '../../src/base/time.ts';
import type { UserId } from '../../src/domain/change.ts';
import { createChannelMembers } from '../../src/slack/channels.ts';
import { ana, ben, channel, cleo } from '../workflow/context.ts';

const ROOM = channel('CDEV');
const SECOND_ID = 'W0ANA' as UserId;

/** Slack, with a number of pages: the last one has Ana and Ben. */
function slackWith({ pages = 1, fails = false, listed = ana }) {
  const time = { now: 0 };
  const calls: unknown[] = [];
  const apiCall = async (_method: string, { cursor = '1' }: { readonly cursor?: string }) => {
    calls.push(cursor);
    if (fails) throw new Error('no answer');
    const isLast = Number(cursor) === pages;
    return {
      ok: true,
      // A list of Slack can have an empty place.
      members: isLast ? [listed, null, ben] : [],
      response_metadata: { next_cursor: isLast ? '' : String(Number(cursor) + 1) },
    };
  };
  // Only these parts of both are used.
  const lookups = { apiCall } as unknown as WebClient;
  const clock = { now: () => time.now } as Clock;
  const idsOf = (user: UserId) => (user === ana ? [ana, SECOND_ID] : [user]);
  return { members: createChannelMembers(lookups, clock, idsOf), calls, time };
}

test('the members of a channel are read once a minute, page by page', async () => {
  const { members, calls, time } = slackWith({ pages: 3 });
  expect(await members.absentAmong(ROOM, [ana, cleo])).toEqual([cleo]);
  expect(await members.absentAmong(ROOM, [ben])).toEqual([]);
  expect(calls).toHaveLength(3);
  time.now = 60_000;
  await members.absentAmong(ROOM, [ben]);
  expect(calls).toHaveLength(6);
});

test('a channel that lists the second id of a person has the person', async () => {
  const { members } = slackWith({ listed: SECOND_ID });
  expect(await members.absentAmong(ROOM, [ana, cleo])).toEqual([cleo]);
  expect(await members.has(ROOM, ana)).toBe(true);
});

test('a user who may have just left is looked up now', async () => {
  const { members, calls } = slackWith({});
  await members.absentAmong(ROOM, [ana]);
  expect(await members.has(ROOM, ana)).toBe(true);
  expect(await members.has(ROOM, cleo)).toBe(false);
  expect(calls).toHaveLength(3);
});

test.for([
  ['does not answer', { fails: true }],
  ['has more than 20 pages', { pages: 21 }],
] as const)('who is in a channel is unknown if Slack %s', async ([, given]) => {
  const { members, calls } = slackWith(given);
  expect(await members.absentAmong(ROOM, [ana])).toBeNull();
  expect(calls.length).toBeLessThanOrEqual(20);
  expect(await members.has(ROOM, ana)).toBeNull();
});
