// What a tool answers. `summary` is Signalbox's and holds ids only; everything that others wrote is below `data`, cleaned
// and bounded, so that the name of a service cannot steer the model that reads it.

import type { CallToolResult } from '@modelcontextprotocol/server';
import { cleanText } from '../base/text.ts';
import type { Answer, AnswerPart, FactValue, Figure, InlinePart } from '../domain/answer.ts';
import { type Change, isEnded, type Refusal, type State } from '../domain/change.ts';
import type { Denial } from '../domain/gate.ts';

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

/** A result as the protocol has it: its `content` repeats what is structured. */
export function replyOf({ isError, ...structured }: ToolResult): CallToolResult {
  return {
    content: [{ type: 'text', text: JSON.stringify(structured) }],
    structuredContent: structured,
    ...(isError && { isError }),
  };
}

const STATE_SENTENCES: Readonly<Record<State, string>> = {
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
  stale: 'The target changed since the preview. Nothing was sent.',
  denied: 'The policy does not allow it any more. Nothing was sent.',
};

/** A change as its own agent sees it. `link` is the permalink of its card. */
export function changeResult(change: Change, link: string | null, lead = ''): ToolResult {
  const { id, plan, requires, state } = change;
  const { before = [], others = [] } = change.news ?? {};
  return {
    summary: `${lead}${id}: ${STATE_SENTENCES[state]}`,
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

const MOST_ROWS = 30;

function changeData({ plan, reason, rejection, outcome }: Change) {
  return {
    target: cleanText(plan.target.name),
    changes: plan.rows.slice(0, MOST_ROWS).map(({ label, before, after }) => {
      return { field: cleanText(label), before: plainValue(before), after: plainValue(after) };
    }),
    warnings: plan.warnings.slice(0, MOST_ROWS).map((text) => cleanText(text)),
    cost: plan.cost && cleanText(plan.cost.text),
    reason: reason && cleanText(reason),
    rejection: rejection && cleanText(rejection.reason),
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
  return {
    summary: 'Answered. The answer is below data.',
    data: {
      title: cleanText(title),
      ...(change && { change: changeLine(change.change) }),
      parts: parts.flatMap((part) => partOf(part) ?? []),
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
      return { text: part.lines.slice(0, MOST_ROWS).map(cellOf) };
    case 'facts':
      return tableOf(part.facts);
    case 'table':
      return { columns: part.columns.map(cellOf), ...tableOf(part.rows) };
    case 'rows':
      return tableOf(part.rows.map(({ text, about }) => [text, about]));
    case 'changes':
      return { changes: part.changes.slice(0, MOST_ROWS).map(changeLine) };
    default:
      return null;
  }
}

function changeLine({ id, state, command, plan }: Change) {
  return { id, state, command, target: cleanText(plan.target.name) };
}

function tableOf(rows: readonly (readonly FactValue[])[]) {
  return {
    rows: rows.slice(0, MOST_ROWS).map((row) => row.map(cellOf)),
    more: Math.max(0, rows.length - MOST_ROWS),
  };
}

/** Long text as lines of at most 200 characters. */
function linesOf(text: string): readonly string[] {
  const words = cleanText(text, 200 * MOST_ROWS);
  return words.match(/.{1,200}(?=\s|$)|\S{200}/gu)?.map((line) => line.trim()) ?? [];
}

function cellOf(value: FactValue): string | number | null {
  if (value === null || typeof value === 'number') return value;
  return cleanText(isInline(value) ? value.map(textOf).join('') : textOf(value));
}

const isInline = (value: FactValue): value is readonly InlinePart[] => Array.isArray(value);

function textOf(value: InlinePart | Date | Figure): string {
  if (typeof value === 'string') return value;
  if (value instanceof Date) return value.toISOString();
  if ('at' in value) return value.at.toISOString();
  return 'text' in value ? value.text : Object.values(value).join('');
}
