import { ApiError, type ApiFailure, type Secret } from '../errors.ts';
import {
  codeOf,
  type Headers,
  requestEffectOf,
  requestIdOf,
  retryAfterOf,
  serverTextOf,
  troubleOf,
} from './answer.ts';
import type { Body } from './body.ts';

const MAX_ATTEMPTS = 3;

export interface Refusing {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

/** What an answer other than 2xx means. */
export function refusal(
  operation: string,
  { status, headers, body }: Refusing,
  options: { readonly secrets: readonly Secret[]; readonly retryAfterMs: number },
): ApiError {
  const serverText = withoutSecrets(serverTextOf(body), options.secrets);
  return new ApiError({
    operation,
    effect: requestEffectOf(status),
    trouble: troubleOf(status, body),
    status,
    serverText,
    code: codeOf(serverText),
    requestId: requestIdOf(body),
    retryAfterMs: status === 429 ? retryAfterOf(headers, options.retryAfterMs) : null,
  });
}

type Circumstances = Pick<ApiFailure, 'trouble' | 'cause' | 'retryAfterMs'>;

/** What it means that no answer came, or none to the end. */
export function silence(operation: string, circumstances: Circumstances): ApiError {
  const { trouble } = circumstances;
  const neverLeft = ['budget', 'no-connection', 'private-address', 'stopping'].includes(trouble);
  return new ApiError({ operation, effect: neverLeft ? 'not-sent' : 'unknown', ...circumstances });
}

/** How long to wait before a read is sent again; null when it is not. Writes never ask. */
export function waitBeforeRepeat(error: ApiError, attempt: number, chance: number): number | null {
  if (attempt >= MAX_ATTEMPTS || error.trouble === 'budget') return null;
  if (error.trouble === 'stopping') return null;
  const jitterMs = 500 + Math.round(chance * 3500);
  const { status } = error;
  if (status === 429) return error.retryAfterMs;
  if (status === null || [502, 503, 504].includes(status)) return jitterMs;
  // A 500 is more often a defect than a moment's weakness, so one repetition has to do.
  return status === 500 && attempt === 1 ? jitterMs : null;
}

/** A server may quote the request that it refuses, credentials included. */
function withoutSecrets(text: string | null, secrets: readonly Secret[]): string | null {
  return secrets
    .map((secret) => secret.reveal())
    .filter((value) => value !== '')
    .reduce((clean, value) => clean?.replaceAll(value, '[secret]') ?? null, text);
}
