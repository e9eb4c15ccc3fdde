import { expect, test } from 'vitest';
import type { FollowUp } from '../../src/domain/change.ts';
import { lines, message } from '../../src/slack/blocks.ts';
import { followUp as followUpOf, laterState } from '../../src/slack/card-state.ts';
import { followUpLine } from '../../src/slack/card-thread.ts';
import type { Line } from '../../src/slack/rich-text.ts';
import { changeIn, minutes } from '../domain/changes-fixtures.ts';

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
    card: texts(
      state === 'unknown'
        ? [...ofCard.lines, ...ofCard.candidates]
        : [['The server reports: stopping.', ...laterState(followUp)]],
    ),
    thread: texts([followUpLine(change)]),
  };
}

const NOT_AGAIN = 'Signalbox does not read it again. Check the console.';

test.for<[string, Partial<FollowUp>, RegExp]>([
  ['not read yet', {}, /stopping\. Signalbox checks the state every 30 s until it is done\.$/],
  ['read', { seen: SEEN }, /stopping\. Last seen: stopping \(<!date.*>, checked every 30 s\)\.$/],
  ['not answered', { gap: WHY }, /Later state unknown: .* within 10 s\.$/],
  ['not answered since', { gap: WHY, seen: SEEN }, /10 s; last seen: stopping \(<!date/],
  ['refused', { state: 'unreadable', gap: WHY }, RegExp(`unknown: .*\\. ${NOT_AGAIN}$`)],
  [
    'not answered for 30 min',
    { state: 'given-up', gap: WHY, seen: SEEN },
    RegExp(`last seen: stopping .*\\)\\. ${NOT_AGAIN}$`),
  ],
  [
    'not settled',
    { state: 'given-up', seen: SEEN },
    /stopping \(.*>\)\. Not settled after 30 min\. C/,
  ],
  [
    'another one since',
    { state: 'superseded', gap: WHY, seen: SEEN },
    /stopping \(.*>\)\. A newer change of this service was sent since\.$/,
  ],
  ['failed', { state: 'failed', seen: SEEN }, /stopping \(.*>\)\. Check the console\.$/],
  ['closed', { state: 'closed', seen: SEEN }, /^The server reports: stopping\.$/],
])('the card of an accepted change of a target that is %s', ([, followUp, words]) => {
  expect(shown('succeeded', followUp).card).toMatch(words);
});

test.for<[string, Partial<FollowUp>, RegExp]>([
  ['not read yet', {}, /^$/],
  ['not answered', { gap: WHY }, /unknown: .* within 10 s$/],
  [
    'on the way',
    { seen: SEEN, why: 'under-way' },
    /\(checked .*\)\nIts state moved as requested, so/,
  ],
  [
    'as before',
    { seen: SEEN, why: 'not-as-requested' },
    /\nThis is not yet what was requested\. The/,
  ],
])('the card of an unknown outcome of a target that is %s', ([, followUp, words]) => {
  expect(shown('unknown', followUp).card).toMatch(words);
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

test('a state that was read later has its day, so that a card of yesterday is understood', () => {
  expect(shown('succeeded', { state: 'settled', seen: SEEN }).card).toContain(
    '^{date_short_pretty} at {time}|',
  );
});
