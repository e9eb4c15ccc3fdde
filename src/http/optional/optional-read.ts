import { ApiError, InvalidRequest } from '../../base/errors.ts';

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
}

export const READS_ARE_OFF: UnknownRead = {
  known: false,
  gap: 'off',
  why: 'signalbox.yaml has cloud.reads: contract, so Signalbox does not read it',
  status: null,
};

/** The gap for a failed read. Throws an error that is not a failed call. */
export function gapFor(error: unknown): UnknownRead {
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

const UNREADABLE: readonly string[] = ['unreadable-reply', 'empty-reply', 'other-object'];

const BY_STATUS: Readonly<Record<number, readonly [ReadGap, string]>> = {
  401: ['key-rejected', 'the server rejects the API key (401)'],
  403: ['refused', 'the API key has no permission to read it (403)'],
  404: ['not-found', 'the server does not find it, or the API key may not see it (404)'],
  424: ['not-running', 'the server does not return it while the service does not run (424)'],
};

function gapOf(gap: ReadGap, why: string, status: number | null): UnknownRead {
  return { known: false, gap, why, status };
}

/** The sentence of the error without its capital letter and full stop. */
function sentenceOf({ sentence }: ApiError): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1).replace(/\.$/, '');
}

function stateIn({ serverText }: ApiError): string {
  const [, state] = /Current state: ([a-z_]{1,40})\b/.exec(serverText ?? '') ?? [];
  return state === undefined ? '' : `; its state is ${state}`;
}
