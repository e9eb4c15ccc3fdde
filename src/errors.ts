import { inspect } from 'node:util';

/**
 * What is known of a request that did not succeed.
 * `refused`: the server read it and said no, so nothing was changed. `not-sent`: it surely had no
 * effect, because it never left or was turned away by a rate limit. `unknown`: nobody can say. A
 * failed read had no effect in any case.
 */
export type RequestEffect = 'refused' | 'not-sent' | 'unknown';

export type ApiErrorKind =
  | 'answer'
  | 'rate-limit'
  | 'budget'
  | 'stopping'
  | 'left'
  | 'no-connection'
  | 'private-address'
  | 'connection-lost'
  | 'deadline'
  | 'redirect'
  | 'wrong-address'
  | 'empty-reply'
  | 'unreadable-reply';

export interface ApiFailure {
  readonly operation: string;
  readonly effect: RequestEffect;
  readonly trouble: ApiErrorKind;
  readonly status?: number | null;
  readonly code?: string | null;
  readonly serverText?: string | null;
  readonly requestId?: string | null;
  readonly retryAfterMs?: number | null;
  readonly cause?: unknown;
}

const SENTENCES: Record<ApiErrorKind, string> = {
  answer: 'the server answered with an error',
  'rate-limit': 'the server asks to wait',
  budget: 'too many requests are waiting, so this one was not sent',
  stopping: 'Signalbox is being stopped, and this was given up',
  left: 'Signalbox was stopped before the server answered',
  'no-connection': 'no connection to the server could be made',
  'private-address':
    'the address of the server lies in a private network, which signalbox.yaml does not allow',
  'connection-lost': 'the connection broke before the answer was complete',
  deadline: 'the server did not answer in time',
  redirect: 'the server points to another address, which is not followed',
  'wrong-address': 'this address does not answer like the API, so check the configured address',
  'empty-reply': 'the server answered without a result',
  'unreadable-reply': 'the answer could not be read',
};

function sentenceOf(trouble: ApiErrorKind): string {
  const words = SENTENCES[trouble];
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

/**
 * A call to one of the two APIs that did not bring what was asked for.
 * `serverText` is one line of at most 500 characters without HTML documents or our credentials. It
 * may still hold `<`, `>` and `&`, which whoever shows it must escape.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly operation: string;
  /** What happened, for people: without the names of our functions. */
  readonly sentence: string;
  readonly effect: RequestEffect;
  readonly trouble: ApiErrorKind;
  readonly status: number | null;
  /** The server's own word for the error, such as `NOT_FOUND`. Never a basis for control flow. */
  readonly code: string | null;
  readonly serverText: string | null;
  readonly requestId: string | null;
  readonly retryAfterMs: number | null;

  constructor(failure: ApiFailure) {
    const { operation, trouble, status = null, serverText = null } = failure;
    const details = [status, serverText].filter((detail) => detail !== null).join(' ');
    super(`${operation}: ${SENTENCES[trouble]}${details === '' ? '' : ` (${details})`}`, {
      cause: failure.cause,
    });
    this.operation = operation;
    this.sentence = sentenceOf(trouble);
    this.effect = failure.effect;
    this.trouble = trouble;
    this.status = status;
    this.code = failure.code ?? null;
    this.serverText = serverText;
    this.requestId = failure.requestId ?? null;
    this.retryAfterMs = failure.retryAfterMs ?? null;
  }
}

/** A rule that a value breaks; `problem` reads on from the field's label: "must be …". */
export interface FieldProblem {
  readonly field: string;
  readonly problem: string;
}

/** Values that were refused here, before anything was sent. */
export class InvalidRequest extends Error {
  override readonly name = 'InvalidRequest';
  readonly problems: readonly FieldProblem[];

  constructor(operation: string, problems: readonly FieldProblem[]) {
    super(`${operation}: ${problems.map((each) => `${each.field} ${each.problem}`).join('; ')}`);
    this.problems = problems;
  }
}

/**
 * A value that can be carried about but not printed by accident: text, JSON, inspection, spreading
 * and structured cloning all lose it. A class because only a private field keeps that promise.
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

/** The system's own word for it, from the end of the chain: ENOTFOUND, CERT_HAS_EXPIRED. */
export function causeCode(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const inner = 'original' in error ? error.original : error.cause;
  const deeper = causeCode(inner);
  if (deeper !== null) return deeper;
  const code = 'code' in error ? String(error.code) : '';
  return /^[A-Z][A-Z\d_]+$/.test(code) ? code : null;
}
