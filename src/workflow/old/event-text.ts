import type { InlinePart } from '../../domain/answer.ts';
import type { UserId } from '../../domain/change.ts';
import type { StoredEvent } from '../../log/old/append.ts';
import type { EventSubject } from '../../log/old/read-events.ts';

/** What the actor did, followed by the command and its target: `Ana requested service stop x`. */
const ACTIONS: Readonly<Record<string, string>> = {
  drafted: 'drafted',
  confirmed: 'requested',
  edited: 'withdrew, to edit,',
  approved: 'approved',
  rejected: 'rejected',
  cancelled: 'cancelled',
  claimed: 'started',
  'handed-back': 'could not send yet, and retries,',
  succeeded: 'sent; the server accepted:',
  failed: 'sent; the server rejected:',
  unknown: 'sent; outcome unknown:',
  resolved: 'recorded the outcome of',
  settled: 'read that the server applied',
  'glass-broken': 'used break-glass for',
  snoozed: 'snoozed for 1 h the reminders of',
  reviewed: 'reviewed the emergency change',
  expired: 'ended after its time limit:',
  stale: 'did not run, because the target changed:',
  denied: 'did not run, because of the current policy:',
  distrusted: 'stopped, because the audit trail or the database has a gap:',
  'planned-return': 'planned the revert',
  scheduled: 'planned, by its schedule,',
  kept: 'does not revert',
  unsealed: 'opened the password of',
  revealed: 'saw the password of',
  'not-revealed': 'may not have seen the password of',
  started: 'started',
  stopped: 'stopped',
  'key-changed': 'replaced the key of the audit trail',
  'key-started': 'continued the audit trail with the new key',
  restored: 'detected a restored database',
  'incident-expected': 'marked an anomaly as expected',
};

/** `12:04  Ana  approved service stop analytics-prod → approved · 7KQ2MX` */
export function eventLine(event: StoredEvent, subject: EventSubject | null): readonly InlinePart[] {
  const { at, body, to, changeId, from } = event;
  const what = subject ? ` ${subjectText(event, subject)}` : '';
  const state = to && to !== from ? ` → ${to}` : '';
  const id = changeId ? ` · ${changeId}` : '';
  return [{ at }, '  ', actorText(body.by), ` ${actionText(event)}${what}${state}${id}`];
}

// A refused command is named by the action already.
function subjectText({ kind, body }: StoredEvent, { command, target }: EventSubject): string {
  return kind === 'refused' && body.tried === command ? target : `${command} ${target}`;
}

function actorText(by: unknown): InlinePart {
  return typeof by === 'string' && /^[UW][A-Z0-9]+$/.test(by)
    ? { user: by as UserId }
    : 'Signalbox';
}

function actionText({ kind, body }: StoredEvent): string {
  if (kind === 'refused') return `was refused (${wordsOf(body.refusal)}): ${wordsOf(body.tried)}`;
  if (typeof body.did === 'string') return body.did;
  return ACTIONS[kind] ?? wordsOf(kind);
}

function wordsOf(name: unknown): string {
  return typeof name === 'string' ? name.replaceAll('-', ' ') : 'unknown action';
}

/** Lists the groups that were read for a decision, with size and age; null where none was read. */
export function evidenceLine({ body, at }: StoredEvent): readonly InlinePart[] | null {
  const groups = Array.isArray(body.groups) ? body.groups : [];
  const read = groups.flatMap((group) => groupEvidence(group, at));
  if (read.length === 0) return null;
  return [
    '      members of ',
    ...read.flatMap((one, index) => [...(index > 0 ? [', '] : []), ...one]),
  ];
}

function groupEvidence(group: unknown, at: Date): readonly (readonly InlinePart[])[] {
  if (typeof group !== 'object' || group === null) return [];
  const { id, size, readAt } = group as Readonly<Record<string, unknown>>;
  if (typeof id !== 'string' || typeof readAt !== 'string') return [];
  const ageS = Math.max(0, Math.round((at.getTime() - new Date(readAt).getTime()) / 1_000));
  return [[{ group: id }, ` (${String(size)} members, read ${ageS} s before)`]];
}
