import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { unescape as decoded } from 'node:querystring';
import { type DestinationStream, type Logger, pino } from 'pino';
import { Secret } from '../errors.ts';
import { redact, withoutValues } from './redact.ts';
import { traceIds } from './trace.ts';

/** Fields that every log line of a piece of work carries. */
export interface LogContextFields {
  /** The id of one Slack payload, in all its log lines, across replicas. */
  readonly request?: string;
  readonly change?: string;
}

const current = new AsyncLocalStorage<LogContextFields>();

/** Runs the work with these log fields, which replace the fields of the caller. */
export function during<T>(about: LogContextFields, work: () => T): T {
  return current.run(about, work);
}

/** The id of the current Slack payload; undefined in background work. */
export function requestNow(): string | undefined {
  return current.getStore()?.request;
}

/** A new id, short enough to read aloud and unique within a month of logs. */
export function newRequest(): string {
  // Node draws many UUIDs at once, which costs less than a draw for each payload.
  return randomUUID().replace('-', '').slice(0, 10);
}

interface LogOptions {
  /** A pino level, for example info, debug or silent. */
  readonly level: string;
  /** Values that never appear in a line. Values can be added later. */
  readonly hidden?: ReadonlySet<string>;
}

/** A log of JSON lines without sensitive values. The default destination is standard output. */
export function createLog(options: LogOptions, to: DestinationStream = standardOutput()): Logger {
  const { level, hidden = new Set<string>() } = options;
  return pino(
    {
      level,
      name: 'signalbox',
      mixin: () => ({ ...current.getStore(), ...traceIds() }),
      formatters: { log: redactFields },
      // redactFields has already serialized the errors.
      serializers: { err: (error) => error },
      hooks: { streamWrite: (line) => withoutValues([...hidden].flatMap(spellingsOf), line) },
    },
    to,
  );
}

// Lines are written synchronously, so that the last line before a crash is not lost.
function standardOutput(): DestinationStream {
  return pino.destination({ dest: 1, sync: true });
}

function redactFields(fields: object): Record<string, unknown> {
  const redacted = redact(fields);
  return typeof redacted === 'object' && redacted !== null ? { ...redacted } : {};
}

/** The value itself and its escaped form in JSON. */
function spellingsOf(value: string): readonly string[] {
  return [...new Set([value, JSON.stringify(value).slice(1, -1)])];
}

/** All secrets of a configuration, and the password within a database URL. */
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

export type Api = 'cloud' | 'alerts';
