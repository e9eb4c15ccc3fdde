import { expect, test } from 'vitest';
import { viewProblems } from '../../sandbox/slack/block-kit/validate.ts';
import { commands } from '../../src/commands/index.ts';
import type { RoleName } from '../../src/domain/change.ts';
import {
  type Change,
  type ChannelId,
  STATES,
  type State,
  type UserId,
} from '../../src/domain/change.ts';
import { homeView } from '../../src/slack/home.ts';
import { palette } from '../../src/slack/open-form.ts';
import { NO_REPLY_TARGET } from '../../src/slack/post.ts';
import { actor, changeIn, minutes, PLAN } from '../domain/changes-fixtures.ts';
import { drawing, EMPTY_LISTS, everyone, NASTY, NASTY_SEEN } from './fixtures.ts';

function drawn(lists: Partial<typeof EMPTY_LISTS>, who = everyone) {
  const found = { ok: true, actor: who, lists: { ...EMPTY_LISTS, ...lists } } as const;
  return homeView(found, { drawing, commands });
}

function many(count: number, state: State = 'pending', over: Partial<Change> = {}): Change[] {
  return Array.from({ length: count }, (_, index) =>
    // An id is only ever told apart here.
    changeIn(state, { ...over, id: `K${100 + index}QD` as Change['id'] }),
  );
}

function texts(view: object): string {
  return JSON.stringify(view);
}

test('a hundred changes in each list fit, and the rest is counted', () => {
  const card = { channel: 'C0APPROVALS' as ChannelId, ts: '1.000001' };
  const view = drawn({
    waiting: many(100, 'pending', { card }),
    mine: many(100, 'approved', { card }),
    running: many(100, 'executing', { card }),
    recent: many(8, 'succeeded', { card }),
    more: true,
  });
  expect(viewProblems(view)).toEqual([]);
  expect(texts(view)).toContain('Waiting for you (100+)');
  expect(texts(view)).toContain('90 more not shown. Each has its card.');
  expect(texts(view)).toContain('92 more not shown. Each has its card.');
  expect(texts(view)).toContain('90 more not shown."');
});

test('plans as long as they get are shown whole or not at all', () => {
  const long = 'ä'.repeat(3_000);
  const rows = Array.from({ length: 30 }, (_, index) => {
    return { field: `f${index}`, label: `Field ${index}`, before: long, after: long };
  });
  const plan = { ...PLAN, rows, body: { text: long }, warnings: Array(5).fill(long) };
  const view = drawn({
    waiting: many(100, 'pending', { plan }),
    mine: many(9, 'pending', { plan }),
  });
  expect(viewProblems(view)).toEqual([]);
  expect(Buffer.byteLength(texts(view))).toBeLessThan(250_000);
  const shown = texts(view).match(/"change\.approve"/g)?.length ?? 0;
  expect(shown).toBeGreaterThan(0);
  expect(texts(view).match(/Field 29/g)).toHaveLength(shown);
  expect(texts(view)).toContain(`${100 - shown} more not shown.`);
});

test.for(STATES.map((state) => [state] as const))('Slack takes a Home with %s', ([state]) => {
  const changes = many(2, state);
  const view = drawn({ waiting: changes, mine: changes, running: changes, recent: changes });
  expect(viewProblems(view)).toEqual([]);
});

test('names and reasons are shown as they were written', () => {
  const plan = { ...PLAN, target: { ...PLAN.target, name: NASTY }, warnings: [NASTY] };
  const changes = many(1, 'pending', { plan, reason: NASTY });
  const view = drawn({ waiting: changes, mine: changes, running: changes, recent: changes });
  expect(viewProblems(view)).toEqual([]);
  const shown = texts(view);
  expect(shown).toContain(JSON.stringify(NASTY_SEEN).slice(1, -1));
  expect(shown).not.toMatch(/"type":"(?:link|broadcast|emoji)"/);
});

test('who decides sees what the card says: target, values, warnings, requester, costs', () => {
  const [change] = many(1, 'pending', { expiresAt: minutes(30) });
  const shown = texts(drawn({ waiting: change ? [change] : [] }));
  for (const words of [
    'stop analytics-prod',
    'warehouse main',
    'running → ',
    '"action_id":"change.details"',
    'Queries and pipes of this service stop.',
    '"user_id":"U0ANA"',
    'nightly maintenance',
    'about −18.0 credits a day',
    '0 of 2 from ',
    `"timestamp":${minutes(30).getTime() / 1_000}`,
  ]) {
    expect(shown).toContain(words.includes('"') ? words : JSON.stringify(words).slice(1, -1));
  }
});

test('a card in direct messages is not linked to', () => {
  const card = { channel: 'D0ANA' as ChannelId, ts: '1.000001' };
  expect(texts(drawn({ running: many(1, 'executing', { card }) }))).not.toContain('card in');
});

test('only what a person may use is offered', () => {
  const viewer = texts(drawn({}, actor('U0DORA', 'viewer')));
  expect(viewer).toContain('"action_id":"command.service.list","value":"service list"');
  expect(viewer).toContain('"text":"Look up a service"');
  expect(viewer).not.toContain('command.service.stop');
  expect(viewer).not.toContain('pipe settings');
  const operator = texts(drawn({}, actor('U0ANA', 'operator')));
  expect(operator).toContain('"action_id":"command.service.stop","value":"service stop"');
  expect(operator).not.toContain('command.service.scale');
});

test.for(['lookup-failed', 'guest', 'deactivated', 'other-workspace'] as const)(
  'a Home that cannot be shown says why: %s',
  (refusal) => {
    const view = homeView({ ok: false, refusal }, { drawing, commands });
    expect(viewProblems(view)).toEqual([]);
    expect(texts(view)).not.toContain('Commands');
  },
);

test('Slack takes the palette with every command, and its metadata has ids only', () => {
  const view = palette(commands, { channel: 'C0OPS' as ChannelId, thread: '1.000001' });
  expect(viewProblems(view)).toEqual([]);
  const metadata = { channel: 'C0OPS', thread: '1.000001', was: {}, fixed: {} };
  expect(JSON.parse(view.private_metadata ?? '')).toEqual(metadata);
  expect(viewProblems(palette(commands, NO_REPLY_TARGET))).toEqual([]);
});

test('Home says where the answers of its buttons appear', () => {
  expect(texts(drawn({}))).toContain('Answers appear in the Messages tab.');
});

test('a user without a role reads first how to get one, from groups or from the users of the file', () => {
  const roles = (groups: readonly string[]) =>
    new Map([['viewer' as RoleName, { groups, users: ['U0BEN' as UserId] }]]);
  const homeWith = (groups: readonly string[]) => {
    const policy = { ...drawing.policy, roles: roles(groups) };
    const found = { ok: true, actor: actor('U0EMIL'), lists: EMPTY_LISTS } as const;
    return homeView(found, { drawing: { ...drawing, policy }, commands });
  };
  expect(texts(homeWith(['@team']))).toContain('Ask to join @team (viewer).');
  const listed = texts(homeWith([]));
  expect(listed).toContain('lists the users who have one. Ask one of them');
  expect(listed).toContain('"user_id":"U0BEN"');
  expect(listed).not.toContain('Waiting for you');
});
