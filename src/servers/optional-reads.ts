import type { z } from 'zod';
import { type SharedRead, sharedRead } from '../base/cache.ts';
import { ApiError, type ApiErrorKind, InvalidRequest } from '../base/errors.ts';
import type { Call } from '../base/http.ts';
import type { Priority } from '../base/http-limits.ts';
import { wordOf } from '../domain/words.ts';
import type { CloudPermission } from './accepted-values.ts';

// Reads that live servers may refuse or not have: their results, their capabilities and their cache.

/**
 * Why an optional read has no value. `off`: the configuration does not allow it. `refused`: the key
 * lacks the permission. `no-route`: the server does not have this read. `not-found`: the object is
 * deleted or not visible. `not-running`: its service does not run.
 */
export type ReadGap =
  | 'off'
  | 'refused'
  | 'no-route'
  | 'not-found'
  | 'not-running'
  | 'key-rejected'
  | 'no-answer'
  | 'unreadable';

/**
 * The result of a read that nothing needs. `why` continues “unknown: ”. It can contain text of the
 * server, so it must be escaped before it is shown in Slack.
 */
export type OptionalRead<T> =
  | { readonly known: true; readonly value: T; readonly readAt: Date }
  | {
      readonly known: false;
      readonly gap: ReadGap;
      readonly why: string;
      /** The status of the server's answer; null without one. */
      readonly status: number | null;
    };

export type UnknownRead = Extract<OptionalRead<never>, { readonly known: false }>;

export interface ReadOptions {
  /** Reads again, without a cached value. */
  readonly fresh?: boolean;
  /** A person waits for the answer, so the read has the priority of people. */
  readonly waiting?: boolean;
  /** Only what was read before, for a screen that must not wait. */
  readonly stored?: boolean;
  /** The id of the organization that is asked, where several are configured; missing: that of the service, or each. */
  readonly organization?: string;
}

const NOT_STORED = gapOf('no-answer', 'it was not read yet', null);
const READS_ARE_OFF = gapOf(
  'off',
  'signalbox.yaml has cloud.reads: contract, so Signalbox does not read it',
  null,
);

/** One kind of optional read. */
export interface CapabilityRule {
  /** The permission that it needs; null if none is known. */
  readonly permission: string | null;
  /** What a 404 with JSON means: the route is missing, or one object is not found. */
  readonly notFound: 'route' | 'object';
}

/** A capability that the server does not grant. */
export interface SwitchedOff extends Pick<UnknownRead, 'gap' | 'status'> {
  readonly capability: string;
  readonly permission: string | null;
}

export interface CapabilityOptions {
  /** `contract`: no optional read is ever sent. */
  readonly mode: 'contract' | 'extended';
  readonly now: () => Date;
  /** Called once when a capability is switched off. Must not throw. */
  readonly onOff: (off: SwitchedOff) => void;
}

/** Sends no optional read. */
export const NO_READS: CapabilityOptions = {
  mode: 'contract',
  now: () => new Date(),
  onOff: () => undefined,
};

export type Capabilities<Name extends string> = ReturnType<typeof createCapabilities<Name>>;

interface Attempt<T> {
  readonly send: () => Promise<T>;
  /** The id of the service that the read is about; null for reads of the organization. */
  readonly subject: string | null;
}

/** How long a refusal for one service is remembered. */
const REMEMBERED_MS = 600_000;

/**
 * The capabilities of one API in this process. A missing route, or the refusal of a read of the
 * organization, switches one off until the process or its configuration starts again.
 * Source: docs/apis.md#optional-reads.
 */
export function createCapabilities<Name extends string>(
  rules: Readonly<Record<Name, CapabilityRule>>,
  { mode, now, onOff }: CapabilityOptions,
) {
  const off = new Map<Name, UnknownRead>();
  const refused = new Map<string, { readonly why: UnknownRead; readonly until: number }>();

  function switchOff(name: Name, why: UnknownRead): void {
    if (off.has(name)) return;
    off.set(name, { ...why, why: `${why.why}; off until Signalbox starts again` });
    const { gap, status } = why;
    onOff({ capability: name, gap, status, permission: rules[name].permission });
  }

  function record(name: Name, why: UnknownRead, { subject }: Attempt<unknown>): void {
    const { gap } = why;
    const isMissing = gap === 'not-found' && rules[name].notFound === 'route';
    const isForAll = gap === 'refused' && subject === null;
    if (gap === 'no-route' || isMissing || isForAll) switchOff(name, why);
    else if (gap === 'refused' || gap === 'not-found') {
      refused.set(`${name} ${subject}`, { why, until: now().getTime() + REMEMBERED_MS });
    }
  }

  return {
    /** Why the read cannot succeed, known without a request; null if it can. */
    blocked(name: Name, subject: string | null): UnknownRead | null {
      if (mode === 'contract') return READS_ARE_OFF;
      const refusal = refused.get(`${name} ${subject}`);
      const isValid = refusal !== undefined && now().getTime() < refusal.until;
      return off.get(name) ?? (isValid ? refusal.why : null);
    },
    /** Sends a read that is not blocked. */
    async attempt<T>(name: Name, attempt: Attempt<T>): Promise<OptionalRead<T>> {
      try {
        const value = await attempt.send();
        refused.delete(`${name} ${attempt.subject}`);
        return { known: true, value, readAt: now() };
      } catch (error) {
        const why = gapFor(error);
        record(name, why, attempt);
        return why;
      }
    },
  };
}

/** The gap for a failed read. Throws an error that is not a failed call. */
function gapFor(error: unknown): UnknownRead {
  // An id of the server that no path may contain.
  if (error instanceof InvalidRequest) return gapOf('not-found', 'its id is not valid', null);
  if (!(error instanceof ApiError)) throw error;
  const { status, kind } = error;
  if (kind === 'wrong-address' || status === 405) {
    return gapOf('no-route', `the server does not have this read (${status})`, status);
  }
  if (UNREADABLE.includes(kind)) return gapOf('unreadable', sentenceOf(error), status);
  const [gap, why] = BY_STATUS[status ?? 0] ?? ['no-answer', sentenceOf(error)];
  const state = gap === 'not-running' ? stateIn(error) : '';
  return gapOf(gap, `${why}${state}`, status);
}

const UNREADABLE: readonly ApiErrorKind[] = [
  'unreadable-reply',
  'empty-reply',
  'other-object',
  'foreign-answer',
  'contradiction',
];

const BY_STATUS: Readonly<Record<number, readonly [ReadGap, string]>> = {
  401: ['key-rejected', 'the server rejects the API key (401)'],
  403: ['refused', 'the API key has no permission to read it (403)'],
  404: ['not-found', 'the server does not find it, or the API key may not see it (404)'],
  424: ['not-running', 'the server does not return it while the service does not run (424)'],
};

export function gapOf(gap: ReadGap, why: string, status: number | null): UnknownRead {
  return { known: false, gap, why, status };
}

/** The sentence of the error without its capital letter and full stop. */
function sentenceOf({ sentence }: ApiError): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1).replace(/\.$/, '');
}

function stateIn({ serverText }: ApiError): string {
  const [, state] = /Current state: ([a-z_]{1,40})\b/.exec(serverText ?? '') ?? [];
  return state === undefined ? '' : `; its state is ${wordOf(state)}`;
}

/**
 * The optional reads of the cloud API that Signalbox uses, each with the permission that it needs.
 * Source: docs/apis.md#optional-reads
 */
export const CLOUD_CAPABILITIES = {
  identity: { permission: null, notFound: 'route' },
  services: { permission: null, notFound: 'route' },
  service: { permission: 'service:view', notFound: 'object' },
  schedule: { permission: 'service:view', notFound: 'object' },
  backups: { permission: 'service:view-backups', notFound: 'object' },
  pipes: { permission: 'service:manage-pipes', notFound: 'object' },
  'private-endpoints': { permission: 'service:manage-pipes', notFound: 'object' },
  activities: { permission: 'organization:view-activities', notFound: 'route' },
  key: { permission: 'organization:view-api-keys', notFound: 'route' },
} as const satisfies Record<string, CapabilityRule & { permission: CloudPermission | null }>;

export type CloudCapability = keyof typeof CLOUD_CAPABILITIES;

/** How a read is sent: the same for every optional read. A slow one is dropped, not awaited. */
export type OptionalCall = Pick<Call, 'priority' | 'withinMs'>;

export type ReadRequest = OptionalCall & Pick<Call, 'operation' | 'path' | 'query'>;

/** Sends a read with the HTTP client of its contract, so that both use one request budget. */
export type SendRead = <S extends z.ZodType>(
  request: ReadRequest,
  schema: S,
) => Promise<z.output<S>>;

export interface CachedRead<Name extends string, T> {
  readonly name: Name;
  /** How long a value is cached; 0: callers only share a read that is under way. */
  readonly keepMs: number;
  readonly send: (key: string, call: OptionalCall) => Promise<T>;
  /** True for a read of the whole organization: a refusal concerns all of its keys. */
  readonly isOfAll?: boolean;
}

const WITHIN_MS = 10_000;

/** Returns a read by key that is cached, and sent once for callers that ask at the same time. */
export function cachedRead<Name extends string, T>(
  capabilities: Capabilities<Name>,
  now: () => Date,
  { name, keepMs, send, isOfAll = false }: CachedRead<Name, T>,
): (key: string, options?: ReadOptions) => Promise<OptionalRead<T>> {
  const subjectOf = (key: string) => (isOfAll ? null : key);
  const cacheFor = (priority: Priority): SharedRead<OptionalRead<T>> =>
    sharedRead(
      (key) =>
        capabilities.attempt(name, {
          subject: subjectOf(key),
          send: () => send(key, { priority, withinMs: WITHIN_MS }),
        }),
      keepMs,
      () => now().getTime(),
    );
  // A read for which a person waits does not wait for one with the lowest priority.
  const people = cacheFor('people');
  const background = cacheFor('optional');

  return async (key, { fresh = false, waiting = false, stored = false } = {}) => {
    const blocked = capabilities.blocked(name, fresh ? null : subjectOf(key));
    if (blocked !== null) return blocked;
    const cached = fresh ? null : (people.cached(key) ?? background.cached(key));
    if (cached !== null || stored) return cached ?? NOT_STORED;
    const cache = waiting ? people : background;
    const result = await cache.read(key, { fresh });
    if (!result.known) cache.forget(key);
    return result;
  };
}
