import type { Alert, AlertBody, AlertEdit } from './schema.ts';
import {
  type AlertFields,
  canonicalAlert,
  firstChannel,
  isTile,
  type MissingForUpdate,
  missingForUpdate,
  updatableFields,
} from './updatable-fields.ts';

// Which fields an update replaces and which it keeps depends on the server's version. Safe with all
// versions: send all fields of the last read with only the requested changes, and send nothing if a
// required field is unknown.
// Source: docs/apis.md#alert-updates

export type AlertRefusal =
  | MissingForUpdate
  | 'type-not-editable'
  | 'bounds-crossed'
  | 'not-a-tile-alert'
  | 'channel-without-webhook'
  | 'nothing-changes';

interface FieldChange {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

type AlertUpdate =
  | {
      readonly ok: true;
      readonly body: AlertBody;
      readonly changes: readonly FieldChange[];
      /** Names of the unchanged fields of the alert. */
      readonly unchangedFields: readonly string[];
    }
  | { readonly ok: false; readonly refusal: AlertRefusal };

const RANGES: readonly unknown[] = ['between', 'not_between'];
const PLAIN_TYPES: readonly unknown[] = ['above', 'below'];

/** The update body that applies `edit` to the alert as just read and keeps all other fields. */
export function alertUpdate(read: Alert, edit: AlertEdit): AlertUpdate {
  const kept = updatableFields(read);
  const refusal = missingForUpdate(kept) ?? conflictWith(kept, edit);
  if (refusal !== null) return { ok: false, refusal };

  const { webhookId, ...plain } = edit;
  const body = withoutStaleBound({
    ...kept,
    ...definedFields(plain),
    ...withWebhook(kept, webhookId),
  });
  const changes = Object.keys(body)
    .filter((field) => canonicalAlert(body[field]) !== canonicalAlert(kept[field]))
    .map((field) => ({ field, before: kept[field], after: body[field] }));
  if (changes.length === 0) return { ok: false, refusal: 'nothing-changes' };

  const changed = changes.map(({ field }) => field);
  const silence = (read.asRead.silenced ?? null) === null ? [] : ['silenced'];
  const unchangedFields = [
    ...Object.keys(body).filter((field) => !changed.includes(field)),
    ...silence,
  ];
  // Fields of the reply have any type; updateAlert validates the contract's fields before sending.
  return { ok: true, body: body as AlertBody, changes, unchangedFields };
}

interface Difference {
  readonly field: string;
  readonly sent: unknown;
  readonly got: unknown;
}

/** Fields of a successful reply that differ from the sent body. */
export function differences(body: AlertFields, reply: Alert): Difference[] {
  const got = updatableFields(reply);
  return Object.keys(body)
    .filter((field) => !agree(body[field], got[field]))
    .map((field) => ({ field, sent: body[field], got: got[field] }));
}

function conflictWith(kept: AlertFields, edit: AlertEdit): AlertRefusal | null {
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

/** Unknown keys of the channel are kept, and `channel` must equal the first of `channels`. */
function withWebhook(kept: AlertFields, webhookId: string | undefined): AlertFields {
  if (webhookId === undefined) return {};
  const channel = { ...firstChannel(kept), webhookId };
  return {
    ...(kept.channel === undefined ? {} : { channel }),
    ...(Array.isArray(kept.channels) ? { channels: [channel, ...kept.channels.slice(1)] } : {}),
  };
}

/** Servers keep the upper bound after a change of type; sent back, it would count as intended. */
function withoutStaleBound(body: AlertFields): AlertFields {
  if (RANGES.includes(body.thresholdType)) return body;
  const { thresholdMax: _, ...rest } = body;
  return rest;
}

function definedFields(edit: AlertFields): AlertFields {
  return Object.fromEntries(Object.entries(edit).filter(([, value]) => value !== undefined));
}

/** Some servers send numbers as strings. */
function agree(sent: unknown, got: unknown): boolean {
  const number = typeof sent === 'number' && typeof got === 'string' ? Number(got) : got;
  return canonicalAlert(sent) === canonicalAlert(number);
}
