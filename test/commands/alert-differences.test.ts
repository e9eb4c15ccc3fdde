import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/base/text.ts';
import { comparedWith } from './alert-comparison.ts';
import { NOON } from './fixtures.ts';

const names = { webhook: { w1: 'Paging', w2: 'Orders' } };
const channel = (webhookId: string) => ({ type: 'webhook', webhookId });

test.for<[string, JsonObject, JsonObject, readonly string[]]>([
  ['nothing', { threshold: 1, note: 'n' }, { note: 'n', threshold: 1 }, []],
  ['a value', { threshold: 1 }, { threshold: 2 }, ['Threshold: 1 → 2']],
  ['a field that is missing now', { note: 'n' }, {}, ['Note: n → not in the reply']],
  ['a field that was missing', {}, { thresholdMax: 9 }, ['Upper bound: not in the reply → 9']],
  ['a field of a newer server', { zzzOn: true }, { zzzOn: false }, ['Zzz on: true → false']],
  [
    'a channel that both fields have',
    { channel: channel('w1'), channels: [channel('w1')] },
    { channel: channel('w2'), channels: [channel('w2')] },
    ['Channels: notifies Paging → notifies Orders'],
  ],
  [
    'a channel whose name is unknown',
    { channel: channel('w1') },
    { channel: channel('w3') },
    ['Channel: notifies Paging → webhook w3'],
  ],
  [
    'an empty list',
    { channels: [channel('w3')] },
    { channels: [] },
    ['Channels: webhook w3 → none'],
  ],
])('the differences of an alert with %s', async ([, fields, now, texts]) => {
  const before = { fields, volatileFields: { names }, seenAt: NOON, source: 'read' };
  const state = await comparedWith(before, now);
  const found = state?.kind === 'differs' ? state.differences : [];
  expect(found.map(({ label, was, is }) => `${label}: ${was} → ${is}`)).toEqual(texts);
});
