/** When a change that was accepted is done, by what optional reads show of its target. */

import { type Json, type JsonObject, ownValue } from '../base/text.ts';
import { SIZING_LABELS } from '../servers/accepted-values.ts';
import { notApplied, settingText } from '../servers/facts.ts';

/** The fields of a reading, under the names of the API; null or missing: unknown. */
type ReadFields = Readonly<Record<string, unknown>>;

/** What a reading means for a change that was sent, with words for users. */
export interface Progress {
  readonly is: 'settled' | 'under-way' | 'failed' | 'unknown';
  readonly text: string;
  /** The state is one on the way to the end, for example `stopping`. */
  readonly hasBegun?: true;
}

/** The one definition of when a command is done, by what optional reads show of its target. */
export interface SettledRule {
  readonly reads: 'service' | 'endpoint';
  /** The reported states that end the command; missing where its end is no state. */
  readonly ends?: readonly string[];
  readonly judge: (fields: ReadFields, body: JsonObject) => Progress;
  /**
   * Whether these values, read before the send, prove that the request was not applied or under way
   * by then; null: unknown. Missing for a creation, whose unknown outcome only a person resolves.
   */
  readonly wasOpen?: (before: ReadFields, body: JsonObject) => boolean | null;
}

/** What a card says of a command whose target is not read. */
export const UNFOLLOWED = 'This API does not report when it is done.';

interface States {
  readonly ends: readonly string[];
  /** The states in which the command has its full effect still before it. */
  readonly open?: readonly string[];
  /** States on the way to the end, or beyond. */
  readonly begun?: readonly string[];
}

const FAILED: readonly string[] = ['failed', 'terminated', 'softdeleted'];

/** Settled in one of these states of the service. A state that is not listed decides nothing. */
export function settledInState({ ends, open, begun = [] }: States): SettledRule {
  const wasOpen = ({ state }: ReadFields) => {
    const before = String(state);
    if (open?.includes(before)) return true;
    return [...ends, ...begun].includes(before) ? false : null;
  };
  return {
    reads: 'service',
    ends,
    judge: ({ state }) => ({
      ...stateProgress(textOf(state), ends),
      ...(begun.includes(String(state)) && { hasBegun: true }),
    }),
    ...(open && { wasOpen }),
  };
}

function stateProgress(state: string | null, ends: readonly string[]): Progress {
  if (state === null) return { is: 'unknown', text: 'the server does not report the state' };
  const is = ends.includes(state) ? 'settled' : FAILED.includes(state) ? 'failed' : 'under-way';
  return { is, text: state };
}

const LONGEST_TEXT = 60;

/** A text of the server; null if it is missing. */
function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value.slice(0, LONGEST_TEXT) : null;
}

/** Settled when every sent value is saved and, unless an entry of a schedule holds another, applied. */
export const SETTLED_AS_REQUESTED: SettledRule = {
  reads: 'service',
  judge: (fields, body) => {
    const state = textOf(fields.state);
    if (state !== null && FAILED.includes(state)) return { is: 'failed', text: state };
    const unsaved = Object.entries(body).filter(([field, sent]) => fields[field] !== sent);
    return unsaved.length > 0 ? unsavedProgress(fields, unsaved) : applied(fields, body);
  },
  wasOpen: (before, body) => {
    const sent = Object.entries(body);
    if (sent.some(([field]) => !isKnown(before[field]))) return null;
    return sent.some(([field, value]) => before[field] !== value);
  },
};

export const sizingLabel = (field: string) => ownValue(SIZING_LABELS, field) ?? field;

function unsavedProgress(
  fields: ReadFields,
  unsaved: readonly (readonly [string, Json])[],
): Progress {
  const words = unsaved.map(([field, sent]) => {
    const now = fields[field];
    return isKnown(now)
      ? `${sizingLabel(field)} is ${settingText(now)}, not ${settingText(sent)}`
      : `${sizingLabel(field)} is unknown`;
  });
  const isUnknown = unsaved.every(([field]) => !isKnown(fields[field]));
  return { is: isUnknown ? 'unknown' : 'under-way', text: words.join(', ') };
}

function isKnown(value: unknown): value is boolean | number | string {
  return ['boolean', 'number', 'string'].includes(typeof value);
}

function applied(fields: ReadFields, body: JsonObject): Progress {
  // The key holds what `appliedScaling` returns, or is missing on servers that do not report it.
  const now = (fields.applied ?? null) as JsonObject | null;
  const others = notApplied(body, now);
  if (others.length === 0) return { is: 'settled', text: 'all values are in effect' };
  const words = others
    .map(([field, value]) => `${sizingLabel(field)} is ${settingText(value)}`)
    .join(', ');
  const entry = now?.scheduleEntry ?? null;
  if (entry === null) return { is: 'under-way', text: `saved, not in effect yet: ${words}` };
  const text = `saved; the scaling schedule entry ${entry} applies now: ${words}`;
  return { is: 'settled', text };
}

/** Settled when the endpoint is ready. The acceptance in the other account can take long. */
export const SETTLED_WHEN_READY: SettledRule = {
  reads: 'endpoint',
  ends: ['status Ready'],
  judge: ({ status }) => {
    const text = textOf(status);
    if (text === null) return { is: 'unknown', text: 'the server does not report the status' };
    return ownValue(ENDPOINT_WORDS, text) ?? { is: 'unknown', text };
  },
};

const ENDPOINT_WORDS: Readonly<Record<string, Progress>> = {
  Ready: { is: 'settled', text: 'ready' },
  Provisioning: { is: 'under-way', text: 'provisioning' },
  PendingAcceptance: {
    is: 'under-way',
    text: 'pending acceptance: accept it in the target cloud account',
  },
  Failed: { is: 'failed', text: 'failed' },
  Rejected: { is: 'failed', text: 'rejected in the target cloud account' },
  Expired: { is: 'failed', text: 'expired before it was accepted' },
  Deleting: { is: 'failed', text: 'deleting' },
};
