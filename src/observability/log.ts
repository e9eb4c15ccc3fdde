import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { unescape as decoded } from 'node:querystring';
import { type DestinationStream, type Logger, pino } from 'pino';
import { Secret } from '../errors.ts';
import { redact, without } from './redact.ts';
import { traceIds } from './trace.ts';

/** What a piece of work is about. It stands in every line that is logged while the work is done. */
export interface LogContextFields {
  /** Of one payload of Slack: from its arrival to the last word about it, also across replicas. */
  readonly request?: string;
  readonly change?: string;
}

const current = new AsyncLocalStorage<LogContextFields>();

/** Whatever is logged by the work, or by what it calls, says what it is about: this alone. */
export function during<T>(about: LogContextFields, work: () => T): T {
  return current.run(about, work);
}

/** The request that is being worked on; absent where nobody asked, such as in a chore. */
export function requestNow(): string | undefined {
  return current.getStore()?.request;
}

/** Short enough for a person to read out, and for a search in the log of a month. */
export function newRequest(): string {
  return randomBytes(5).toString('hex');
}

export interface LogOptions {
  /** One of pino's: info, debug, silent. */
  readonly level: string;
  /** Values that must never be in a line, however they got into it. More may be added later. */
  readonly hidden?: ReadonlySet<string>;
}

/** JSON lines. What stands under a telling key is replaced; `to` is standard output if not given. */
export function createLog(options: LogOptions, to: DestinationStream = standardOutput()): Logger {
  const { level, hidden = new Set<string>() } = options;
  return pino(
    {
      level,
      name: 'signalbox',
      mixin: () => ({ ...current.getStore(), ...traceIds() }),
      formatters: { log: redactFields },
      // Errors have been written out by then, wherever among the fields they stood.
      serializers: { err: (error) => error },
      hooks: { streamWrite: (line) => without([...hidden].flatMap(asWritten), line) },
    },
    to,
  );
}

// Each line is written before the work goes on: what a process says last is not lost with it, and
// comes after all that it said before.
function standardOutput(): DestinationStream {
  return pino.destination({ dest: 1, sync: true });
}

function redactFields(fields: object): Record<string, unknown> {
  const redacted = redact(fields);
  return typeof redacted === 'object' && redacted !== null ? { ...redacted } : {};
}

/** A quote or a backslash looks different within a line of JSON. */
function asWritten(value: string): readonly string[] {
  return [...new Set([value, JSON.stringify(value).slice(1, -1)])];
}

/** Every secret that a configuration holds, and the password within an address of a database. */
export function secretsIn(value: unknown): readonly string[] {
  if (value instanceof Secret) return [value.reveal(), ...passwordIn(value.reveal())];
  if (typeof value !== 'object' || value === null) return [];
  const inner = value instanceof Map ? [...value.values()] : Object.values(value);
  return inner.flatMap(secretsIn);
}

function passwordIn(text: string): readonly string[] {
  const password = URL.canParse(text) ? new URL(text).password : '';
  return password === '' ? [] : [password, decoded(password)];
}
