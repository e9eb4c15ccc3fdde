import type { Db } from '../../storage/old/database.ts';
import { eventRowsWithin, type TimeRange } from './read-range.ts';

/** Events are written in chunks of this size, because a write per event is slow. */
const CHUNK = 64 * 1024;

/** The events as text in chunks, so that the memory stays small. */
export async function* exportEvents(
  db: Db,
  span: TimeRange,
  format: Format,
): AsyncGenerator<string> {
  let chunk = format === 'csv' ? `${COLUMNS.join(',')}\r\n` : '';
  for await (const row of eventRowsWithin(db, span)) {
    chunk += lineOf(row, format);
    if (chunk.length < CHUNK) continue;
    yield chunk;
    chunk = '';
  }
  if (chunk !== '') yield chunk;
}

interface Row {
  readonly body: string;
  readonly prev_hash: string;
  readonly hash: string;
}

// The hash covers the exact text of the event, so this text is exported unchanged.
function lineOf({ body, prev_hash, hash }: Row, format: Format): string {
  if (format === 'jsonl') {
    return `{"event":${body},"prev_hash":${JSON.stringify(prev_hash)},"hash":${JSON.stringify(hash)}}\n`;
  }
  const event = JSON.parse(body) as Readonly<Record<string, unknown>>;
  const content = event.body as Readonly<Record<string, unknown>>;
  const { by, command, target, refusal, ...rest } = content;
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

/** A CSV cell. A text that begins like a formula gets a quote, so that spreadsheets do not run it. */
function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const text = String(value);
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export type Format = 'jsonl' | 'csv';
