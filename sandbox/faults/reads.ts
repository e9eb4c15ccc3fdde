import { ALERT_READS, CLOUD_READS } from '../api/optional-reads.ts';
import { jsonReply } from '../api/reply.ts';
import { isJson } from '../json.ts';
import { apiOf, type Fault, fault } from './fault.ts';
import { changePayload } from './payloads.ts';

const READS: readonly string[] = [...CLOUD_READS, ...ALERT_READS];

/** Replies that matter to the optional reads only. */
export const READ_FAULTS: readonly Fault[] = [
  fault('read-404', '404 with JSON: the object is deleted or not visible', {
    only: READS,
    instead: (call) =>
      apiOf(call) === 'cloud'
        ? jsonReply(404, { status: 404, error: 'NOT_FOUND' })
        : jsonReply(404, { message: 'Not found' }),
  }),
  fault('read-405', '405: the server has other methods at this address, but not this read', {
    only: READS,
    instead: () => jsonReply(405, { status: 405, error: 'METHOD_NOT_ALLOWED' }),
  }),
  fault('read-424', '424: the service does not run', {
    only: CLOUD_READS,
    instead: () => jsonReply(424, { status: 424, error: NOT_RUNNING }),
  }),
  fault('read-empty-list', '200, but a list has no entry', {
    only: READS,
    change: (reply) => changePayload(reply, (payload) => (Array.isArray(payload) ? [] : payload)),
  }),
  fault('read-wrong-shape', '200, but a list is an object and an object is a list of numbers', {
    only: READS,
    change: (reply) =>
      changePayload(reply, (payload) => {
        if (Array.isArray(payload)) return { items: payload.length };
        return isJson(payload) ? [1, 2, 3] : 7;
      }),
  }),
];

const NOT_RUNNING =
  'FAILED_DEPENDENCY: Available only when the service runs. Current state: stopped';
