import { expect, test } from 'vitest';
import { addDays, type Day } from '../../src/base/time.ts';
import type { AnomalyTier, AnomalyVerdict, Direction } from '../../src/maths/anomalies.ts';
import {
  expectIncident,
  followIncident,
  type Incident,
  muteIncident,
  type News,
  openIncident,
} from '../../src/maths/anomalies.ts';

const ONSET = '2026-11-09';
const USUAL: AnomalyVerdict = { kind: 'usual', expected: 20 };

function unusual(excess: number, tier: AnomalyTier = 'notice'): AnomalyVerdict {
  const direction: Direction = excess > 0 ? 'up' : 'down';
  return { kind: 'unusual', tier, direction, expected: 20, excess, z: 4 };
}

function opened(verdict: AnomalyVerdict = unusual(10), final = true): Incident {
  const { incident } = openIncident(verdict, ONSET, final);
  if (!incident) throw new Error('nothing was opened');
  return incident;
}

/** One verdict a day, from the day after the onset. */
function followed(start: Incident, verdicts: readonly AnomalyVerdict[]) {
  let incident = start;
  const news = verdicts.map((verdict, index) => {
    const step = followIncident(incident, verdict, addDays(incident.since, index + 1), true);
    incident = step.incident ?? incident;
    return step.news;
  });
  return { incident, news };
}

test('the first unusual day opens an incident and is reported', () => {
  const { incident, news } = openIncident(unusual(10, 'alert'), ONSET, false);
  expect(news).toBe('opened');
  expect(incident).toMatchObject({ state: 'open', tier: 'alert', direction: 'up', since: ONSET });
  expect(incident).toMatchObject({ impact: 10, reportedImpact: 10, mutedUntil: null });
});

test.for<[string, AnomalyVerdict]>([
  ['is usual', USUAL],
  ['cannot be tested', { kind: 'untested', why: 'too-new' }],
])('nothing is opened for a day that %s', ([, verdict]) => {
  expect(openIncident(verdict, ONSET, true)).toEqual({ incident: null, news: null });
});

test.for<'new-cost' | 'rare-cost'>(['new-cost', 'rare-cost'])('a %s opens an increase', (kind) => {
  expect(opened({ kind, expected: 0, excess: 9 })).toMatchObject({ direction: 'up', impact: 9 });
});

test.for<[string, AnomalyVerdict[], (News | null)[], Incident['state']]>([
  ['goes on for a second day', [unusual(5)], [null], 'ongoing'],
  ['costs as much again', [unusual(10)], ['doubled'], 'ongoing'],
  [
    'doubles, and doubles again',
    [unusual(10), unusual(10), unusual(10)],
    ['doubled', null, 'doubled'],
    'ongoing',
  ],
  ['becomes an alert', [unusual(5, 'alert')], ['raised'], 'ongoing'],
  ['is usual for one day', [USUAL], [null], 'open'],
  ['is usual for two days', [USUAL, USUAL], [null, 'resolved'], 'resolved'],
  ['is usual, unusual and usual', [USUAL, unusual(2), USUAL], [null, null, null], 'ongoing'],
  ['falls for two days', [unusual(-15), unusual(-15)], [null, 'resolved'], 'resolved'],
])('an incident that %s', ([, verdicts, reported, state]) => {
  const { incident, news } = followed(opened(), verdicts);
  expect({ news, state: incident.state }).toEqual({ news: reported, state });
});

test('the seventh unusual day makes it the new normal', () => {
  const { incident, news } = followed(opened(unusual(100)), Array(6).fill(unusual(1)));
  expect(news).toEqual([null, null, null, null, null, 'new-normal']);
  expect(incident).toMatchObject({ state: 'new-normal', impact: 106, since: ONSET });
});

test('two usual days that are not final resolve nothing', () => {
  let step = followIncident(opened(), USUAL, '2026-11-10', false);
  step = followIncident(step.incident ?? opened(), USUAL, '2026-11-11', false);
  expect(step).toMatchObject({ news: null, incident: { state: 'open' } });
});

test('a day that is judged again replaces its earlier entry', () => {
  const early = opened(unusual(10), false);
  const again = followIncident(early, unusual(14), ONSET, true);
  expect(again).toMatchObject({ news: null, incident: { impact: 14, state: 'open' } });
  expect(followIncident(again.incident ?? early, unusual(14), ONSET, true)).toEqual(again);
});

test('a saving is reported again when it has doubled', () => {
  const { incident, news } = followed(opened(unusual(-10)), [unusual(-12)]);
  expect([incident.impact, news]).toEqual([-22, ['doubled']]);
});

test('a day before the onset changes nothing', () => {
  const before: Day = addDays(ONSET, -1);
  expect(followIncident(opened(), unusual(50), before, true)).toEqual({
    incident: opened(),
    news: null,
  });
});

test('a muted incident is not reported, and its cost is counted', () => {
  const muted = muteIncident(opened(), '2026-11-12');
  const { incident, news } = followed(muted, [unusual(40), unusual(40, 'alert')]);
  expect(news).toEqual([null, null]);
  expect(incident).toMatchObject({ state: 'muted', impact: 90, reportedImpact: 10 });
});

test('a cost that doubled while muted is reported after the muting ends', () => {
  const muted = muteIncident(opened(), '2026-11-11');
  const { incident, news } = followed(muted, [unusual(40), unusual(40), unusual(1)]);
  expect(news).toEqual([null, null, 'doubled']);
  expect(incident.state).toBe('ongoing');
});

test('the end of a muted incident is not reported', () => {
  const { incident, news } = followed(muteIncident(opened(), '2026-11-30'), [USUAL, USUAL]);
  expect([incident.state, news]).toEqual(['resolved', [null, null]]);
});

test('an expected incident is over', () => {
  const expected = expectIncident(opened());
  expect(expected.state).toBe('expected');
  expect(followIncident(expected, unusual(99), '2026-11-10', true)).toEqual({
    incident: expected,
    news: null,
  });
});

test('an incident that is over can no longer be muted or expected', () => {
  const { incident } = followed(opened(), [USUAL, USUAL]);
  expect(muteIncident(incident, '2026-12-01')).toEqual(incident);
  expect(expectIncident(incident)).toEqual(incident);
});
