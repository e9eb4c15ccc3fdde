import { expect, test } from 'vitest';
import type { Change, News } from '../../src/domain/change.ts';
import { answeredPreview, preview } from '../../src/slack/preview.ts';
import { changeIn, minutes, PLAN, REQUIRES } from '../domain/changes-fixtures.ts';
import { buttonsOf as buttonsIn } from '../harness/messages.ts';
import { channel } from '../workflow/context.ts';
import { blocksOf, drawing, withNews } from './fixtures.ts';

test('a preview shows what will be sent, what is known, who must approve and what else is open', () => {
  const draft = changeIn('draft');
  const other = changeIn('pending', { createdAt: minutes(-12) });
  expect(preview(withNews(draft, { others: [other] }), drawing).text).toMatchInlineSnapshot(`
    "Stop analytics-prod?
    State  running → stopped
    prod · last seen running, <!date^1795168800^{date_short_pretty} at {time}|2026-11-20T10:00:00.000Z> · warehouse main
    ⚠ <@U0ANA> requested “stop analytics-prod” <!date^1795175280^{date_short_pretty} at {time}|2026-11-20T11:48:00.000Z> (K3M9QD: waiting for approval).
    ⚠ Queries and pipes of this service stop.
    Cost  about −18.0 credits a day, from 14 final days
    Approval  2 of @db-leads, not you · expires in 4 h
    Reason  nightly maintenance"
  `);
});

test('a preview says that an unknown outcome of its target must be recorded first', () => {
  const unknown = changeIn('unknown');
  const text = (found: Partial<News>) => preview(withNews(changeIn('draft'), found), drawing).text;
  expect(text({ others: [unknown] })).toContain('A new request waits until it is recorded');
  expect(text({ others: [changeIn('pending')] })).not.toContain('A new request waits');
});

test('of many other changes three lines are shown, first what blocks, and the rest is counted', () => {
  const states = ['pending', 'unknown', 'pending', 'approved'] as const;
  const others = states.map((state) => changeIn(state));
  const { text } = preview(withNews(changeIn('draft'), { others }), drawing);
  const shown = text.match(/\(K3M9QD: [a-z ]+\)|And 1 more change/g);
  expect(shown).toEqual([
    '(K3M9QD: outcome unknown)',
    '(K3M9QD: waiting for approval)',
    '(K3M9QD: waiting for approval)',
    'And 1 more change',
  ]);
});

const of = (over: Partial<Change['requires']>) => ({ requires: { ...REQUIRES, ...over } });

test.for<[string, Partial<Change>, string]>([
  ['nobody must approve', of({ from: null, count: 0 }), 'not required'],
  ['the requester may approve', of({ self: true }), '2 of @db-leads · expires'],
  ['minutes are left', of({ expiresAfterMs: 45 * 60_000 }), 'expires in 45 min'],
  ['hours are left', of({ expiresAfterMs: 90 * 60_000 }), 'expires in 1.5 h'],
  ['nothing was seen', { plan: { ...PLAN, before: null } }, 'never seen'],
])('a preview says so when %s', ([, over, words]) => {
  expect(preview(changeIn('draft', over), drawing).text).toContain(words);
});

const CARD = { channel: channel('CDEV'), ts: '1.2' };

test.for<[string, Change, string]>([
  ['its card is posted', changeIn('pending', { card: null }), 'Its card goes to #db-approvals.'],
  ['it waits', changeIn('pending', { card: CARD }), 'Sent to #db-approvals.'],
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

test('an open change of the target is listed before those that did the same within the hour', () => {
  const done = [1, 2, 3, 4].map((ago) => changeIn('succeeded', { createdAt: minutes(-ago) }));
  const others = [...done, changeIn('pending', { createdAt: minutes(-12) })];
  const { text } = preview(withNews(changeIn('draft'), { others }), drawing);
  expect(text).toContain('waiting for approval');
  expect(text).toContain('And 2 more changes of this target.');
});
