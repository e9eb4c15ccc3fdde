import { expect, test } from 'vitest';
import {
  type Change,
  type ChangeId,
  STATES,
  type State,
  type Timing,
} from '../../src/domain/change.ts';
import { changeCard } from '../../src/slack/card.ts';
import { timingLines } from '../../src/slack/card-plan.ts';
import { cardTitle } from '../../src/slack/card-state.ts';
import {
  renewButtons,
  revertStoppedLine,
  scheduleReminderLine,
  threadLine,
} from '../../src/slack/card-thread.ts';
import { mrkdwnOf } from '../../src/slack/rich-text.ts';
import { REVERT_STOP_REASONS } from '../../src/workflow/context.ts';
import { changeIn, minutes, NOON, PLAN } from '../domain/changes-fixtures.ts';
import { drawing, expectSound } from './fixtures.ts';

const back = { afterMs: 4 * 3_600_000, label: 'Start it again', line: 'service start staging' };
const REVERTED = { startAt: null, revert: back };
const startAt = minutes(420).toISOString();
const PARENT = '7KQ2MX' as ChangeId;
const CHILD = 'P7T2WA' as ChangeId;

const child = (state: State): Partial<Change> => ({ child: { id: CHILD, state } });

function timed(state: Change['state'], timing: Timing, over: Partial<Change> = {}): Change {
  return changeIn(state, { plan: { ...PLAN, timing }, ...over });
}

/** Dates as the hour that they show in UTC. */
function said(change: Change): readonly string[] {
  return timingLines(change).map((line) =>
    mrkdwnOf(line).replace(/<!date\^\d+\^[^|]+\|[^T]+T(\d\d:\d\d)[^>]*>/g, '$1'),
  );
}

test('a change says in every state when it runs, and what takes it back', () => {
  const both = { startAt, revert: back };
  expect(
    Object.fromEntries(STATES.map((state) => [state, said(timed(state, both)).join(' | ')])),
  ).toMatchInlineSnapshot(`
    {
      "approved": "Runs  19:00 | Reverts  4 h later (Start it again)",
      "cancelled": "Was scheduled for  19:00",
      "denied": "Was scheduled for  19:00",
      "draft": "Runs  19:00 | Reverts  4 h later (Start it again)",
      "executing": "Reverts  4 h later (Start it again)",
      "expired": "Was scheduled for  19:00",
      "failed": "",
      "pending": "Runs  19:00 | Reverts  4 h later (Start it again)",
      "rejected": "Was scheduled for  19:00",
      "stale": "Was scheduled for  19:00",
      "succeeded": "Reverts  not automatically",
      "unknown": "Reverts  4 h later (Start it again)",
    }
  `);
});

test.for<[string, Partial<Change>, string]>([
  ['will be planned in a moment', { revertAt: minutes(242) }, 'Reverts  16:02'],
  ['is planned', child('approved'), 'Reverts  16:02 (P7T2WA)'],
  ['runs now', child('executing'), 'Reverts  16:02 (P7T2WA)'],
  ['has run', child('succeeded'), 'Reverted  by P7T2WA'],
  ['has an unknown outcome', child('unknown'), 'Reverted  outcome unknown (P7T2WA)'],
  ['was cancelled', child('cancelled'), 'Reverts  not automatically: P7T2WA is cancelled'],
  ['cannot be planned', { revertAt: null }, 'Reverts  not automatically'],
])('the card of what succeeded for a while says how its return stands: it %s', ([, over, line]) => {
  const change = timed('succeeded', REVERTED, { revertAt: minutes(242), ...over });
  expect(said(change)).toEqual([line]);
  expectSound(changeCard(change, drawing));
});

test('what takes another one back names it, and no card is taken for the other', () => {
  const revert = timed('approved', { startAt, revert: null }, { id: CHILD, parent: PARENT });
  expect(said(revert)).toEqual(['Reverts  7KQ2MX (approved together)', 'Runs  19:00']);
  expect(cardTitle(revert, drawing.commands)).toBe('○ Stop analytics-prod: planned');
  // A card that was posted without an answer is looked for by the id behind its dot.
  expect(changeCard(revert, drawing).text).not.toContain(` · ${PARENT}`);
  const parent = timed('succeeded', REVERTED, child('stale'));
  expect(changeCard(parent, drawing).text).not.toContain(` · ${CHILD}`);
});

test.for<[string, Partial<Change>, string]>([
  ['expired before it was approved', {}, 'expired before it was decided'],
  ['could not begin in time', { notBefore: NOON }, 'could not start within an hour'],
  [
    'could not go back in time',
    { notBefore: NOON, parent: PARENT },
    'could not start within a day',
  ],
])('its thread tells that it %s', ([, over, words]) => {
  const change = timed('expired', { startAt, revert: null }, over);
  expect(mrkdwnOf(threadLine(change, drawing))).toContain(words);
});

test('the reminder of a schedule names its service, its times, its end and how to renew it', () => {
  const body = { stop: 'weekdays 20:00', start: 'weekdays 07:00', zone: 'Europe/Berlin' };
  const target = { ...PLAN.target, kind: 'schedule' } as const;
  const schedule = changeIn('succeeded', { plan: { ...PLAN, target, body }, reason: 'nightly' });
  const reminded = (hasExpired: boolean) =>
    mrkdwnOf(scheduleReminderLine(schedule, { until: minutes(7 * 24 * 60), hasExpired }));
  expect(reminded(false)).toMatchInlineSnapshot(
    `"<@U0ANA> the schedule of analytics-prod, stop weekdays 20:00 · start weekdays 07:00 (Europe/Berlin), expires <!date^1795780800^{date_short_pretty} at {time}|2026-11-27T12:00:00.000Z>. Renew it to use it for 90 more days."`,
  );
  expect(reminded(true)).toMatchInlineSnapshot(
    `"<@U0ANA> the schedule of analytics-prod, stop weekdays 20:00 · start weekdays 07:00 (Europe/Berlin), has expired. Nothing runs any more. Renew it to use it for 90 more days."`,
  );
  const line = `service schedule ${PLAN.target.id} stop="weekdays 20:00" start="weekdays 07:00"`;
  const renewed = { label: 'Renew…', value: `${line} zone=Europe/Berlin "nightly"` };
  expect(renewButtons(schedule)).toMatchObject([renewed]);
});

test.for(REVERT_STOP_REASONS)('its thread tells why it stays: %s', (why) => {
  const line = mrkdwnOf(revertStoppedLine(timed('succeeded', REVERTED), why));
  expect(line).toMatch(
    /^<@U0ANA> “stop analytics-prod” is not reverted automatically: [a-z].+\.$/i,
  );
});
