import {
  type AlertFields,
  canonicalAlert,
  carried,
  firstChannel,
  type Gap,
  gapIn,
  isTile,
} from './carried.ts';
import type { Alert, AlertBody, AlertEdit } from './schema.ts';

// An update replaces most fields and keeps a few, and which ones depends on the server's version.
// The one way that is safe with all of them: carry over all that was read, change only what was
// asked for, and send nothing when something the server needs is not known.
// Source: docs/apis.md#alert-updates

export type AlertRefusal =
  | Gap
  | 'type-not-editable'
  | 'bounds-crossed'
  | 'not-a-tile-alert'
  | 'channel-without-webhook'
  | 'nothing-changes';

export interface FieldChange {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

export type AlertUpdate =
  | {
      readonly ok: true;
      readonly body: AlertBody;
      readonly changes: readonly FieldChange[];
      /** Names of the fields that the alert has and that stay as they are. */
      readonly keptAsIs: readonly string[];
    }
  | { readonly ok: false; readonly refusal: AlertRefusal };

const RANGES: readonly unknown[] = ['between', 'not_between'];
const PLAIN_TYPES: readonly unknown[] = ['above', 'below'];

/** The body of the update that changes `edit` and nothing else of the alert as it was just read. */
export function alertUpdate(read: Alert, edit: AlertEdit): AlertUpdate {
  const kept = carried(read);
  const refusal = gapIn(kept) ?? conflict(kept, edit);
  if (refusal !== null) return { ok: false, refusal };

  const { webhookId, ...plain } = edit;
  const body = withoutStaleBound({ ...kept, ...given(plain), ...rerouted(kept, webhookId) });
  const changes = Object.keys(body)
    .filter((field) => canonicalAlert(body[field]) !== canonicalAlert(kept[field]))
    .map((field) => ({ field, before: kept[field], after: body[field] }));
  if (changes.length === 0) return { ok: false, refusal: 'nothing-changes' };

  const changed = changes.map(({ field }) => field);
  const silence = (read.asRead.silenced ?? null) === null ? [] : ['silenced'];
  const keptAsIs = [...Object.keys(body).filter((field) => !changed.includes(field)), ...silence];
  // What was read may be of any kind; updateAlert checks the contract's fields before it sends.
  return { ok: true, body: body as AlertBody, changes, keptAsIs };
}

export interface Difference {
  readonly field: string;
  readonly sent: unknown;
  readonly got: unknown;
}

/** Where the server's reply is not what was sent, although it answered with success. */
export function differences(body: AlertFields, reply: Alert): Difference[] {
  const got = carried(reply);
  return Object.keys(body)
    .filter((field) => !agree(body[field], got[field]))
    .map((field) => ({ field, sent: body[field], got: got[field] }));
}

function conflict(kept: AlertFields, edit: AlertEdit): AlertRefusal | null {
  const type = edit.thresholdType ?? kept.thresholdType;
  if (type !== kept.thresholdType && !PLAIN_TYPES.includes(kept.thresholdType)) {
    return 'type-not-editable';
  }
  const upper = RANGES.includes(type) ? Number(kept.thresholdMax) : Number.NaN;
  if (edit.threshold !== undefined && edit.threshold > upper) return 'bounds-crossed';
  const moves = edit.dashboardId !== undefined || edit.tileId !== undefined;
  if (moves && !isTile(kept)) return 'not-a-tile-alert';
  const webhook = firstChannel(kept)?.type === 'webhook';
  return edit.webhookId !== undefined && !webhook ? 'channel-without-webhook' : null;
}

/** A channel keeps the keys that we do not know, and `channel` must equal the first of `channels`. */
function rerouted(kept: AlertFields, webhookId: string | undefined): AlertFields {
  if (webhookId === undefined) return {};
  const channel = { ...firstChannel(kept), webhookId };
  return {
    ...(kept.channel === undefined ? {} : { channel }),
    ...(Array.isArray(kept.channels) ? { channels: [channel, ...kept.channels.slice(1)] } : {}),
  };
}

/** The upper bound outlives a change of type on the server; sent back, it would look meant. */
function withoutStaleBound(body: AlertFields): AlertFields {
  if (RANGES.includes(body.thresholdType)) return body;
  const { thresholdMax: _, ...rest } = body;
  return rest;
}

function given(edit: AlertFields): AlertFields {
  return Object.fromEntries(Object.entries(edit).filter(([, value]) => value !== undefined));
}

/** Some servers wrap numbers in strings. */
function agree(sent: unknown, got: unknown): boolean {
  const number = typeof sent === 'number' && typeof got === 'string' ? Number(got) : got;
  return canonicalAlert(sent) === canonicalAlert(number);
}
