import { expect, test } from 'vitest';
import type { ChannelId } from '../../src/domain/change.ts';
import { isPlaceOf, type Place } from '../../src/domain/place.ts';

const at = (channel: string, ts: string) => ({ channel: channel as ChannelId, ts });
const inMessage = (channel: string, ts: string, thread: string | null = null): Place => ({
  ...{ kind: 'message', at: at(channel, ts), thread },
});
const POSTED = [at('C1', '1.0'), at('D1', '2.0')];

test.for<[string, Place, boolean]>([
  ['its card', inMessage('C1', '1.0'), true],
  ['its card, which has a thread', inMessage('C1', '1.0', '1.0'), true],
  ['a direct copy', inMessage('D1', '2.0'), true],
  ['another message of the channel', inMessage('C1', '3.0'), false],
  ['the same time in another channel', inMessage('C2', '1.0'), false],
  ['the thread of its card', inMessage('C1', '3.0', '1.0'), false],
  ['a place that was made for the user', { kind: 'own' }, true],
  ['an unknown place', { kind: 'unknown' }, false],
])('%s: whether a press counts', ([, place, counts]) => {
  expect(isPlaceOf(place, POSTED)).toBe(counts);
});
