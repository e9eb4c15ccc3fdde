// What a tool answers. `summary` is Signalbox's and holds ids only; everything that others wrote is below `data`, cleaned
// and bounded, so that the name of a service cannot steer the model that reads it.

import { cleanText } from '../base/text.ts';
import type { Answer, AnswerPart, Cell, FactValue, InlinePart } from '../domain/answer.ts';
import { type Change, isEnded, type Refusal, type State } from '../domain/change.ts';
import type { Denial } from '../domain/gate.ts';
import { staleText } from '../domain/words.ts';

export interface ToolResult {
  readonly summary: string;
  /** The call had no effect, or not the wanted one. */
  readonly isError?: true;
  readonly [field: string]: unknown;
}

export const failure = (summary: string, more: object = {}): ToolResult => ({
  summary,
  isError: true,
  ...more,
});

const STATE_SENTENCES: Readonly<Record<Exclude<State, 'stale'>, string>> = {
  draft: 'Nothing is requested yet: the person must press Request approval in Slack.',
  pending: 'It waits for approval in Slack.',
  approved: 'It is approved and runs when it is due.',
  executing: 'It is running.',
  succeeded: 'The server accepted it.',
  failed: 'The server refused it. Nothing was changed.',
  unknown: 'The outcome is unknown. Do not request it again: people check it.',
  rejected: 'It was rejected. Do not request it again without a new reason from a person.',
  cancelled: 'It was cancelled.',
  expired: 'It expired. Nothing was changed.',
  denied: 'The policy does not allow it any more. Nothing was sent.',
};

function stateSentence({ state, stopReason }: Change): string {
  if (state !== 'stale') return STATE_SENTENCES[state];
  return `It was not run: ${staleText(stopReason)}. Nothing was sent.`;
}

/** A change as its own agent sees it. `link` is the permalink of its card. */
export function changeResult(change: Change, link: string | null, lead = ''): ToolResult {
  const { id, plan, requires, state } = change;
  const { before = [], others = [] } = change.news ?? {};
  return {
    summary: `${lead}${id}: ${stateSentence(change)}`,
    change: id,
    ...{ state, version: change.version, ended: isEnded(change) },
    ...{ digest: change.digest, card: link },
    created: change.createdAt.toISOString(),
    expires: change.expiresAt.toISOString(),
    approvals: {
      ...{ needed: requires.count, given: change.approvals.length },
      ...{ from: requires.from, rule: requires.rule },
    },
    plan: {
      sends: plan.sends,
      target: { kind: plan.target.kind, id: cleanText(plan.target.id, 64) },
      timing: plan.timing && {
        startAt: plan.timing.startAt,
        revertAfterMs: plan.timing.revert?.afterMs ?? null,
      },
    },
    related: [...before, ...others].map((other) => other.id),
    data: changeData(change),
  };
}

const ROWS = 30;

function changeData({ plan, reason, rejection, outcome }: Change) {
  return {
    target: cleanText(plan.target.name),
    changes: plan.rows.slice(0, ROWS).map(({ label, before, after }) => {
      return { field: cleanText(label), before: plainValue(before), after: plainValue(after) };
    }),
    warnings: plan.warnings.slice(0, ROWS).map((text) => cleanText(text)),
    cost: plan.cost ? cleanText(plan.cost.text) : null,
    reason: reason === null ? null : cleanText(reason),
    rejection: rejection ? cleanText(rejection.reason) : null,
    reported: outcome?.how === 'succeeded' ? outcome.reported.map((text) => cleanText(text)) : [],
    error: outcome && outcome.how !== 'succeeded' ? cleanText(outcome.text) : null,
  };
}

function plainValue(value: unknown): string | number | boolean | null {
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return value;
  return cleanText(typeof value === 'string' ? value : JSON.stringify(value));
}

/** The sentences for what an agent can do something about; any other refusal has its name. */
const REFUSAL_SENTENCES: Partial<Readonly<Record<Refusal, string>>> = {
  'not-a-requester': 'No rule allows this request.',
  'no-rule': 'No rule allows this request.',
  'not-an-approver': 'No rule allows it.',
  'not-found': 'You have no request with this id.',
  'already-received': 'This call was already received.',
  'already-decided': 'It is too late: it was decided or sent. See request_status.',
  'key-used': 'This key was used for another request in the last 7 days. Use another key.',
  'agent-not-admitted': 'No rule admits this agent here. A person can request it in Slack.',
  'agent-limit': 'This agent has as many requests as it may have.',
  'rate-limited': 'Too many requests. Try again later.',
  'reason-required': 'A reason is required. Give reason.',
  'lookup-failed': 'Slack did not answer the membership lookup. Try again in a minute.',
  frozen: 'A freeze is active. The freezes are in change_freezes.',
  never: 'The policy never allows it.',
  guest: 'Guests cannot use Signalbox.',
  bot: 'Only people can use Signalbox.',
  deactivated: 'The account of this person is not active.',
  'other-workspace': 'This person is of another workspace.',
};

export function deniedResult({ refusal, rule, role, until, change }: Denial): ToolResult {
  const known: string | undefined = REFUSAL_SENTENCES[refusal];
  return failure(known ?? `Refused: ${refusal.replaceAll('-', ' ')}.`, {
    ...{ refusal, rule, role, until: until?.toISOString() ?? null },
    ...(change && { change: change.id, state: change.state }),
  });
}

/** The answer of a query, as data. */
export function answerResult({ title, parts, change, refused }: Answer): ToolResult {
  if (refused) return failure(`Refused: ${refused.refusal.replaceAll('-', ' ')}.`);
  const shown = parts.flatMap((part) => partOf(part) ?? []);
  return {
    summary: 'Answered. The answer is below data.',
    data: {
      title: cleanText(title),
      ...(change && { change: changeLine(change.change) }),
      parts: shown,
    },
  };
}

/** Buttons, menus and files are for people. */
function partOf(part: AnswerPart): object | null {
  switch (part.kind) {
    case 'text':
    case 'note':
      return { text: linesOf(part.text) };
    case 'lines':
      return { text: part.lines.slice(0, ROWS).map(inlineText) };
    case 'facts':
      return {
        facts: part.facts.slice(0, ROWS).map(([name, value]) => [cleanText(name), factOf(value)]),
      };
    case 'table':
      return {
        columns: part.columns.map((text) => cleanText(text)),
        rows: part.rows.slice(0, ROWS).map((row) => row.map(cellOf)),
        more: Math.max(0, part.rows.length - ROWS),
      };
    case 'rows':
      return {
        rows: part.rows
          .slice(0, ROWS)
          .map(({ text, about }) => [cleanText(text), inlineText(about)]),
        more: Math.max(0, part.rows.length - ROWS),
      };
    case 'changes':
      return { changes: part.changes.slice(0, ROWS).map(changeLine) };
    default:
      return null;
  }
}

function changeLine({ id, state, command, plan }: Change) {
  return { id, state, command, target: cleanText(plan.target.name) };
}

/** Long text as lines of at most 200 characters. */
function linesOf(text: string): readonly string[] {
  const words = cleanText(text, 200 * ROWS);
  return words.match(/.{1,200}(?=\s|$)|\S{200}/gu)?.map((line) => line.trim()) ?? [];
}

function inlineText(parts: readonly InlinePart[]): string {
  return cleanText(parts.map(inline).join(''));
}

function inline(part: InlinePart): string {
  if (typeof part === 'string') return part;
  if ('bold' in part) return part.bold;
  if ('user' in part) return part.user;
  return 'group' in part ? part.group : part.at.toISOString();
}

function factOf(value: FactValue): string | number | null {
  return isInline(value) ? inlineText(value) : cellOf(value);
}

function isInline(value: FactValue): value is readonly InlinePart[] {
  return Array.isArray(value);
}

function cellOf(value: Cell): string | number | null {
  if (value === null || typeof value === 'number') return value;
  if (value instanceof Date) return value.toISOString();
  return cleanText(typeof value === 'string' ? value : value.text);
}
