import { expect, test } from 'vitest';
import { type Change, STATES } from '../../src/domain/change.ts';
import { lines, type Message, message } from '../../src/slack/blocks.ts';
import { changeCard } from '../../src/slack/card.ts';
import { cardTitle } from '../../src/slack/card-state.ts';
import { threadLine } from '../../src/slack/card-thread.ts';
import { answeredPreview, fullRequest, preview } from '../../src/slack/preview.ts';
import { linesOf } from '../contracts/message-lines.ts';
import { ben, changeIn, FAILURE, NOON, PLAN } from '../domain/changes-fixtures.ts';
import { buttonsOf as buttonsIn } from '../harness/messages.ts';
import {
  blocksOf,
  drawing,
  expectSound,
  NASTY,
  NASTY_SEEN,
  shownIn,
  withNews,
} from './fixtures.ts';

function drawingsOf(change: Change): readonly Message[] {
  return [
    changeCard(change, drawing),
    preview(withNews(change, { others: [change, change] }), drawing),
    answeredPreview(change, '#db-approvals', drawing),
    message(lines(threadLine(change, drawing))),
  ];
}

function buttonsOf(change: Change): readonly string[] {
  return buttonsIn({ text: '', blocks: blocksOf(changeCard(change, drawing)) });
}

function named(name: string): Partial<Change> {
  return { plan: { ...PLAN, target: { ...PLAN.target, name } } };
}

const everyState = STATES.map((state) => [state] as const);

test('each state has its own title', () => {
  expect(
    STATES.map((state) => cardTitle(changeIn(state), drawing.commands)),
  ).toMatchInlineSnapshot(`
    [
      "○ Stop analytics-prod: draft, not requested",
      "○ Stop analytics-prod: waiting for approval",
      "○ Stop analytics-prod: approved",
      "◐ Stop analytics-prod: running",
      "◐ analytics-prod is stopping",
      "✕ Stop analytics-prod: rejected by the server",
      "? Stop analytics-prod: outcome unknown",
      "✕ Stop analytics-prod: rejected",
      "✕ Stop analytics-prod: cancelled",
      "✕ Stop analytics-prod: expired",
      "✕ Stop analytics-prod: not run: the target changed since the preview",
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
      "pending": "change.approve change.reject change.narrow change.details change.cancel",
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
    preview(changeIn('draft'), drawing),
  ]);
  const values = drawn.match(/"value":"[^"]*"/g) ?? [];
  const own = values.map((value) => value.replace(/change\.[\w-]+ /, ''));
  expect(new Set(own)).toEqual(new Set(['"value":"K3M9QD"']));
});

test('a card that is redrawn never uses the id of its buttons again', () => {
  const [three, four] = [3, 4].map((version) =>
    changeCard(changeIn('pending', { version }), drawing).blocks.map(({ block_id }) => block_id),
  );
  expect(three).not.toEqual(four);
});

test('the card of a waiting change says all that an approver has to know', () => {
  const change = changeIn('pending', { approvals: [{ by: ben.id, at: NOON }] });
  expect(changeCard(change, drawing).text).toMatchInlineSnapshot(`
    "○ <@U0ANA> requests: stop analytics-prod · K3M9QD · expires <!date^1795190400^{date_short_pretty} at {time}|2026-11-20T16:00:00.000Z>
    State  running → stopped
    prod · last seen running, <!date^1795168800^{date_short_pretty} at {time}|2026-11-20T10:00:00.000Z> · warehouse main
    ⚠ Queries and pipes of this service stop.
    Cost  about −18.0 credits a day, from 14 final days
    Approved  <@U0BEN> (1 of 2 from the approvers)
    Reason  nightly maintenance"
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

test('the cost has its range on card and preview, and is whole behind Show request', () => {
  const summary = {
    perDay: '−18.0 credits per day',
    withRange: '−18.0 credits per day (−9.0 to −26.0) · storage continues',
  };
  const text = '−18.0 credits per day (−9.0 to −26.0), from 14 days; −180.4 by month end';
  const plan = { ...PLAN, cost: { text, summary, perDay: -18, share: -1 } };
  const cost = ({ text: shown }: Message) => shown.split('\n').filter((line) => /^Cost/.test(line));
  const waiting = changeIn('pending', { plan });
  const draft = changeIn('draft', { plan });
  for (const each of [changeCard(waiting, drawing), preview(draft, drawing)]) {
    expect(cost(each)).toEqual([`Cost  ${summary.withRange}`]);
  }
  const whole = fullRequest(waiting, false, drawing);
  expect(cost(whole)).toEqual([`Cost  ${summary.withRange}`]);
  expect(whole.text).toContain(`Estimate  ${text}`);
});

test('what stays as it is in an alert is listed whole', () => {
  const labels = ['condition', 'channels (notifies Paging)', 'message', 'note', 'name', 'group by'];
  const over = { command: 'alert edit', plan: { ...PLAN, unchangedFields: labels } };
  const kept = (change: Change) => changeCard(change, drawing).text.match(/^Unchanged.*$/m)?.[0];
  expect(kept(changeIn('pending', over))).toBe(
    'Unchanged: condition, channels, message, note, name, group by',
  );
  const many = Array(40).fill('consecutive windows');
  const plan = { ...PLAN, unchangedFields: many };
  expect(kept(changeIn('pending', { ...over, plan }))).toBe(`Unchanged: ${many.join(', ')}`);
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

test.for<[string, string]>([
  ['ALERT', 'edit alert "5xx rate" (firing)'],
  ['OK', 'edit alert "5xx rate"'],
])('the title of a change quotes the alert, which is in state %s', ([state, asked]) => {
  const target = { ...PLAN.target, kind: 'alert', name: '5xx rate' } as const;
  const before = { fields: {}, volatileFields: { state }, seenAt: NOON, source: 'read' };
  const over = { command: 'alert edit', plan: { ...PLAN, target, before } };
  expect(changeCard(changeIn('pending', over), drawing).text).toContain(` requests: ${asked} · `);
  const question = preview(changeIn('draft', over), drawing).text.split('\n')[0];
  expect(question?.toLowerCase()).toBe(`${asked}?`);
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
