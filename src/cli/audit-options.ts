import { parseArgs } from 'node:util';
import type { Head } from '../storage/audit/append.ts';

export const AUDIT_USAGE = `npm run audit -- verify [--anchor <number>:<hash>]
    Reads the whole audit trail and says whether it is as it was written.
    --anchor  a line “audit <number> <hash>” that was noted elsewhere: finds a tail that was cut

npm run audit -- export --since <when> [--until <when>] [--format jsonl|csv]
    Writes the events from --since on, and before --until, to standard output.
    <when> is a day such as 2026-11-01, from its first moment in UTC, or 2026-11-01T09:30Z

npm run audit -- restored
    After a restore, with Signalbox stopped: at its next start nothing that is open is sent.

DATABASE_URL and SIGNALBOX_KEY are read from the environment, as Signalbox reads them.
The first two run beside Signalbox. Exit code: 0 fine, 1 not fine, 2 the command is not clear.
`;

export type Wish =
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
export type AuditOptions =
  | { readonly ok: true; readonly wish: Wish }
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
  const parsed = parse(args);
  if ('sentence' in parsed) return no(parsed.sentence);
  const { values, positionals } = parsed;
  const [what, ...more] = positionals;
  if (values.help || what === 'help' || args.length === 0) return yes({ kind: 'help' });
  const takes = TAKES[what ?? ''];
  if (!takes) return no(`It can verify, export and restored, not “${what ?? ''}”.`);
  if (more.length > 0) return no(`“${more.join(' ')}” is too much.`);
  const foreign = Object.keys(values).find((name) => !takes.includes(name));
  if (foreign) return no(`${what} does not take --${foreign}.`);
  if (what === 'verify') return verifying(values.anchor);
  return what === 'export' ? exporting(values) : yes({ kind: 'restored' });
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    return { sentence: error instanceof Error ? error.message : String(error) };
  }
}

function verifying(text: string | undefined): AuditOptions {
  if (text === undefined) return yes({ kind: 'verify', anchor: null });
  const [, number, hash] = /^(?:audit\s+)?(\d{1,15})[:\s]([0-9a-f]{64})$/.exec(text.trim()) ?? [];
  if (!number || !hash) {
    return no(`--anchor is a number, a colon and the 64 characters of a hash (you said ${text}).`);
  }
  return yes({ kind: 'verify', anchor: { seq: Number(number), hash } });
}

interface Span {
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly format?: string | undefined;
}

function exporting({ since, until, format = 'jsonl' }: Span): AuditOptions {
  if (since === undefined) return no('export needs --since, such as --since 2026-11-01.');
  const from = instantOf(since);
  if (!from) return no(`--since is a day such as 2026-11-01 (you said ${since}).`);
  const to = until === undefined ? null : instantOf(until);
  if (until !== undefined && !to) {
    return no(`--until is a day such as 2026-11-30 (you said ${until}).`);
  }
  if (to && to <= from) return no('--until is not after --since.');
  if (format !== 'jsonl' && format !== 'csv') {
    return no(`--format can be jsonl or csv (you said ${format}).`);
  }
  return yes({ kind: 'export', since: from, until: to, format });
}

/** Only what names one instant everywhere: a time without a zone would not. */
function instantOf(text: string): Date | null {
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const isTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/.test(text);
  if (!isDay && !isTime) return null;
  const instant = new Date(text);
  if (Number.isNaN(instant.getTime())) return null;
  // The 30th of February would be taken for a day in March.
  return isDay && instant.toISOString().slice(0, 10) !== text ? null : instant;
}

function yes(wish: Wish): AuditOptions {
  return { ok: true, wish };
}

function no(sentence: string): AuditOptions {
  return { ok: false, sentence };
}
