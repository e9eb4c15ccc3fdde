import type { Head } from '../log/old/append.ts';
import type { Format } from '../log/old/audit-export.ts';
import { parseOptions, unknownCommand } from './parse-options.ts';

export const AUDIT_USAGE = `signalbox audit verify [--anchor <number>:<hash>] [--segments <folder>]
    Verifies the whole audit trail; after an archive, from the last checkpoint on.
    --segments  verifies the archived events of this folder as well, from event 1 on
    --anchor    an anchor line “audit <number> <hash>” from the audit channel: detects a removed end

signalbox audit export --since <when> [--until <when>] [--format jsonl|csv]
    Writes the events from --since (included) to --until (excluded) to standard output.
    <when> is a UTC date, for example 2026-11-01, or a time, for example 2026-11-01T09:30Z

signalbox audit archive --segments <folder> [--dry-run]
    Writes old events to a new file of this folder, signs a checkpoint and deletes these events, their
    changes and old costs, as retention in signalbox.yaml permits. SQLite: with Signalbox stopped.
    --dry-run   writes and deletes nothing

signalbox audit restored
    After a restore, with Signalbox stopped: the next start sends no open change of this database.

Reads DATABASE_URL, SIGNALBOX_KEY and SIGNALBOX_PREVIOUS_KEYS from the environment, like Signalbox.
archive reads signalbox.yaml, or the file of SIGNALBOX_CONFIG, as well.
verify and export also work while Signalbox runs.
Exit code: 0 success, 1 failure, 2 wrong options.
`;

export type AuditRequest =
  | { readonly kind: 'help' }
  | { readonly kind: 'verify'; readonly anchor: Head | null; readonly segments: string | null }
  | { readonly kind: 'archive'; readonly segments: string; readonly dryRun: boolean }
  | {
      readonly kind: 'export';
      readonly since: Date;
      readonly until: Date | null;
      readonly format: Format;
    }
  | { readonly kind: 'restored' };
type AuditOptions =
  | { readonly ok: true; readonly request: AuditRequest }
  | { readonly ok: false; readonly sentence: string };

const OPTIONS = {
  anchor: { type: 'string' },
  segments: { type: 'string' },
  'dry-run': { type: 'boolean' },
  since: { type: 'string' },
  until: { type: 'string' },
  format: { type: 'string' },
  help: { type: 'boolean' },
} as const;

const TAKES: Readonly<Record<string, readonly string[]>> = {
  verify: ['anchor', 'segments'],
  archive: ['segments', 'dry-run'],
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
  if (values.segments === '') return reject('--segments must name a folder.');
  if (what === 'verify') return verifyOptions(values.anchor, values.segments ?? null);
  if (what === 'archive') return archiveOptions(values.segments, values['dry-run'] === true);
  return what === 'export' ? exportOptions(values) : accept({ kind: 'restored' });
}

function archiveOptions(segments: string | undefined, dryRun: boolean): AuditOptions {
  if (segments === undefined) return reject('archive needs --segments, the folder of the files.');
  return accept({ kind: 'archive', segments, dryRun });
}

function verifyOptions(text: string | undefined, segments: string | null): AuditOptions {
  if (text === undefined) return accept({ kind: 'verify', anchor: null, segments });
  const [, number, hash] = /^(?:audit\s+)?(\d{1,15})[:\s]([0-9a-f]{64})$/.exec(text.trim()) ?? [];
  if (!number || !hash) {
    return reject(`--anchor must be a number, a colon and a hash of 64 characters, not ${text}.`);
  }
  return accept({ kind: 'verify', anchor: { seq: Number(number), hash }, segments });
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
