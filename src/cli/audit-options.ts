import type { Head } from '../storage/audit/append.ts';
import { parseOptions, unknownCommand } from './parse-options.ts';

export const AUDIT_USAGE = `signalbox audit verify [--anchor <number>:<hash>]
    Verifies the whole audit trail.
    --anchor  an anchor line “audit <number> <hash>” from the audit channel: detects a removed end

signalbox audit export --since <when> [--until <when>] [--format jsonl|csv]
    Writes the events from --since (included) to --until (excluded) to standard output.
    <when> is a UTC date, for example 2026-11-01, or a time, for example 2026-11-01T09:30Z

signalbox audit restored
    After a restore, with Signalbox stopped: the next start sends no open change of this database.

Reads DATABASE_URL, SIGNALBOX_KEY and SIGNALBOX_PREVIOUS_KEYS from the environment, like Signalbox.
verify and export also work while Signalbox runs.
Exit code: 0 success, 1 failure, 2 wrong options.
`;

export type AuditRequest =
  | { readonly kind: 'help' }
  | { readonly kind: 'verify'; readonly anchor: Head | null }
  | {
      readonly kind: 'export';
      readonly since: Date;
      readonly until: Date | null;
      readonly format: Format;
    }
  | { readonly kind: 'restored' };

export type Format = 'jsonl' | 'csv';
type AuditOptions =
  | { readonly ok: true; readonly request: AuditRequest }
  | { readonly ok: false; readonly sentence: string };

const OPTIONS = {
  anchor: { type: 'string' },
  since: { type: 'string' },
  until: { type: 'string' },
  format: { type: 'string' },
  help: { type: 'boolean' },
} as const;

const TAKES: Readonly<Record<string, readonly string[]>> = {
  verify: ['anchor'],
  export: ['since', 'until', 'format'],
  restored: [],
};

export function readAuditOptions(args: readonly string[]): AuditOptions {
  const parsed = parseOptions(args, OPTIONS);
  if ('sentence' in parsed) return reject(parsed.sentence);
  const { values, positionals } = parsed;
  const [what, ...more] = positionals;
  if (values.help || what === 'help' || args.length === 0) return accept({ kind: 'help' });
  const takes = TAKES[what ?? ''];
  if (!takes) return reject(unknownCommand(what ?? '', Object.keys(TAKES)));
  if (more.length > 0) return reject(`Unexpected argument: “${more.join(' ')}”.`);
  const foreign = Object.keys(values).find((name) => !takes.includes(name));
  if (foreign) return reject(`${what} does not take --${foreign}.`);
  if (what === 'verify') return verifyOptions(values.anchor);
  return what === 'export' ? exportOptions(values) : accept({ kind: 'restored' });
}

function verifyOptions(text: string | undefined): AuditOptions {
  if (text === undefined) return accept({ kind: 'verify', anchor: null });
  const [, number, hash] = /^(?:audit\s+)?(\d{1,15})[:\s]([0-9a-f]{64})$/.exec(text.trim()) ?? [];
  if (!number || !hash) {
    return reject(`--anchor must be a number, a colon and a hash of 64 characters, not ${text}.`);
  }
  return accept({ kind: 'verify', anchor: { seq: Number(number), hash } });
}

interface Span {
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly format?: string | undefined;
}

function exportOptions({ since, until, format = 'jsonl' }: Span): AuditOptions {
  if (since === undefined) return reject('export needs --since, for example --since 2026-11-01.');
  const from = instantOf(since);
  if (!from) return reject(`--since must be a date, for example 2026-11-01, not ${since}.`);
  const to = until === undefined ? null : instantOf(until);
  if (until !== undefined && !to) {
    return reject(`--until must be a date, for example 2026-11-30, not ${until}.`);
  }
  if (to && to <= from) return reject('--until must be after --since.');
  if (format !== 'jsonl' && format !== 'csv') {
    return reject(`--format must be jsonl or csv, not ${format}.`);
  }
  return accept({ kind: 'export', since: from, until: to, format });
}

/** A UTC date, or a time with its zone; null for other texts. */
function instantOf(text: string): Date | null {
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const isTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/.test(text);
  if (!isDay && !isTime) return null;
  const instant = new Date(text);
  if (Number.isNaN(instant.getTime())) return null;
  // Date would read 30 February as a day in March.
  return isDay && instant.toISOString().slice(0, 10) !== text ? null : instant;
}

function accept(request: AuditRequest): AuditOptions {
  return { ok: true, request };
}

function reject(sentence: string): AuditOptions {
  return { ok: false, sentence };
}
