import { expect, test } from 'vitest';
import type { FollowUp } from '../../../src/changes/follow-up.ts';
import { lines, message } from '../../../src/slack/blocks/blocks.ts';
import type { Line } from '../../../src/slack/blocks/rich-text.ts';
import { followUpLine, followUp as followUpOf } from '../../../src/slack/cards/follow/follow-up.ts';
import { changeIn, minutes } from '../../changes/fixtures.ts';

const WHY = 'the server did not answer within 10 s';
const SEEN = { text: 'stopping', at: minutes(2) };

function shown(state: 'succeeded' | 'unknown', over: Partial<FollowUp>) {
  const followUp: FollowUp = {
    ...{ state: 'open', seen: null, gap: null, why: null, candidates: [], revision: 1 },
    ...over,
  };
  const change = { ...changeIn(state), resolution: null, followUp };
  const ofCard = followUpOf(change);
  const texts = (all: readonly Line[]) => message(lines(...all)).text;
  return {
    card: texts([...ofCard.lines, ...ofCard.candidates]),
    thread: texts([followUpLine(change)]),
  };
}

test.for<[string, 'succeeded' | 'unknown', Partial<FollowUp>, RegExp]>([
  ['not read yet', 'succeeded', {}, /^Signalbox checks the state every 30 s until it is done\.$/],
  ['read', 'succeeded', { seen: SEEN }, /stopping, since .*\(checked every 30 s\)$/],
  ['not answered', 'succeeded', { gap: WHY }, /unknown: .* within 10 s$/],
  ['not answered since', 'succeeded', { gap: WHY, seen: SEEN }, /10 s; last seen: stopping, /],
  [
    'refused',
    'succeeded',
    { state: 'unreadable', gap: WHY },
    /unknown: .*\. Signalbox does not read it again\. Check the console\.$/,
  ],
  [
    'not answered for 30 min',
    'succeeded',
    { state: 'given-up', gap: WHY, seen: SEEN },
    /last seen: stopping, .*\. Signalbox does not read it again\. Check the console\.$/,
  ],
  [
    'not settled for 30 min',
    'succeeded',
    { state: 'given-up', seen: SEEN },
    /Last seen {2}stopping, since .*\. Not settled after 30 min\. Check the console\.$/,
  ],
  [
    'another one since',
    'succeeded',
    { state: 'superseded', gap: WHY, seen: SEEN },
    /Last seen {2}stopping, .*newer change of this service was sent since\.$/,
  ],
  ['failed', 'succeeded', { state: 'failed', seen: SEEN }, /since .*30 s\) Check the console\.$/],
  ['closed', 'succeeded', { state: 'closed', seen: SEEN }, /^$/],
  ['not read yet, unknown', 'unknown', {}, /^$/],
  ['not answered, unknown', 'unknown', { gap: WHY }, /unknown: .* within 10 s$/],
  [
    'on the way, unknown',
    'unknown',
    { seen: SEEN, why: 'not-as-requested' },
    /stopping \(checked .*\)\nThis is not yet what was requested\. The request may still be applied\.$/,
  ],
])('the card of a target that is %s', ([, state, followUp, words]) => {
  expect(shown(state, followUp).card).toMatch(words);
});

test.for<[string, Partial<FollowUp>, RegExp]>([
  ['is settled', { state: 'settled', seen: SEEN }, /is done\. The server shows: stopping, since/],
  ['failed', { state: 'failed', seen: SEEN }, /was accepted and then failed\..*Check the console/],
  ['is not settled', { state: 'given-up', seen: SEEN }, /is not done after 30 min\. Last seen: /],
  [
    'could not be read',
    { state: 'given-up', gap: WHY },
    /could not read whether “.*” is done: the server did not .*Last seen: unknown\. Check the/,
  ],
])('the thread of a target that %s', ([, followUp, words]) => {
  expect(shown('succeeded', followUp).thread).toMatch(words);
});
