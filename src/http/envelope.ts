import type { z } from 'zod';
import { ApiError, type ApiErrorKind } from '../errors.ts';
import { isRecord } from './answer.ts';
import type { Priority } from './budget.ts';
import { type Call, createHttp, type HttpAnswer, type HttpOptions, type Reply } from './client.ts';

/** Options of every API call. The default priority is `people`. */
export interface CallOptions {
  readonly priority?: Priority | undefined;
}

type ReadCall = Omit<Call, 'method' | 'body'>;

/**
 * Both APIs return an object with the result in one field. A read without that field is an error.
 * A write with a 2xx status is accepted, so a missing or unreadable result becomes null.
 */
export function createEnvelopeHttp(field: 'result' | 'data', options: HttpOptions) {
  const http = createHttp(options);

  async function readFrom<S extends z.ZodType>(
    call: ReadCall,
    schema: S,
    pick: (body: Record<string, unknown>) => unknown,
  ) {
    const answer = await http.send({ ...call, method: 'GET' });
    const body = objectIn(answer);
    if ((body?.[field] ?? null) === null) throw replyError(call.operation, answer);
    const parsed = schema.safeParse(body === null ? null : pick(body));
    if (!parsed.success) throw replyError(call.operation, answer, parsed.error);
    return replyOf<z.output<S>>(answer, parsed.data);
  }

  function read<S extends z.ZodType>(call: ReadCall, schema: S) {
    return readFrom(call, schema, (body) => body[field]);
  }

  /** Parses the whole object, for a reply with further fields such as a total. */
  function readWhole<S extends z.ZodType>(call: ReadCall, schema: S) {
    return readFrom(call, schema, (body) => body);
  }

  async function write<S extends z.ZodType>(call: Call, schema: S) {
    const answer = await http.send(call);
    const parsed = schema.safeParse(objectIn(answer)?.[field]);
    return replyOf<z.output<S> | null>(answer, parsed.success ? parsed.data : null);
  }

  return { read, readWhole, write, close: http.close };
}

function objectIn({ body }: HttpAnswer): Record<string, unknown> | null {
  return body.kind === 'json' && isRecord(body.value) ? body.value : null;
}

function replyOf<T>({ status, requestId, tookMs }: HttpAnswer, result: T): Reply<T> {
  return { result, requestId, status, tookMs };
}

function replyError(operation: string, answer: HttpAnswer, cause?: z.ZodError): ApiError {
  const { body, status, requestId } = answer;
  const json = body.kind === 'json' && (isRecord(body.value) || body.value === null);
  const empty = cause === undefined && (json || body.kind === 'empty');
  const kind: ApiErrorKind = empty ? 'empty-reply' : 'unreadable-reply';
  return new ApiError({ operation, effect: 'unknown', kind, status, requestId, cause });
}
