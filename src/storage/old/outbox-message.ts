import type { JsonObject } from '../../base/text.ts';
import { type ChangeId, STATES, type State, type UserId } from '../../domain/change.ts';

export type Reminder = 'waiting' | 'escalated' | 'unknown';
export type BreakGlassEvent = 'used' | 'reviewed';

/** One member of the union for each kind, so that comparing `kind` narrows the type. */
type Message<Kind extends string, Body> = Kind extends string
  ? { readonly kind: Kind } & Body
  : never;

/** A message that is drawn from the current state of its change when it is delivered. */
export type ChangeMessage = { readonly changeId: ChangeId } & (
  | Message<
      | 'card'
      | 'card-repost'
      | 'audit'
      | 'unfreeze-offer'
      | 'follow-up'
      | 'direct-cards'
      | 'schedule-reminder',
      unknown
    >
  /** Reports the state that the change entered: in the thread, or directly to the requester. */
  | Message<'thread' | 'direct', { readonly state: State }>
  /** The copy of the card in the direct messages of an approver. */
  | Message<'direct-card', { readonly user: UserId }>
  | Message<'break-glass' | 'audit-break-glass', { readonly event: BreakGlassEvent }>
  | Message<'reminder', { readonly reminder: Reminder; readonly number: number }>
  | Message<'revert-stopped', { readonly why: string }>
  /** Reports in the thread of a schedule what became of it; one for each `key`. */
  | Message<'schedule-note', { readonly key: string; readonly text: string }>
);

/** A message that belongs to no change; its body holds everything that is posted. */
export type ReportMessage = { readonly changeId?: never } & Message<
  ReportKind,
  { readonly body: JsonObject }
>;

const REPORTS = ['report', 'redraw', 'notice'] as const;
type ReportKind = (typeof REPORTS)[number];

export type OutboxMessage = ChangeMessage | ReportMessage;

const KINDS: Readonly<Record<OutboxMessage['kind'], true>> = {
  card: true,
  'card-repost': true,
  'direct-cards': true,
  'direct-card': true,
  audit: true,
  'unfreeze-offer': true,
  thread: true,
  direct: true,
  'break-glass': true,
  'audit-break-glass': true,
  reminder: true,
  'follow-up': true,
  'revert-stopped': true,
  'schedule-reminder': true,
  'schedule-note': true,
  report: true,
  redraw: true,
  notice: true,
};
/** Every kind; a new one does not compile without its entry. */
export const MESSAGE_KINDS: readonly string[] = Object.keys(KINDS);

interface StoredMessage {
  readonly changeId: ChangeId | null;
  readonly kind: string;
  readonly body: JsonObject | null;
}

/** The kinds of a change that have nothing but the change: the state is read at the delivery. */
const PLAIN = [
  'card',
  'card-repost',
  'audit',
  'unfreeze-offer',
  'follow-up',
  'direct-cards',
  'schedule-reminder',
] as const;
export const REMINDER_PREFIX = 'remind:';
const REMINDERS: readonly Reminder[] = ['waiting', 'escalated', 'unknown'];
const BREAK_GLASS: readonly BreakGlassEvent[] = ['used', 'reviewed'];

/** Returns the stored form; a message without a body replaces a waiting one of the same kind. */
export function encodeMessage(message: OutboxMessage): StoredMessage {
  const changeId = message.changeId ?? null;
  switch (message.kind) {
    case 'report':
    case 'redraw':
    case 'notice':
      return { changeId, kind: message.kind, body: message.body };
    case 'thread':
    case 'direct':
      return { changeId, kind: `${message.kind}:${message.state}`, body: null };
    case 'direct-card':
      return { changeId, kind: `${message.kind}:${message.user}`, body: null };
    case 'break-glass':
    case 'audit-break-glass':
      return { changeId, kind: `${message.kind}:${message.event}`, body: null };
    case 'reminder': {
      const { reminder, number } = message;
      return { changeId, kind: `${REMINDER_PREFIX}${reminder}:${number}`, body: null };
    }
    case 'revert-stopped':
      return { changeId, kind: message.kind, body: { why: message.why } };
    case 'schedule-note':
      return { changeId, kind: `schedule:${message.key}`, body: { text: message.text } };
    default:
      return { changeId, kind: message.kind, body: null };
  }
}

/** Returns null for a kind that this release does not know: a newer release stored it. */
export function decodeMessage({ changeId, kind, body }: StoredMessage): OutboxMessage | null {
  if (changeId === null) {
    const report = REPORTS.find((each) => each === kind);
    return report ? { kind: report, body: body ?? {} } : null;
  }
  const [head = '', detail = '', number] = kind.split(':');
  const plain = PLAIN.find((each) => each === kind);
  if (plain) return { changeId, kind: plain };
  if (head === 'thread' || head === 'direct') {
    const state = STATES.find((each) => each === detail);
    return state ? { changeId, kind: head, state } : null;
  }
  // Only Signalbox writes this table, with the id of a user there.
  if (head === 'direct-card') return { changeId, kind: head, user: detail as UserId };
  if (head === 'break-glass' || head === 'audit-break-glass') {
    const event = BREAK_GLASS.find((each) => each === detail);
    return event ? { changeId, kind: head, event } : null;
  }
  if (kind.startsWith(REMINDER_PREFIX)) {
    const reminder = REMINDERS.find((each) => each === detail);
    return reminder ? { changeId, kind: 'reminder', reminder, number: Number(number) } : null;
  }
  if (head === 'schedule') {
    const key = kind.slice('schedule:'.length);
    return { changeId, kind: 'schedule-note', key, text: String(body?.text) };
  }
  return kind === 'revert-stopped' ? { changeId, kind, why: String(body?.why) } : null;
}
