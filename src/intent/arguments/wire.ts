import type { z } from 'zod';
import type { FieldProblem } from '../../base/errors.ts';
import type { JsonObject } from '../../base/text.ts';

/** A request body without the fields that were not given. */
export function bodyOf(fields: Readonly<Record<string, unknown>>): JsonObject {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  // Arguments are strings, numbers, booleans and lists of them, so this is JSON.
  return Object.fromEntries(given) as JsonObject;
}

/** Labels for the field names in messages of the API schemas. */
const LABELS: Readonly<Record<string, string>> = {
  minReplicaMemoryGb: 'the minimum',
  maxReplicaMemoryGb: 'the maximum',
  byocId: 'an own cloud region',
  dataWarehouseId: 'an existing warehouse',
};
const WIRE_NAMES = new RegExp(Object.keys(LABELS).join('|'), 'g');

/** Problems of the whole body by the API schema, for rules that concern several fields. */
export function wireProblems(schema: z.ZodType, body: JsonObject): readonly FieldProblem[] {
  const { error } = schema.safeParse(body);
  const issues = error?.issues ?? [];
  return issues.map(({ path, message }) => ({
    field: String(path[0] ?? ''),
    problem: message.replace(WIRE_NAMES, (name) => LABELS[name] ?? name),
  }));
}

/** Orders the fields of a body as they are sent, so that the preview shows the sent JSON. */
export function inSendOrder(schema: z.ZodType, body: JsonObject): JsonObject {
  const { data } = schema.safeParse(body);
  // An invalid body is refused before it is shown; a parsed one is still JSON.
  return data === undefined ? body : (data as JsonObject);
}
