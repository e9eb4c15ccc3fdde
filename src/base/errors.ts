import { inspect } from 'node:util';

/**
 * The effect of a request that did not succeed.
 * `refused`: the server rejected it, so nothing was changed. `not-sent`: it was not executed, because
 * it was never sent or the rate limit rejected it. `unknown`: it may have been executed.
 */
export type RequestEffect = 'refused' | 'not-sent' | 'unknown';

export type ApiFailure = Pick<ApiError, 'operation' | 'effect' | 'kind' | 'cause'> &
  Partial<Pick<ApiError, 'status' | 'serverText' | 'requestId' | 'retryAfterMs'>>;

const SENTENCES = {
  answer: 'the server returned an error',
  'rate-limit': 'the rate limit of the server is reached',
  budget: 'too many requests are queued, so this one was not sent',
  paused: 'the server asked for a pause before this request, so it was not sent',
  stopping: 'Signalbox is stopping, so this request was cancelled',
  terminated: 'Signalbox stopped before the server answered',
  'no-connection': 'the connection to the server failed',
  'no-name': 'the name of the server or of its proxy did not resolve',
  'private-address':
    'the server has an address in a private network, which signalbox.yaml does not allow',
  'connection-lost': 'the connection broke before the answer was complete',
  deadline: 'the server did not answer in time',
  redirect: 'the server redirects to another address, and Signalbox does not follow redirects',
  'wrong-address': 'the API was not found at this address; check the configured address',
  'empty-reply': 'the answer of the server has no result',
  'unreadable-reply': 'the answer of the server is not readable',
  contradiction: 'the status of the answer is a success, but its body is an error',
  'foreign-answer': 'the answer was not of the API, but for example the page of a proxy in between',
  'other-object': 'the answer of the server is about another object',
};
export type ApiErrorKind = keyof typeof SENTENCES;

/**
 * A failed call of one of the two APIs.
 * `serverText` is one line of at most 500 characters without HTML documents or credentials. It can
 * contain `<`, `>` and `&`, so it must be escaped before it is shown in Slack.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly operation: string;
  /** What happened, as a sentence for users, without the name of the operation. */
  readonly sentence: string;
  readonly effect: RequestEffect;
  readonly kind: ApiErrorKind;
  readonly status: number | null;
  readonly serverText: string | null;
  readonly requestId: string | null;
  readonly retryAfterMs: number | null;

  constructor(failure: ApiFailure) {
    const { operation, kind, status = null, serverText = null } = failure;
    const words = SENTENCES[kind];
    const details = [status, serverText].filter((detail) => detail !== null).join(' ');
    super(`${operation}: ${words}${details === '' ? '' : ` (${details})`}`, {
      cause: failure.cause,
    });
    this.operation = operation;
    this.sentence = `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
    this.effect = failure.effect;
    this.kind = kind;
    this.status = status;
    this.serverText = serverText;
    this.requestId = failure.requestId ?? null;
    this.retryAfterMs = failure.retryAfterMs ?? null;
  }
}

/** A violated rule of a field; `problem` continues the label of the field: "must be …". */
export interface FieldProblem {
  readonly field: string;
  readonly problem: string;
  /** The values to offer instead, where the rule depends on more than the field. */
  readonly offered?: readonly string[];
}

/** Invalid values that Signalbox found before it sent a request. */
export class InvalidRequest extends Error {
  override readonly name = 'InvalidRequest';
  readonly problems: readonly FieldProblem[];

  constructor(operation: string, problems: readonly FieldProblem[]) {
    super(`${operation}: ${problems.map((each) => `${each.field} ${each.problem}`).join('; ')}`);
    this.problems = problems;
  }
}

/**
 * A value that cannot be printed by accident: string conversion, JSON, inspection, spreading and
 * structured cloning omit it. It is a class because only a private field guarantees that.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [inspect.custom](): string {
    return '[secret]';
  }
}

/** The system error code at the end of the chain of causes: ENOTFOUND, CERT_HAS_EXPIRED. */
export function causeCode(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const inner = 'original' in error ? error.original : error.cause;
  const deeper = causeCode(inner);
  if (deeper !== null) return deeper;
  const code = 'code' in error ? String(error.code) : '';
  return /^[A-Z][A-Z\d_]+$/.test(code) ? code : null;
}

/** A call exceeded its time limit. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError';

  constructor(afterMs: number) {
    super(`did not answer in ${afterMs / 1_000} s`);
  }
}

/**
 * Returns the result of the work, or rejects after `limitMs` milliseconds: with `TimeoutError`, or
 * with the error of `onTimeout`. The work is not cancelled, and its late result is ignored.
 */
export async function withTimeout<T>(
  limitMs: number,
  work: Promise<T>,
  onTimeout: () => Error = () => new TimeoutError(limitMs),
): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(onTimeout()), limitMs);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The result of a call with a time limit. */
export type TimedResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: unknown };

/** Returns the result or error of the work, or a TimeoutError after `withinMs`. Never throws. */
export async function withinTime<T>(
  withinMs: number,
  work: () => Promise<T>,
): Promise<TimedResult<T>> {
  try {
    return { ok: true, value: await withTimeout(withinMs, work()) };
  } catch (error) {
    return { ok: false, error };
  }
}
