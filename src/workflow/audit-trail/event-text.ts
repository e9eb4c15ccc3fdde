import type { UserId } from '../../changes/change.ts';
import type { InlinePart } from '../../intent/answers/answer.ts';
import type { StoredEvent } from '../../storage/audit/append.ts';
import type { EventSubject } from '../../storage/audit/read-back.ts';

/** What each kind of event tells, read behind the name of whoever did it. */
const DEEDS: Readonly<Record<string, string>> = {
  drafted: 'prepared',
  confirmed: 'asked for',
  edited: 'took back to edit',
  approved: 'approved',
  rejected: 'rejected',
  cancelled: 'cancelled',
  claimed: 'began',
  'handed-back': 'did not send, and tries again,',
  succeeded: 'sent, and the server accepted,',
  failed: 'sent, and the server refused,',
  unknown: 'sent, and nobody knows what became of,',
  resolved: 'told what became of',
  'glass-broken': 'went ahead alone with',
  reviewed: 'looked afterwards at',
  expired: 'let expire',
  stale: 'did not run, for something had changed,',
  denied: 'did not run, for the policy refuses it now,',
  distrusted: 'gave up, after a restore,',
  'planned-return': 'planned to take back with',
  kept: 'leaves as it is',
  unsealed: 'asked to see the password of',
  revealed: 'was shown the password of',
  'not-revealed': 'was perhaps not shown the password of',
  started: 'started',
  stopped: 'stopped',
  restored: 'found that the database was restored',
};

/** `12:04  Ana  approved  service stop analytics-prod → approved · 7KQ2MX`. */
export function eventLine(event: StoredEvent, subject: EventSubject | null): readonly InlinePart[] {
  const { at, body, to, changeId, from } = event;
  const what = subject ? ` ${subjectWords(event, subject)}` : '';
  const state = to && to !== from ? ` → ${to}` : '';
  const id = changeId ? ` · ${changeId}` : '';
  return [{ at }, '  ', whoDid(body.by), ` ${deedOf(event)}${what}${state}${id}`];
}

// What was tried is its command already, unless it was a verb about a change.
function subjectWords({ kind, body }: StoredEvent, { command, target }: EventSubject): string {
  return kind === 'refused' && body.tried === command ? target : `${command} ${target}`;
}

export function whoDid(by: unknown): InlinePart {
  // An id of Slack, as we stored it; everything else is the bot itself.
  return typeof by === 'string' && /^[UW][A-Z0-9]+$/.test(by)
    ? { user: by as UserId }
    : 'Signalbox';
}

function deedOf({ kind, body }: StoredEvent): string {
  if (kind === 'refused') return `was refused (${wordsOf(body.refusal)}): ${wordsOf(body.tried)}`;
  if (typeof body.did === 'string') return body.did;
  return DEEDS[kind] ?? wordsOf(kind);
}

function wordsOf(name: unknown): string {
  return typeof name === 'string' ? name.replaceAll('-', ' ') : 'something';
}

/** On whose word: the groups that were read for it, how large they were, and how long before. */
export function evidenceLine({ body, at }: StoredEvent): readonly InlinePart[] | null {
  const groups = Array.isArray(body.groups) ? body.groups : [];
  const read = groups.flatMap((group) => evidenceOf(group, at));
  if (read.length === 0) return null;
  return [
    '      checked in ',
    ...read.flatMap((one, index) => [...(index > 0 ? [', '] : []), ...one]),
  ];
}

function evidenceOf(group: unknown, at: Date): readonly (readonly InlinePart[])[] {
  if (typeof group !== 'object' || group === null) return [];
  const { id, size, readAt } = group as Readonly<Record<string, unknown>>;
  if (typeof id !== 'string' || typeof readAt !== 'string') return [];
  const ageS = Math.max(0, Math.round((at.getTime() - new Date(readAt).getTime()) / 1_000));
  return [[{ group: id }, ` (${String(size)} people, read ${ageS} s before)`]];
}
