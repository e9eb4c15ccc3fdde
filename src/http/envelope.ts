import type { z } from 'zod';
import { ApiError, type ApiErrorKind, type ApiFailure } from '../errors.ts';
import { foreignTextOf, isContradiction, isRecord, serverTextOf } from './answer.ts';
import type { Priority } from './budget.ts';
import { type Call, createHttp, type HttpAnswer, type HttpOptions, type Reply } from './client.ts';
import { withoutSecrets } from './failure.ts';
import { isOtherObject } from './tolerance.ts';

/** Options of every API call. The default priority is `people`. */
export interface CallOptions {
  readonly priority?: Priority | undefined;
}

type ReadCall = Omit<Call, 'method' | 'body'>;

/**
 * Both APIs return an object with the result in one field. A read without that field is an error.
 * A write with a 2xx status is accepted, so a missing or unreadable result becomes null. If its body
 * contradicts that, its effect is unknown.
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
    const isOther = !parsed.success && isOtherObject(parsed.error);
    if (isOther || isContradiction(answer.body, field)) {
      const serverText = isOther
        ? null
        : withoutSecrets(serverTextOf(answer.body), options.secrets);
      const kind = isOther ? 'other-object' : 'contradiction';
      throw contradictionError(call.operation, answer, { kind, serverText });
    }
    const foreignText = withoutSecrets(foreignTextOf(answer.body), options.secrets);
    const result = parsed.success ? parsed.data : null;
    const reply = replyOf<z.output<S> | null>(answer, result);
    return foreignText === null ? reply : { ...reply, foreignText };
  }

  return { read, readWhole, write, close: http.close };
}

function objectIn({ body }: HttpAnswer): Record<string, unknown> | null {
  return body.kind === 'json' && isRecord(body.value) ? body.value : null;
}

function replyOf<T>({ status, requestId, tookMs }: HttpAnswer, result: T): Reply<T> {
  return { result, requestId, status, tookMs };
}

function contradictionError(
  operation: string,
  { status, requestId }: HttpAnswer,
  what: Pick<ApiFailure, 'kind' | 'serverText'>,
): ApiError {
  return new ApiError({ operation, effect: 'unknown', status, requestId, ...what });
}

function replyError(operation: string, answer: HttpAnswer, cause?: z.ZodError): ApiError {
  const { body, status, requestId } = answer;
  const json = body.kind === 'json' && (isRecord(body.value) || body.value === null);
  const empty = cause === undefined && (json || body.kind === 'empty');
  const kind: ApiErrorKind = empty ? 'empty-reply' : 'unreadable-reply';
  return new ApiError({ operation, effect: 'unknown', kind, status, requestId, cause });
}
