import { expect, test } from 'vitest';
import { type Change, STATES } from '../../../src/changes/change.ts';
import { lines, type Message, message } from '../../../src/slack/blocks/blocks.ts';
import { changeCard } from '../../../src/slack/cards/card.ts';
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
const everyState = STATES.map((state) => [state] as const);

test.for(everyState)('Slack takes each drawing of a change that is %s', ([state]) => {
  for (const drawn of drawingsOf(changeIn(state))) expectSound(drawn);
});

test('each state has its own title', () => {
  expect(STATES.map((state) => cardTitle(changeIn(state)))).toMatchInlineSnapshot(`
    [
      "○ Stop analytics-prod: draft, not requested",
      "○ Stop analytics-prod: waiting for approval",
      "○ Stop analytics-prod: approved",
      "◐ Stop analytics-prod: running",
      "● Stop analytics-prod: accepted",
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
    Service  analytics-prod · prod · main · 2f7c9d34
    ⚠ Queries and pipes of this service stop.
    State  running → stopped
    Reason  nightly maintenance
    Cost  about −18.0 credits a day, from 14 final days
    Approved  <@U0BEN> (1 of 2 from the approvers)"
  `);
});

test('of two services with one name the card tells which one is meant', () => {
  const impostor = { ...PLAN.target, id: '00000000-0000-4000-8000-000000000000' };
  const cards = [PLAN, { ...PLAN, target: impostor }].map((plan) =>
    shownIn(changeCard(changeIn('pending', { plan }), drawing)),
  );
  expect(cards[0]).toContain('2f7c9d34');
  expect(cards[1]).toContain('00000000');
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
  [
    'succeeded',
    { outcome: SUCCESS },
    ['The server reports: stopping.', 'after 812 ms · request 9f3e7a10'],
  ],
  ['succeeded without a word', { outcome: { ...SUCCESS, reported: [] } }, ['no details']],
  ['failed', { state: 'failed', outcome: FAILURE }, ['409 CONFLICT', 'Nothing was changed.']],
  [
    'has an unknown outcome',
    { state: 'unknown', outcome: UNKNOWN },
    ['did not answer in time', 'not send it again'],
  ],
  [
    'was looked up',
    {
      state: 'failed',
      outcome: UNKNOWN,
      resolution: { by: ben.id, at: NOON, happened: false, note: 'it still runs' },
    },
    ['it did not happen', 'Verified by  <@U0BEN>: it still runs'],
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
    Signalbox does not send it again. Other changes to this target are blocked until this is resolved.
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
  const words = cardTitle(changeIn(state)).split(': ').at(-1) ?? '';
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
    Service  analytics-prod · prod · main · 2f7c9d34 · last seen running, <!date^1795168800^{date_short_pretty} at {time}|2026-11-20T10:00:00.000Z>
    ⚠ <@U0ANA> requested “stop analytics-prod” <!date^1795175280^{date_short_pretty} at {time}|2026-11-20T11:48:00.000Z> (K3M9QD: waiting for approval).
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
  expect(text({ others: [unknown] })).toContain('A new request waits until that outcome');
  expect(text({ before: [unknown] })).toContain('A new request waits until that outcome');
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
      "<@U0ANA> “stop analytics-prod” was accepted by the server. The card shows the response.",
      "<@U0ANA> “stop analytics-prod” was rejected by the server. Nothing was changed. The card shows why.",
      "<@U0ANA> the outcome of “stop analytics-prod” is unknown. Check the console, then answer on the card.",
      "<@U0ANA> <@U0BEN> rejected “stop analytics-prod”: not during the launch",
      "<@U0ANA> “stop analytics-prod” expired before it was decided. Nothing was changed.",
      "<@U0ANA> “stop analytics-prod” was not run. analytics-prod changed after the preview. Nothing was sent. Request it again with the current values.",
      "<@U0ANA> “stop analytics-prod” was not run. analytics-prod is frozen. /change freezes shows until when.",
    ]
  `);
});
