import { ApiError, type ApiFailure, type Secret } from '../errors.ts';
import {
  codeOf,
  errorKindOf,
  type Headers,
  requestEffectOf,
  requestIdOf,
  retryAfterOf,
  serverTextOf,
} from './answer.ts';
import type { Body } from './body.ts';

const MAX_ATTEMPTS = 3;

interface ErrorAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

interface AnsweredCall {
  readonly operation: string;
  readonly hasPlainNotFound?: boolean | undefined;
}

/** The error for an answer other than 2xx. */
export function answerError(
  { operation, hasPlainNotFound }: AnsweredCall,
  { status, headers, body }: ErrorAnswer,
  options: { readonly secrets: readonly Secret[]; readonly retryAfterMs: number },
): ApiError {
  const serverText = withoutSecrets(serverTextOf(body), options.secrets);
  return new ApiError({
    operation,
    effect: requestEffectOf(status),
    kind: errorKindOf(status, body, hasPlainNotFound),
    status,
    serverText,
    code: codeOf(serverText),
    requestId: requestIdOf(body),
    retryAfterMs: status === 429 ? retryAfterOf(headers, options.retryAfterMs) : null,
  });
}

type NoAnswerFacts = Pick<ApiFailure, 'kind' | 'cause' | 'retryAfterMs'>;

/** Kinds of failure that happen before the first byte of the request leaves. */
const BEFORE_SENDING = ['budget', 'no-connection', 'private-address', 'stopping'];

/** The error for a request without a complete answer. */
export function noAnswerError(operation: string, facts: NoAnswerFacts): ApiError {
  const effect = BEFORE_SENDING.includes(facts.kind) ? 'not-sent' : 'unknown';
  return new ApiError({ operation, effect, ...facts });
}

/** Milliseconds to wait before a read is repeated; null: no repetition. Never used for writes. */
export function retryDelay(error: ApiError, attempt: number, chance: number): number | null {
  if (attempt >= MAX_ATTEMPTS) return null;
  if (error.kind === 'budget' || error.kind === 'stopping') return null;
  const jitterMs = 500 + Math.round(chance * 3500);
  const { status } = error;
  if (status === 429) return error.retryAfterMs;
  if (status === null || [502, 503, 504].includes(status)) return jitterMs;
  // A 500 is more often a permanent defect than a temporary error, so it is repeated once only.
  return status === 500 && attempt === 1 ? jitterMs : null;
}

/** Returns a text without these secrets. A server may quote the rejected request in its error text, including the credentials. */
export function withoutSecrets(text: string | null, secrets: readonly Secret[]): string | null {
  return secrets
    .map((secret) => secret.reveal())
    .filter((value) => value !== '')
    .reduce((clean, value) => clean?.replaceAll(value, '[secret]') ?? null, text);
}
