import { expect, test } from 'vitest';
import { list } from '../../sandbox/json.ts';
import { type ChangeCommand, commands, fieldsOf } from '../../src/commands/index.ts';
import { type Change, type ChangeId, STATES, type State } from '../../src/domain/change.ts';
import type { Message } from '../../src/slack/blocks.ts';
import { changeCard } from '../../src/slack/card.ts';
import { preview } from '../../src/slack/preview.ts';
import { linesOf } from '../contracts/message-lines.ts';
import { ben, changeIn, minutes, NOON, PLAN, REQUIRES } from '../domain/changes-fixtures.ts';
import { drawing, expectSound, withNews } from './fixtures.ts';

const LONG = 'a long text that says more than fits on a line of a phone, '.repeat(9).trim();
const VALUE = 'previous value of forty characters here.';
const changeCommands = commands.filter((each) => each.kind === 'change');

/** A change with every field of its command, and the longest texts. */
function fullest(command: ChangeCommand, state: State, over: Partial<Change>): Change {
  const rows = fieldsOf(command.args).map(({ name, label }) => ({
    field: name,
    label,
    before: VALUE,
    after: VALUE,
  }));
  const before = { ...PLAN.before, fields: { state: 'running' }, wasRead: true } as const;
  const revert = { afterMs: 4 * 3_600_000, label: 'Start it again', line: '' };
  const differences = rows.map(({ label }) => ({ label, was: VALUE, is: VALUE }));
  return changeIn(state, {
    command: command.name,
    reason: LONG,
    plan: {
      ...PLAN,
      ...(command.unchanged ? { target: { ...PLAN.target, kind: 'alert' } } : {}),
      rows,
      body: { ...PLAN.body, scope: { everything: true }, until: minutes(60).toISOString() },
      before: { ...before, seenAt: NOON, source: 'read just now' },
      unchangedFields: command.unchanged ? rows.map(({ label }) => label) : [],
      warnings: Array(6).fill(LONG),
      gaps: [LONG, LONG],
      timing: { startAt: minutes(60).toISOString(), revert },
      cost: { text: LONG, perDay: -1, share: -1 },
    },
    requires: { ...REQUIRES, escalation: { to: 'operator', afterMs: 1 }, breakGlass: 'approver' },
    stateCheck: { kind: 'differs', differences, changedBy: null },
    ...over,
  });
}

const used = { by: ben.id, at: NOON, reason: LONG };
const candidate = { name: LONG, id: 'x'.repeat(36), state: 'running', createdAt: NOON };
const followUp = {
  state: 'open',
  seen: { text: LONG, at: NOON },
  gap: null,
  why: 'creation',
  candidates: [candidate, candidate],
  revision: 1,
} as const;
const child = { id: 'P7T2WA' as ChangeId, state: 'stale' } as const;

const VARIANTS: Readonly<Record<string, Partial<Change>>> = {
  'with every detail': {},
  'as an emergency': { breakGlass: used },
  'as a reviewed emergency': { breakGlass: used, review: { by: ben.id, at: NOON, note: LONG } },
  'with a follow-up': { followUp, child },
  'as a revert': { parent: 'P7T2WA' as ChangeId },
};

function drawn(change: Change): readonly Message[] {
  const cards = [changeCard(change, drawing)];
  if (change.state !== 'draft') return cards;
  const freeze = { from: NOON, until: minutes(60), on: null, reason: LONG, by: null };
  const related = { others: [change, change, change], freezes: [freeze as never] };
  return [...cards, preview(withNews(change, related), drawing)];
}

const cases = changeCommands.flatMap((command) =>
  STATES.map((state) => [command.name, state, command] as const),
);

test.for(cases)('%s, %s: Slack accepts the longest texts', ([, state, command]) => {
  for (const over of Object.values(VARIANTS)) {
    for (const message of drawn(fullest(command, state, over))) expectSound(message);
  }
});

test.for(changeCommands.map((command) => [command.name, command] as const))(
  '%s: reason, warnings and fields are shown whole, and break-glass stands in the menu only',
  ([, command]) => {
    for (const state of ['draft', 'pending'] as const) {
      const change = fullest(command, state, {});
      const messages = state === 'draft' ? drawn(change).slice(1) : drawn(change);
      for (const { blocks } of messages) {
        const shown = linesOf(blocks.map((block) => ({ ...block }))).join('\n');
        expect(shown.split(`⚠ ${LONG}`)).toHaveLength(7);
        expect(shown).toContain(`Reason  ${LONG}`);
        for (const { label } of change.plan.rows) expect(shown).toContain(label);
        const rows = blocks.map((block) => ({ ...block })).filter(({ type }) => type === 'actions');
        const elements = rows.flatMap((row) => list('elements' in row ? row.elements : []));
        expect(elements.map(({ action_id }) => action_id)).not.toContain('change.break-glass');
        expect(JSON.stringify(rows)).toContain('change.break-glass K3M9QD');
      }
    }
  },
);
