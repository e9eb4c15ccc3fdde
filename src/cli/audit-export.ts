import { eventRowsWithin, type TimeRange } from '../storage/audit/read-range.ts';
import type { Db } from '../storage/engine/database.ts';
import type { Format } from './audit-options.ts';

/** As much of a batch as is written at once: a write for each event would cost more than it does. */
const CHUNK = 64 * 1024;

/** Events as text, piece by piece, so that no more of them is in memory than is being written. */
export async function* exported(db: Db, span: TimeRange, format: Format): AsyncGenerator<string> {
  let waiting = format === 'csv' ? `${COLUMNS.join(',')}\r\n` : '';
  for await (const row of eventRowsWithin(db, span)) {
    waiting += lineOf(row, format);
    if (waiting.length < CHUNK) continue;
    yield waiting;
    waiting = '';
  }
  if (waiting !== '') yield waiting;
}

interface Row {
  readonly body: string;
  readonly prev_hash: string;
  readonly hash: string;
}

// The text that the hash covers is handed on as it stands, and whoever has the key can check it.
function lineOf({ body, prev_hash, hash }: Row, format: Format): string {
  if (format === 'jsonl') {
    return `{"event":${body},"prev_hash":${JSON.stringify(prev_hash)},"hash":${JSON.stringify(hash)}}\n`;
  }
  // What was decoded a moment ago on its way here.
  const event = JSON.parse(body) as Readonly<Record<string, unknown>>;
  const said = event.body as Readonly<Record<string, unknown>>;
  const { by, command, target, refusal, ...rest } = said;
  const cells: Readonly<Record<string, unknown>> = {
    ...event,
    by,
    command,
    target,
    refusal,
    rest: JSON.stringify(rest),
    hash,
  };
  return `${COLUMNS.map((column) => cell(cells[column])).join(',')}\r\n`;
}

const COLUMNS = [
  ...['seq', 'at', 'kind', 'change', 'version', 'from', 'to', 'by', 'command', 'target'],
  ...['refusal', 'rest', 'hash'],
] as const;

/** Spreadsheets run what begins like a formula; a reason can be written by anybody who may ask. */
function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const text = String(value);
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
