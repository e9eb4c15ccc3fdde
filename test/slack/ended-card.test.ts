import { expect, test } from 'vitest';
import type { Change, FollowUp } from '../../src/domain/change.ts';
import { lines, message } from '../../src/slack/blocks.ts';
import { changeCard, outcomeButtons } from '../../src/slack/card.ts';
import { cardTitle } from '../../src/slack/card-state.ts';
import { threadLine } from '../../src/slack/card-thread.ts';
import { homeRow } from '../../src/slack/home.ts';
import { fullRequest } from '../../src/slack/preview.ts';
import { mrkdwnOf } from '../../src/slack/rich-text.ts';
import {
  ben,
  changeIn,
  cleo,
  FAILURE,
  minutes,
  NOON,
  PLAN,
  SUCCESS,
  UNKNOWN,
} from '../domain/changes-fixtures.ts';
import { drawing } from './fixtures.ts';

const UNSENT = { since: NOON, causes: { limit: 2 } };
const reported = (word: string) => ({ outcome: { ...SUCCESS, reported: [word] } });

const changeCommandNames = [...drawing.commands.keys()].map((name) => [name] as const);

const ACCEPTED_ONLY = '● Stop analytics-prod: accepted';

test.for<[string, Partial<Change>, string]>([
  ['is under way', {}, '◐ analytics-prod is stopping'],
  ['has ended by the reply', reported('stopped'), '● analytics-prod is stopped'],
  ['has ended by a later read', read('settled', 'stopped'), '● analytics-prod is stopped'],
  ['failed later', read('failed', 'degraded'), '● Stop analytics-prod: accepted, then failed'],
  ['is not done in time', read('given-up', 'stopping'), '● Stop analytics-prod: accepted'],
  ['was changed since', read('superseded', 'starting'), '● Stop analytics-prod: accepted'],
  ['got an answer without details', { outcome: { ...SUCCESS, reported: [] } }, ACCEPTED_ONLY],
  [
    'got an answer without details and was read later',
    { outcome: { ...SUCCESS, reported: [] }, ...read('settled', 'stopped') },
    '● analytics-prod is stopped',
  ],
  [
    'got an answer that is not of the API',
    reported("⚠ the answer was not the API's"),
    ACCEPTED_ONLY,
  ],
])('the title of an accepted change that %s says no more than is known', ([, over, title]) => {
  expect(cardTitle(changeIn('succeeded', over), drawing.commands)).toBe(title);
});

function read(state: FollowUp['state'], text: string): Partial<Change> {
  const seen = { text, at: minutes(4) };
  return { followUp: { state, seen, gap: null, why: null, candidates: [], revision: 2 } };
}

test('the card, the thread and the Home tab of an accepted change have one title', () => {
  const change = changeIn('succeeded', read('settled', 'stopped'));
  const shown = [threadLine, homeRow].map((line) => mrkdwnOf(line(change, drawing)));
  for (const text of [JSON.stringify(changeCard(change, drawing)), ...shown])
    expect(text).toContain('analytics-prod is stopped');
});

test('an answer without details says no more in the thread and on the Home tab', () => {
  const change = changeIn('succeeded', { outcome: { ...SUCCESS, reported: [] } });
  const thread = mrkdwnOf(threadLine(change, drawing));
  expect(thread).toContain('“stop analytics-prod” was accepted by the server. The card');
  expect(mrkdwnOf(homeRow(change, drawing))).toContain(ACCEPTED_ONLY);
});

test('the id of the request is in Show request', () => {
  for (const state of ['succeeded', 'failed'] as const) {
    const change = changeIn(state);
    expect(fullRequest(change, false, drawing).text).toContain('request 9f3e7a10');
    expect(JSON.stringify(changeCard(change, drawing))).not.toContain('9f3e7a10');
  }
});

test('the card of an unknown outcome links to the console, if the configuration names one', () => {
  const address = 'https://console.example.com/services/{service}?tab=1';
  const id = 'a/../b?x=<!here>';
  const plan = { ...PLAN, target: { ...PLAN.target, id } };
  const withConsole = { ...drawing, console: address };
  const own = changeCard(changeIn('unknown', { plan }), withConsole);
  expect(JSON.stringify(own.blocks)).toContain(
    'https://console.example.com/services/a%2F..%2Fb%3Fx%3D%3C!here%3E?tab=1',
  );
  expect(own.text).toContain('Check the console (<https:');
  const none = changeCard(changeIn('unknown', { plan }), drawing);
  expect(none.text).toContain('Check the console, then record what you found.');
  const alert = { ...plan, target: { ...plan.target, kind: 'alert' as const } };
  const other = changeCard(changeIn('unknown', { plan: alert }), withConsole);
  expect(JSON.stringify(other.blocks)).not.toContain('console.example.com');
});

test('an accepted card has one line with the state in the reply and the later one', () => {
  const { text } = changeCard(changeIn('succeeded', read('settled', 'stopped')), drawing);
  const reports = text.split('\n').filter((line) => line.includes('stopp'));
  expect(reports).toMatchInlineSnapshot(`
    [
      "● analytics-prod is stopped · K3M9QD",
      "State  running → stopped",
      "The server reports: stopping. Last seen: stopped (<!date^1795176240^{date_short_pretty} at {time}|2026-11-20T12:04:00.000Z>, checked every 30 s).",
    ]
  `);
});

test.for<[string, Partial<Change>, string]>([
  ['in force', {}, 'Until  '],
  ['revoked', { revoked: { by: ben.id, at: NOON } }, 'Revoked by  <@U0BEN>'],
])('the card of a standing approval %s says each fact once', ([, over, words]) => {
  const target = { ...PLAN.target, kind: 'standing approval' } as const;
  const scope = { service: { id: PLAN.target.id, name: PLAN.target.name } };
  const body = { commands: ['service stop'], scope, uses: 3, forMs: 604_800_000 };
  const rows = [
    { field: 'uses', label: 'Uses', before: null, after: 3 },
    { field: 'for', label: 'In force for', before: null, after: '7 d from its approval' },
  ];
  const plan = { ...PLAN, target, body, rows, before: null };
  const allowed = { command: 'change allow', plan, outcome: SUCCESS };
  const change = changeIn('succeeded', { ...allowed, ...over });
  const { text } = changeCard(change, drawing);
  expect(text).toContain('Used  0 of 3');
  expect(text).toContain(words);
  expect(text).not.toMatch(/^Uses {2}|Done\. /m);
  expect(text.includes('In force for')).toBe(Boolean(change.revoked));
  expect(fullRequest(change, true, drawing).text).toMatch(/^Uses {2}3\nIn force for/m);
});

test.for(changeCommandNames)(
  'the answers about an unknown outcome of %s are named by it',
  ([name]) => {
    const change = changeIn('unknown', { command: name });
    const { done } = drawing.commands.get(name)?.outcome ?? {};
    const labels = outcomeButtons(change, drawing).map(({ label }) => label);
    expect(labels).toEqual([`It was ${done}`, `It was not ${done}`]);
  },
);

const CONFLICT = { ...UNKNOWN, how: 'unknown', status: 409, text: 'CONFLICT' } as const;
const NOT_STOPPED = { by: ben.id, at: NOON, happened: false, note: 'it still runs' };

test.for<[string, Partial<Change>, ...string[]]>([
  ['succeeded', { outcome: SUCCESS }, 'The server reports: stopping.', 'after 812 ms'],
  ['succeeded without a word', { outcome: { ...SUCCESS, reported: [] } }, 'no details'],
  ['failed', { state: 'failed', outcome: FAILURE }, '409 CONFLICT', 'Nothing was changed.'],
  [
    'is unknown after a 409',
    { state: 'unknown', outcome: CONFLICT },
    '(despite the 409, it may have',
  ],
  [
    'is unknown',
    { state: 'unknown', outcome: UNKNOWN },
    'did not answer in time',
    'Not sent again',
  ],
  [
    'was looked up',
    { state: 'failed', outcome: UNKNOWN, resolution: NOT_STOPPED },
    'it was not stopped',
    'Verified by  <@U0BEN>: it still runs',
  ],
  ['runs next', { state: 'approved' }, 'Not sent yet. Everything is checked again'],
  [
    'has to wait',
    {
      state: 'approved',
      notBefore: minutes(1),
      notSent: { ...UNSENT, why: 'The limit is reached.' },
    },
    'Nothing was sent yet. Next attempt:',
    'Not sent: The limit is reached.',
  ],
  ['was stopped', { state: 'denied', stopReason: 'frozen' }, 'is frozen'],
  ['was cancelled', { state: 'cancelled', cancelledBy: cleo.id }, 'Cancelled by  <@U0CLEO>'],
])('a change that %s says so on its card', ([, over, ...words]) => {
  const { state = 'succeeded', ...rest } = over;
  const { text } = changeCard(changeIn(state, rest), drawing);
  for (const word of words) expect(text).toContain(word);
});

test('the card of an unknown outcome has what a person needs to settle it', () => {
  const seen = { text: 'stopping', at: minutes(2) };
  const followUp = { state: 'open', gap: null, candidates: [], revision: 1 } as const;
  const reads = { ...followUp, seen, why: 'not-as-requested' } as const;
  const { text } = changeCard(changeIn('unknown', { followUp: reads }), drawing);
  expect(text).toMatchInlineSnapshot(`
    "? Stop analytics-prod: outcome unknown · K3M9QD
    State  running → stopped
    Known so far (<!date^1795176120^{date_short_pretty} at {time}|2026-11-20T12:02:00.000Z>): The server did not answer in time.
    Not sent again. Other changes to this target are blocked until this is resolved.
    Check the console, then record what you found.
    @db-leads can record it.
    Server shows  stopping (checked <!date^1795176120^{date_short_pretty} at {time}|2026-11-20T12:02:00.000Z>)
    This is not yet what was requested. The request may still be applied.
    Requested by <@U0ANA> · approved by <@U0BEN>, <@U0CLEO> (2 of 2)
    Reason  nightly maintenance
    prod · last seen running, <!date^1795168800^{date_short_pretty} at {time}|2026-11-20T10:00:00.000Z> · warehouse main"
  `);
  const late = { as: 'not-sent', answeredAt: null, status: null, text: 'no note' } as const;
  const known = changeIn('unknown', { lateAnswer: late });
  expect(changeCard(known, drawing).text).toContain('Late answer  nothing was sent: no note');
  expect(message(lines(threadLine(known, drawing))).text).toContain(
    'Its answer came late: nothing was sent: no note. Record the outcome on',
  );
  const page = {
    ...late,
    as: 'unknown',
    status: 200,
    text: 'The answer was not of the API.',
  } as const;
  const foreign = changeIn('unknown', { lateAnswer: page });
  expect(mrkdwnOf(threadLine(foreign, drawing))).toContain(
    'still not known: 200 The answer was not of the API. Record',
  );
  const unread = changeIn('unknown', { followUp: { ...followUp, seen: null, why: null } });
  expect(changeCard(unread, drawing).text).not.toMatch(/Cost|Server shows/);
});

test('an accepted card shows one state of the service until a second one was read', () => {
  const followUp = { state: 'open', seen: null, gap: null, why: null, candidates: [], revision: 1 };
  const card = changeCard(changeIn('succeeded', { followUp: followUp as never }), drawing);
  expect(card.text).toContain('The server reports: stopping.');
  expect(card.text).not.toMatch(/Server shows|not read/);
  expect(card.text).toContain('Signalbox checks the state every 30 s until it is done.');
});

test('a card never claims that a refused or doubtful request succeeded', () => {
  for (const state of ['failed', 'unknown'] as const) {
    expect(changeCard(changeIn(state), drawing).text).not.toContain('accepted');
  }
});

test('why a change is not sent stands in its thread and in Show request', () => {
  const narrowings = [{ by: ben.id, at: NOON, version: 2, wider: { plan: PLAN, digest: 'd' } }];
  const why = 'The rate limit of the server is reached.';
  const waits = { notBefore: minutes(1), notSent: { ...UNSENT, why }, narrowings };
  const change = changeIn('approved', waits);
  expect(mrkdwnOf(threadLine(change, drawing))).toMatch(
    /^<@U0ANA> “stop analytics-prod” was not sent yet: The rate limit of the server is reached\. Signalbox retries until <!date/,
  );
  expect(fullRequest(change, false, drawing).text).toContain(`Not sent: ${why}`);
});

test('each outcome is one line in the thread', () => {
  const states = [
    'succeeded',
    'failed',
    'unknown',
    'rejected',
    'expired',
    'stale',
    'denied',
  ] as const;
  const lined = states.map((state) => message(lines(threadLine(changeIn(state), drawing))).text);
  expect(lined).toMatchInlineSnapshot(`
    [
      "<@U0ANA> analytics-prod is stopping. The card shows the response.",
      "<@U0ANA> “stop analytics-prod” was rejected by the server. Nothing was changed. The card shows why.",
      "<@U0ANA> the approvers: the outcome of “stop analytics-prod” is unknown. Check the console, then answer on the card.",
      "<@U0ANA> <@U0BEN> rejected “stop analytics-prod”: not during the launch",
      "<@U0ANA> “stop analytics-prod” expired before it was decided. Nothing was changed.",
      "<@U0ANA> “stop analytics-prod” was not run. analytics-prod changed after the preview. Nothing was sent. Request it again with the current values.",
      "<@U0ANA> “stop analytics-prod” was not run. analytics-prod is frozen. /change freezes shows until when.",
    ]
  `);
});

test('values that Signalbox itself refused are not a refusal of the server', () => {
  const text = 'Signalbox did not send it: memory is odd.';
  const change = changeIn('failed', { outcome: { ...FAILURE, status: null, text } });
  const shown = [
    cardTitle(change, drawing.commands),
    message(lines(threadLine(change, drawing))).text,
    JSON.stringify(changeCard(change, drawing)),
  ].join('\n');
  expect(shown).toContain('Stop analytics-prod: not done');
  expect(shown).toContain('“stop analytics-prod” was not done.');
  expect(shown).toContain(text);
  expect(shown).not.toMatch(/rejected by the server|Server response/);
});

test('after a later read, the card has the first reported value, and Show request has all', () => {
  const outcome = { ...SUCCESS, reported: ['running', 'all values are saved as requested'] };
  const change = changeIn('succeeded', { outcome, ...read('open', 'saved, not in effect yet') });
  expect(JSON.stringify(changeCard(change, drawing))).toMatch(
    /The server reports: running\. Last seen: saved, not/,
  );
  const whole = fullRequest(change, false, drawing).text;
  expect(whole).toContain('The server reports: running, all values are saved as requested.');
});

test('the card of a change that has reached its end does not say how long it takes', () => {
  const note = 'This can take minutes.';
  expect(changeCard(changeIn('succeeded'), drawing).text).toContain(note);
  expect(changeCard(changeIn('succeeded', reported('stopped')), drawing).text).not.toContain(note);
});
