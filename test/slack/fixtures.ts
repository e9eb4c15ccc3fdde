import { expect } from 'vitest';
import { messageProblems } from '../../sandbox/slack/block-kit/validate.ts';
import { commands } from '../../src/commands/index.ts';
import type { Change, News, RoleName } from '../../src/domain/change.ts';
import type { Message } from '../../src/slack/blocks.ts';
import type { DrawContext } from '../../src/slack/naming.ts';
import type { HomeLists } from '../../src/workflow/context.ts';
import { actor, NOON } from '../domain/changes-fixtures.ts';
import { policyOf } from '../domain/policy-fixtures.ts';

const TWO = { from: 'approver', count: 2 };
const RULES = [
  { allow: ['service list', 'service show'], to: 'viewer' },
  { allow: ['service stop', 'service start'], to: 'operator', approvals: TWO, reason: 'required' },
];

export const drawing: DrawContext = {
  prefix: '',
  policy: policyOf(RULES),
  commands: new Map(
    commands.flatMap((each) => (each.kind === 'change' ? [[each.name, each]] : [])),
  ),
  groupIds: (role: RoleName) => (role === 'approver' ? ['S0LEADS'] : []),
  linkOf: () => null,
  isLost: () => false,
  lookupRefusal: () => null,
  console: null,
};

/** A change with what surrounds it. */
export function withNews(change: Change, news: Partial<News>): Change {
  const alone = { others: [], freezes: [], target: null, refusal: null };
  return { ...change, news: { ...alone, ...news } };
}

/** A name that would ping, link, style and turn round whatever it stands in. */
export const NASTY =
  '<!channel> & <@U1> *x* _y_ `z` :bomb: <https://evil.example|click> \u202egnp.exe\u202c \u200bz';
export const NASTY_SEEN = NASTY.replace(/[\u202e\u202c\u200b]/g, '');

// What we write ourselves: a mention, and a date in the reader's own zone.
const OURS = /<@U[A-Z0-9]+>|<!date\^\d+\^[^|<>]+\|[^|<>]+>/g;

interface Node {
  readonly [key: string]: unknown;
}

function nodesOf(value: unknown): readonly Node[] {
  if (Array.isArray(value)) return value.flatMap(nodesOf);
  if (typeof value !== 'object' || value === null) return [];
  // An object that was just drawn as JSON has no keys but strings.
  return [value as Node, ...Object.values(value).flatMap(nodesOf)];
}

function markupIn(text: string): string | null {
  return /<|>|&(?!(?:amp|lt|gt);)/.exec(text.replace(OURS, ''))?.[0] ?? null;
}

/** Everything that Slack shows of the blocks of a message as plain text. */
export function shownIn({ blocks }: Message): string {
  const leaves = nodesOf(blocks).filter(({ text }) => typeof text === 'string');
  return leaves.map(({ text }) => text).join('\n');
}

/** Slack takes it, reads no markup in it but ours, and it can be read without its blocks too. */
export function expectSound(message: Message): void {
  expect(messageProblems(message.blocks)).toEqual([]);
  expect(message.text).not.toBe('');
  expect([...message.text].length).toBeLessThanOrEqual(3_500);
  expect(markupIn(message.text)).toBeNull();

  const nodes = nodesOf(message.blocks);
  const marked = nodes.filter(({ type }) => type === 'mrkdwn').map(({ text }) => String(text));
  expect(marked.filter((text) => markupIn(text) !== null)).toEqual([]);
  expect(marked.filter((text) => /[*_`:]\w+[*_`:]/.test(text.replace(OURS, '')))).toEqual([]);
  const kinds = nodes.map(({ type }) => String(type));
  const acting = ['broadcast', 'link', 'channel', 'emoji', 'markdown'];
  expect(kinds.filter((kind) => acting.includes(kind))).toEqual([]);
  const people = nodes.filter(({ type }) => type === 'user').map(({ user_id }) => user_id);
  expect(people).not.toContain('U1');
}

/** What Home shows where there is nothing to show. */
export const EMPTY_LISTS: HomeLists = {
  ...{ waiting: [], toAnswer: [], mine: [], running: [], recent: [], schedules: [], standing: [] },
  ...{ services: null, costs: null, more: false, at: NOON },
};

export const everyone = actor('U0ANA', 'viewer', 'operator', 'approver');

/** The blocks of a message as the readers of messages take them. */
export function blocksOf({ blocks }: Pick<Message, 'blocks'>) {
  return blocks.map((block) => ({ ...block }));
}
