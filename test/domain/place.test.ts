import { expect, test } from 'vitest';
import type { ChannelId, Verb } from '../../src/domain/change.ts';
import { isPlaceOf, type Place } from '../../src/domain/place.ts';

const at = (channel: string, ts: string) => ({ channel: channel as ChannelId, ts });
const inMessage = (channel: string, ts: string, thread: string | null = null): Place => ({
  ...{ kind: 'message', at: at(channel, ts), thread },
});
const POSTED = [at('C1', '1.0'), at('D1', '2.0')];

test.for<[string, Place, Verb, boolean]>([
  ['its card', inMessage('C1', '1.0'), 'approve', true],
  ['its card, which has a thread', inMessage('C1', '1.0', '1.0'), 'approve', true],
  ['a direct copy', inMessage('D1', '2.0'), 'approve', true],
  ['another message of the channel', inMessage('C1', '3.0'), 'approve', false],
  ['the same time in another channel', inMessage('C2', '1.0'), 'approve', false],
  ['the thread of its card', inMessage('C1', '3.0', '1.0'), 'approve', false],
  ['a reminder in the thread of its card', inMessage('C1', '3.0', '1.0'), 'snooze', true],
  ['another thread', inMessage('C1', '3.0', '4.0'), 'snooze', false],
  ['a place that was made for the user', { kind: 'own' }, 'confirm', true],
  ['an unknown place', { kind: 'unknown' }, 'confirm', false],
])('%s: whether a press counts', ([, place, verb, counts]) => {
  expect(isPlaceOf(place, verb, POSTED)).toBe(counts);
});
