import { expect, test } from 'vitest';
import { type Change, STATES } from '../../../src/changes/change.ts';
import type { FollowUp } from '../../../src/changes/follow-up.ts';
import { lines, type Message, message } from '../../../src/slack/blocks/blocks.ts';
import { mrkdwnOf } from '../../../src/slack/blocks/rich-text.ts';
import { changeCard } from '../../../src/slack/cards/card.ts';
import { homeRow } from '../../../src/slack/cards/home-rows.ts';
import { outcomeButtons } from '../../../src/slack/cards/parts/card-buttons.ts';
import { fullRequest } from '../../../src/slack/cards/parts/full-request.ts';
import { cardTitle } from '../../../src/slack/cards/parts/state-text.ts';
import { answeredPreview, preview } from '../../../src/slack/cards/preview.ts';
import { threadLine } from '../../../src/slack/cards/thread-line.ts';
import {
  ben,
  changeIn,
  cleo,
  FAILURE,
  minutes,
  NOON,
  PLAN,
  REQUIRES,
  SUCCESS,
  UNKNOWN,
} from '../../changes/fixtures.ts';
import { linesOf } from '../../contracts/message-lines.ts';
import { buttonsOf as buttonsIn } from '../../harness/messages.ts';
import { drawing, expectSound, NASTY, NASTY_SEEN, shownIn } from '../fixtures.ts';

function drawingsOf(change: Change): readonly Message[] {
  return [
    changeCard(change, drawing),
    preview(change, { others: [change, change], before: [], freezes: [] }, drawing),
    answeredPreview(change, '#db-approvals', drawing),
    message(lines(threadLine(change, drawing))),
  ];
}

function blocksOf({ blocks }: Message) {
  return blocks.map((block) => ({ ...block }));
}

function buttonsOf(change: Change): readonly string[] {
  return buttonsIn({ text: '', blocks: blocksOf(changeCard(change, drawing)) });
}

function named(name: string): Partial<Change> {
  return { plan: { ...PLAN, target: { ...PLAN.target, name } } };
}

const ALONE = { others: [], before: [], freezes: [] };
const changeCommandNames = [...drawing.commands.keys()].map((name) => [name] as const);
const everyState = STATES.map((state) => [state] as const);

test.for(everyState)('Slack takes each drawing of a change that is %s', ([state]) => {
  for (const drawn of drawingsOf(changeIn(state))) expectSound(drawn);
});

test('each state has its own title', () => {
  expect(
    STATES.map((state) => cardTitle(changeIn(state), drawing.commands)),
  ).toMatchInlineSnapshot(`
    [
      "○ Stop analytics-prod: draft, not requested",
      "○ Stop analytics-prod: waiting for approval",
      "○ Stop analytics-prod: approved",
      "◐ Stop analytics-prod: running",
      "● analytics-prod is stopping",
      "✕ Stop analytics-prod: rejected by the server",
      "? Stop analytics-prod: outcome unknown",
      "✕ Stop analytics-prod: rejected",
      "✕ Stop analytics-prod: cancelled",
      "✕ Stop analytics-prod: expired",
      "✕ Stop analytics-prod: not run: it changed since the preview",
      "✕ Stop analytics-prod: not run: the current policy refuses it",
    ]
  `);
});

test.for<[string, Partial<Change>, string]>([
  ['is under way', {}, '● analytics-prod is stopping'],
  [
    'has ended by the reply',
    { outcome: { ...SUCCESS, reported: ['stopped'] } },
    '● analytics-prod is stopped',
  ],
  ['has ended by a later read', read('settled', 'stopped'), '● analytics-prod is stopped'],
  ['failed later', read('failed', 'degraded'), '● Stop analytics-prod: accepted, then failed'],
  ['is not done in time', read('given-up', 'stopping'), '● Stop analytics-prod: accepted'],
  ['was changed since', read('superseded', 'starting'), '● Stop analytics-prod: accepted'],
  [
    'got an answer that is not of the API',
    { outcome: { ...SUCCESS, reported: ["⚠ the answer was not the API's"] } },
    '● Stop analytics-prod: accepted',
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
  const shown = [
    changeCard(change, drawing).text,
    message(lines(threadLine(change, drawing))).text,
  ];
  const home = mrkdwnOf(homeRow(change, drawing));
  for (const text of [...shown, home]) expect(text).toContain('analytics-prod is stopped');
});

test('the id of the request is in Show request', () => {
  for (const state of ['succeeded', 'failed'] as const) {
    const change = changeIn(state);
    expect(fullRequest(change, false, drawing).text).toContain('request 9f3e7a10');
    expect(changeCard(change, drawing).text).not.toContain('9f3e7a10');
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
      "The server reports: stopping. <!date^1795176240^{time}|2026-11-20T12:04:00.000Z>: stopped (checked every 30 s)",
    ]
  `);
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

test('the buttons are those that the state leaves open', () => {
  expect(
    Object.fromEntries(STATES.map((state) => [state, buttonsOf(changeIn(state)).join(' ')])),
  ).toMatchInlineSnapshot(`
    {
      "approved": "change.cancel change.details",
      "cancelled": "change.request-again change.details",
      "denied": "change.request-again change.details",
      "draft": "",
      "executing": "change.details",
      "expired": "change.request-again change.details",
      "failed": "change.request-again change.details",
      "pending": "change.approve change.reject change.details change.cancel",
      "rejected": "change.request-again change.details",
      "stale": "change.request-again change.details",
      "succeeded": "change.undo change.details",
      "unknown": "change.happened change.did-not-happen change.details",
    }
  `);
});

test('a revert is requested again with its own button, because nobody typed its command', () => {
  const revert = changeIn('denied', { parent: 'P7T2WA' as Change['id'] });
  expect(buttonsOf(revert)).toEqual(['change.take-back', 'change.details']);
});

test('every button carries the id of its change and nothing else', () => {
  const drawn = JSON.stringify([
    changeCard(changeIn('pending'), drawing),
    preview(changeIn('draft'), ALONE, drawing),
  ]);
  const values = drawn.match(/"value":"[^"]*"/g) ?? [];
  const own = values.map((value) => value.replace(/change\.[\w-]+ /, ''));
  expect(new Set(own)).toEqual(new Set(['"value":"K3M9QD"']));
});

test('a card that is redrawn never uses the id of its buttons again', () => {
  const ids = [3, 4].map((version) => {
    const { blocks } = changeCard(changeIn('pending', { version }), drawing);
    return blocks.flatMap(({ block_id }) => block_id ?? []);
  });
  expect(ids[0]).not.toEqual(ids[1]);
});

test('the card of a waiting change says all that an approver has to know', () => {
  const change = changeIn('pending', { approvals: [{ by: ben.id, at: NOON }] });
  expect(changeCard(change, drawing).text).toMatchInlineSnapshot(`
    "○ <@U0ANA> requests: stop analytics-prod · K3M9QD · expires <!date^1795190400^{date_short_pretty} at {time}|2026-11-20T16:00:00.000Z>
    Reason  nightly maintenance
    Cost  about −18.0 credits a day, from 14 final days
    ⚠ Queries and pipes of this service stop.
    State  running → stopped
    Approved  <@U0BEN> (1 of 2 from the approvers)"
  `);
});

test('of two services with one name, the card of the one that is not configured shows its id', () => {
  const target = { ...PLAN.target, id: '00000000-0000-4000-8000-000000000000' };
  const others = [
    { ...target, discovered: true },
    { ...target, tags: null },
  ] as const;
  const card = (plan: Change['plan']) => changeCard(changeIn('pending', { plan }), drawing).text;
  for (const other of others) expect(card({ ...PLAN, target: other })).toContain('00000000');
  expect(card(PLAN)).not.toMatch(/^Service/m);
});

test('the cost is short on a card, has its range on a preview, and is whole behind Show request', () => {
  const summary = {
    perDay: '−18.0 credits per day',
    withRange: '−18.0 credits per day (−9.0 to −26.0) · storage continues',
  };
  const text = '−18.0 credits per day (−9.0 to −26.0), from 14 days; −180.4 by month end';
  const plan = { ...PLAN, cost: { text, summary, perDay: -18, share: -1 } };
  const cost = ({ text: shown }: Message) => shown.split('\n').filter((line) => /^Cost/.test(line));
  const waiting = changeIn('pending', { plan });
  expect(cost(changeCard(waiting, drawing))).toEqual([
    `Cost  ${summary.perDay} · details in Show request`,
  ]);
  expect(cost(preview(changeIn('draft', { plan }), ALONE, drawing))).toEqual([
    `Cost  ${summary.withRange}`,
  ]);
  expect(cost(fullRequest(waiting, false, drawing))).toEqual([`Cost  ${text}`]);
});

test('what stays as it is in an alert is listed in whole words, and the rest is counted', () => {
  const labels = ['condition', 'channels (notifies Paging)', 'message', 'note', 'name', 'group by'];
  const over = { command: 'alert edit', plan: { ...PLAN, unchangedFields: labels } };
  const kept = (change: Change) => changeCard(change, drawing).text.match(/^Unchanged.*$/m)?.[0];
  expect(kept(changeIn('pending', over))).toBe(
    'Unchanged: condition, channels, message, note, name, group by',
  );
  const many = { ...PLAN, unchangedFields: Array(40).fill('consecutive windows') };
  const fields = kept(changeIn('pending', { ...over, plan: many }));
  expect(fields).toMatch(/^Unchanged: (consecutive windows, )+consecutive windows and \d+ more$/);
  expect(fullRequest(changeIn('pending', over), false, drawing).text).toContain('notifies Paging');
});

test('on a card only labels are bold', () => {
  const rows = [
    { field: 'stop', label: 'Stop', before: null, after: 'weekdays 20:00' },
    { field: 'zone', label: 'Time zone', before: 'UTC', after: 'Europe/Berlin' },
  ];
  const { blocks } = changeCard(changeIn('pending', { plan: { ...PLAN, rows } }), drawing);
  const bold = JSON.stringify(blocks).match(/"text":"[^"]*","style":\{"bold":true\}/g) ?? [];
  expect(bold.join()).toContain('"Time zone"');
  expect(bold.join()).not.toMatch(/weekdays|Berlin/);
});

test('the approvers are called by one mention, and only while they are needed', () => {
  const mentions = STATES.filter((state) =>
    JSON.stringify(changeCard(changeIn(state), drawing)).includes('S0LEADS'),
  );
  expect(mentions).toEqual(['pending']);
});

test('a role without a group is called by its name', () => {
  const card = changeCard(changeIn('pending'), { ...drawing, groupIds: () => [] });
  expect(card.text).toContain('2 from the role approver');
});

test.for<[string, Partial<Change>, string[]]>([
  ['succeeded', { outcome: SUCCESS }, ['The server reports: stopping.', 'after 812 ms']],
  ['succeeded without a word', { outcome: { ...SUCCESS, reported: [] } }, ['no details']],
  ['failed', { state: 'failed', outcome: FAILURE }, ['409 CONFLICT', 'Nothing was changed.']],
  [
    'has an unknown outcome',
    { state: 'unknown', outcome: UNKNOWN },
    ['did not answer in time', 'Not sent again'],
  ],
  [
    'was looked up',
    {
      state: 'failed',
      outcome: UNKNOWN,
      resolution: { by: ben.id, at: NOON, happened: false, note: 'it still runs' },
    },
    ['it was not stopped', 'Verified by  <@U0BEN>: it still runs'],
  ],
  ['runs next', { state: 'approved' }, ['Queued behind another change']],
  [
    'has to wait',
    { state: 'approved', notBefore: minutes(1) },
    ['nothing was sent. Next attempt:'],
  ],
  ['was stopped', { state: 'denied', stopReason: 'frozen' }, ['is frozen']],
  [
    'was cancelled',
    { state: 'cancelled' as const, cancelledBy: cleo.id },
    ['Cancelled by  <@U0CLEO>'],
  ],
])('a change that %s says so on its card', ([, over, words]) => {
  const { state = 'succeeded', ...rest } = over;
  const { text } = changeCard(changeIn(state, rest), drawing);
  for (const word of words) expect(text).toContain(word);
});

test('the card of an unknown outcome has what a person needs to settle it, and no more', () => {
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
    Server shows  stopping (checked <!date^1795176120^{date_short_pretty} at {time}|2026-11-20T12:02:00.000Z>)
    This is not yet what was requested. The request may still be applied.
    Requested by <@U0ANA> · approved by <@U0BEN>, <@U0CLEO> (2 of 2)"
  `);
  const unread = changeIn('unknown', { followUp: { ...followUp, seen: null, why: null } });
  const without = changeCard(unread, drawing).text;
  expect(without).toContain('\nReason  ');
  expect(without).not.toMatch(/Cost|Server shows/);
});

test('an accepted card shows one state of the service until a second one was read', () => {
  const followUp = { state: 'open', seen: null, gap: null, why: null, candidates: [], revision: 1 };
  const card = changeCard(changeIn('succeeded', { followUp: followUp as never }), drawing);
  expect(card.text).toContain('The server reports: stopping.');
  expect(card.text).not.toMatch(/Server shows|not read/);
  expect(card.text).toContain('Signalbox checks the state every 30 s until it is done.');
});

test.for<[string, string]>([
  ['ALERT', 'edit alert "5xx rate" (firing)'],
  ['OK', 'edit alert "5xx rate"'],
])('the title of a change quotes the alert, which is in state %s', ([state, asked]) => {
  const target = { ...PLAN.target, kind: 'alert', name: '5xx rate' } as const;
  const before = { fields: {}, volatileFields: { state }, seenAt: NOON, source: 'read' };
  const over = { command: 'alert edit', plan: { ...PLAN, target, before } };
  expect(changeCard(changeIn('pending', over), drawing).text).toContain(` requests: ${asked} · `);
  const question = preview(changeIn('draft', over), ALONE, drawing).text.split('\n')[0];
  expect(question?.toLowerCase()).toBe(`${asked}?`);
});

test('a card never claims that a refused or doubtful request succeeded', () => {
  for (const state of ['failed', 'unknown'] as const) {
    expect(changeCard(changeIn(state), drawing).text).not.toContain('accepted');
  }
});

function nastyEnding(ending: Change['outcome']): Change['outcome'] {
  if (ending?.how === 'succeeded') return { ...ending, requestId: NASTY, reported: [NASTY] };
  return ending && { ...ending, requestId: NASTY, text: NASTY };
}

function nasty(state: Change['state']): Change {
  const change = changeIn(state);
  return {
    ...change,
    ...named(NASTY),
    reason: NASTY,
    plan: {
      ...PLAN,
      target: { ...PLAN.target, name: NASTY, tags: [NASTY], warehouse: NASTY },
      body: { message: NASTY },
      before: { fields: { state: NASTY }, seenAt: NOON, source: NASTY },
      warnings: [NASTY],
    },
    rejection: change.rejection && { ...change.rejection, reason: NASTY },
    outcome: nastyEnding(change.outcome),
  };
}

test.for(everyState)('a nasty name, reason or answer is literal when %s', ([state]) => {
  for (const drawn of drawingsOf(nasty(state))) {
    expectSound(drawn);
    expect(shownIn(drawn)).toContain(NASTY_SEEN);
  }
});

test.for(everyState)('3,000 letters everywhere hide nothing that counts when %s', ([state]) => {
  const long = '<&'.repeat(1_500);
  const change = changeIn(state, {
    ...named('n'.repeat(300)),
    reason: long,
    ...(state === 'rejected' ? { rejection: { by: ben.id, at: NOON, reason: long } } : {}),
    ...(state === 'failed' ? { outcome: { ...FAILURE, text: long } } : {}),
  });
  for (const drawn of drawingsOf(change)) expectSound(drawn);
  const words =
    cardTitle(changeIn(state), drawing.commands)
      .split(/: |prod /)
      .at(-1) ?? '';
  const [first] = linesOf(blocksOf(changeCard(change, drawing)));
  expect(first).toContain(state === 'pending' ? 'requests: stop n' : words);
});

test('a preview shows what will be sent, what is known, who must approve and what else is open', () => {
  const draft = changeIn('draft');
  const other = changeIn('pending', { createdAt: minutes(-12) });
  expect(
    preview(draft, { others: [other], before: [], freezes: [] }, drawing).text,
  ).toMatchInlineSnapshot(`
    "Stop analytics-prod?
    Service  prod · warehouse main · last seen running, <!date^1795168800^{date_short_pretty} at {time}|2026-11-20T10:00:00.000Z>
    ⚠ <@U0ANA> requested “stop analytics-prod” <!date^1795175280^{date_short_pretty} at {time}|2026-11-20T11:48:00.000Z> (K3M9QD: waiting…
    ⚠ Queries and pipes of this service stop.
    State  running → stopped
    Cost  about −18.0 credits a day, from 14 final days
    Approval  2 of @db-leads, not you · rule 2 · expires in 4 h
    Reason  nightly maintenance"
  `);
});

test('a preview says that an unknown outcome of its target must be recorded first', () => {
  const unknown = changeIn('unknown');
  const none = { others: [], before: [], freezes: [] };
  const text = (found: { others?: Change[]; before?: Change[] }) =>
    preview(changeIn('draft'), { ...none, ...found }, drawing).text;
  expect(text({ others: [unknown] })).toContain('A new request waits until it is recorded');
  expect(text({ before: [unknown] })).toContain('A new request waits until it is recorded');
  expect(text({ others: [changeIn('pending')] })).not.toContain('A new request waits');
});

test.for<[string, Partial<Change>, string]>([
  [
    'nobody must approve',
    { requires: { ...REQUIRES, from: null, count: 0 } },
    'not required · rule 2',
  ],
  [
    'the requester may approve',
    { requires: { ...REQUIRES, self: true } },
    '2 of @db-leads · rule 2',
  ],
  [
    'minutes are left',
    { requires: { ...REQUIRES, expiresAfterMs: 45 * 60_000 } },
    'expires in 45 min',
  ],
  [
    'hours are left',
    { requires: { ...REQUIRES, expiresAfterMs: 90 * 60_000 } },
    'expires in 1.5 h',
  ],
  ['nothing was seen', { plan: { ...PLAN, before: null } }, 'never seen'],
])('a preview says so when %s', ([, over, words]) => {
  expect(preview(changeIn('draft', over), ALONE, drawing).text).toContain(words);
});

test.for<[string, Change, string]>([
  ['it waits', changeIn('pending'), 'Sent to #db-approvals.'],
  ['it is cancelled', changeIn('cancelled'), 'Nothing was changed.'],
  ['it has expired', changeIn('expired'), 'Nothing was changed.'],
  ['it needs nobody', changeIn('approved'), 'It runs now.'],
  ['it has ended', changeIn('succeeded'), 'The card shows the result.'],
])('an answered preview loses its buttons and says that %s', ([, change, words]) => {
  const answered = answeredPreview(change, '#db-approvals', drawing);
  expect(answered.text).toContain(words);
  const isMissed = ['cancelled', 'expired'].includes(change.state);
  const ids = buttonsIn({ text: '', blocks: blocksOf(answered) });
  expect(ids).toEqual(isMissed ? ['change.request-again'] : []);
});

test('an answered preview, which Slack cannot change later, does not say that the change waits', () => {
  const { text } = answeredPreview(changeIn('pending'), '#db-approvals', drawing);
  expect(text.split('\n')[0]).toBe(`Stop analytics-prod · ${changeIn('pending').id}`);
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
      "<@U0ANA> the outcome of “stop analytics-prod” is unknown. Check the console, then answer on the card.",
      "<@U0ANA> <@U0BEN> rejected “stop analytics-prod”: not during the launch",
      "<@U0ANA> “stop analytics-prod” expired before it was decided. Nothing was changed.",
      "<@U0ANA> “stop analytics-prod” was not run. analytics-prod changed after the preview. Nothing was sent. Request it again with the current values.",
      "<@U0ANA> “stop analytics-prod” was not run. analytics-prod is frozen. /change freezes shows until when.",
    ]
  `);
});
