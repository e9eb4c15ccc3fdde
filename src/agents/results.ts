// What a tool answers. `summary` is Signalbox's and holds ids only; everything that others wrote is below `data`, cleaned
// and bounded, so that the name of a service cannot steer the model that reads it.

import type { CallToolResult } from '@modelcontextprotocol/server';
import { ApiError } from '../base/errors.ts';
import { isRecord } from '../base/http-answer.ts';
import { cleanText } from '../base/text.ts';
import type { Answer, AnswerPart, FactValue } from '../domain/answer.ts';
import { type Change, isEnded, type Refusal, type State } from '../domain/change.ts';
import type { Denial } from '../domain/gate.ts';
import { staleText } from '../domain/words.ts';

export interface ToolResult {
  readonly summary: string;
  /** The call had no effect, or not the wanted one. */
  readonly isError?: true;
  readonly [field: string]: unknown;
}

export function failure(summary: string, more: object = {}): ToolResult {
  return { summary, isError: true, ...more };
}

/** A result as it leaves: its `content` repeats what is structured. */
export function replyOf({ isError, ...result }: ToolResult): CallToolResult {
  const text = JSON.stringify(result, harmless);
  return {
    content: [{ type: 'text', text }],
    structuredContent: JSON.parse(text),
    ...(isError && { isError }),
  };
}

const MOST_ROWS = 30;

/** Nothing leaves with what people cannot see: each text is one line of at most 200 characters, each list has 30 rows. */
function harmless(_: string, value: unknown): unknown {
  if (typeof value === 'string') return cleanText(value);
  if (Array.isArray(value)) return value.slice(0, MOST_ROWS);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [cleanText(key), each]));
}

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
  const { id, plan, state, outcome } = change;
  const { count: needed, from, rule } = change.requires;
  return {
    summary: `${lead}${id}: ${stateSentence(change)}`,
    change: id,
    ...{ state, version: change.version, ended: isEnded(change) },
    ...{ digest: change.digest, card: link },
    ...{ created: change.createdAt, expires: change.expiresAt },
    approvals: { needed, given: change.approvals.length, from, rule },
    plan: {
      sends: plan.sends,
      target: { kind: plan.target.kind, id: plan.target.id },
      // The line of a revert names its service.
      timing: plan.timing && {
        startAt: plan.timing.startAt,
        revertAfterMs: plan.timing.revert?.afterMs ?? null,
      },
    },
    related: (change.news?.others ?? []).map((other) => other.id),
    data: {
      target: plan.target.name,
      changes: plan.rows.map(({ label, before, after }) => ({ field: label, before, after })),
      warnings: plan.warnings,
      cost: plan.cost?.text ?? null,
      reason: change.reason,
      rejection: change.rejection?.reason ?? null,
      reported: outcome?.how === 'succeeded' ? outcome.reported : [],
      error: outcome && outcome.how !== 'succeeded' ? outcome.text : null,
    },
  };
}

/** The sentences for what an agent can do something about; any other refusal has its name. */
const REFUSAL_SENTENCES: Partial<Readonly<Record<Refusal, string>>> = {
  'not-a-requester': 'No rule allows this request.',
  'no-rule': 'No rule allows this request.',
  'not-found': 'You have no request with this id.',
  'already-received': 'This call was already received.',
  'already-decided': 'It is too late: it was decided or sent. See request_status.',
  'key-used': 'This key was used for another request in the last 7 days. Use another key.',
  'agent-not-admitted': 'No rule admits this agent here. A person can request it in Slack.',
  'agent-limit': 'This agent has as many requests as it may have.',
  'reason-required': 'A reason is required. Give reason.',
  'lookup-failed': 'The membership lookup in Slack failed. Try again in a minute.',
  frozen: 'A freeze is active. The freezes are in change_freezes.',
  never: 'The policy never allows it.',
  guest: 'Guests cannot use Signalbox.',
  deactivated: 'The account of this person is not active.',
  'other-workspace': 'This person is of another workspace.',
  'unlisted-workspace': 'This person is of a workspace that Signalbox does not serve.',
};

export function deniedResult({ refusal, rule, role, until, change }: Denial): ToolResult {
  const known: string | undefined = REFUSAL_SENTENCES[refusal];
  return failure(known ?? `Refused: ${refusal.replaceAll('-', ' ')}.`, {
    ...{ refusal, rule, role, until },
    ...(change && { change: change.id, state: change.state }),
  });
}

/** A call that ended in a fault: of a server, which is none of Signalbox, or of Signalbox. */
export function brokenResult(error: unknown): ToolResult {
  if (error instanceof ApiError) {
    const data = { error: `${error.sentence} ${error.serverText ?? ''}` };
    const silent = 'A server did not answer. Nothing was requested. Try again later.';
    return failure(silent, { refusal: 'server-error', data });
  }
  const broken = 'Signalbox had an internal error. Send it again: the same request is made once.';
  return failure(broken, { refusal: 'internal-error' });
}

/** The answer of a query, as data. */
export function answerResult({ title, parts, change, refused }: Answer): ToolResult {
  if (refused) return failure(`Refused: ${refused.refusal.replaceAll('-', ' ')}.`);
  const own = change && { change: changeLine(change.change) };
  const data = { title, ...own, parts: parts.flatMap((part) => partOf(part) ?? []) };
  return { summary: 'Answered. The answer is below data.', data };
}

/** Buttons, menus and files are for people. */
function partOf(part: AnswerPart): object | null {
  switch (part.kind) {
    case 'text':
    case 'note':
      return { text: linesOf(part.text) };
    case 'lines':
      return { text: part.lines.map(plain) };
    case 'facts':
      return tableOf(part.facts);
    case 'table':
      return { columns: part.columns, ...tableOf(part.rows) };
    case 'rows':
      return tableOf(part.rows.map(({ text, about }) => [text, about]));
    case 'changes':
      return { changes: part.changes.map(changeLine) };
    default:
      return null;
  }
}

function changeLine({ id, state, command, plan }: Change) {
  return { id, state, command, target: plan.target.name };
}

function tableOf(rows: readonly (readonly FactValue[])[]) {
  return { rows: rows.map((row) => row.map(plain)), more: Math.max(0, rows.length - MOST_ROWS) };
}

/** Long text as lines of at most 200 characters. */
function linesOf(text: string): readonly string[] {
  const words = cleanText(text, 200 * MOST_ROWS);
  return words.match(/.{1,200}(?=\s|$)|\S{200}/gu)?.map((line) => line.trim()) ?? [];
}

/** A cell, or the parts of a line as one text. */
function plain(value: FactValue): string | number | Date | null {
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  if ('text' in value) return value.text;
  const texts = value.map((part) => (typeof part === 'string' ? [part] : Object.values(part)));
  return texts
    .flat()
    .map((text) => (text instanceof Date ? text.toISOString() : text))
    .join('');
}
