import { expect, test } from 'vitest';
import type { ChangeId, StandingSchedule } from '../../src/domain/change.ts';
import { blockId, changeCard } from '../../src/slack/card.ts';
import { changeIn, minutes, PLAN } from '../domain/changes-fixtures.ts';
import { drawing } from './fixtures.ts';

const IN_FORCE: StandingSchedule = {
  next: { action: 'stop', at: minutes(420) },
  paused: null,
  ended: null,
  last: null,
  version: 1,
};
const RUN = { id: 'RUN222' as ChangeId, state: 'succeeded' } as const;
const LAST = { action: 'stop', at: minutes(60), run: RUN, skipped: null };

function scheduleIn(standing: StandingSchedule) {
  const target = { ...PLAN.target, kind: 'schedule' } as const;
  return changeIn('succeeded', {
    command: 'service schedule',
    plan: { ...PLAN, target },
    standing,
  });
}

test.for<[string, Partial<StandingSchedule>, readonly string[]]>([
  ['in force', {}, ['Next run', 'stop, ']],
  ['after a run', { last: LAST }, ['Next run', 'Last run', 'accepted (RUN222)']],
  [
    'after a run that the server rejected',
    { last: { ...LAST, run: { ...RUN, state: 'failed' } } },
    ['rejected by the server (RUN222)'],
  ],
  [
    'after a skipped run',
    { last: { ...LAST, run: null, skipped: 'a freeze holds (launch)' } },
    ['skipped: a freeze holds (launch)'],
  ],
  ['while it is paused', { next: null, paused: '' }, ['Paused.']],
  ['while it is paused for a reason', { next: null, paused: 'release week' }, ['Paused: release']],
  [
    'once it has ended',
    { next: null, ended: 'replaced by ABC234' },
    ['Ended: replaced by ABC234.'],
  ],
])('the card of a schedule shows how it stands %s', ([, over, expected]) => {
  const { text } = changeCard(scheduleIn({ ...IN_FORCE, ...over }), drawing);
  for (const words of expected) expect(text).toContain(words);
  expect(text.includes('Next run')).toBe(over.next !== null);
});

test('a card gets a new block id when its schedule or the last run of it moves', () => {
  const ids = [
    IN_FORCE,
    { ...IN_FORCE, version: 2, last: LAST },
    { ...IN_FORCE, version: 2, last: { ...LAST, run: { ...RUN, state: 'unknown' as const } } },
  ].map((standing) => blockId(scheduleIn(standing)));
  expect(new Set(ids).size).toBe(3);
});
