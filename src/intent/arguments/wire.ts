import type { z } from 'zod';
import type { JsonObject } from '../../changes/change.ts';
import type { FieldProblem } from '../../errors.ts';

/** A body as it goes on the wire: what was not given is not there. */
export function bodyOf(fields: Readonly<Record<string, unknown>>): JsonObject {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  // Arguments are texts, numbers, switches and lists of them: JSON all the way down.
  return Object.fromEntries(given) as JsonObject;
}

/** Fields of which the wire's rules speak, as people call them. */
const IN_WORDS: Readonly<Record<string, string>> = {
  minReplicaMemoryGb: 'the minimum',
  maxReplicaMemoryGb: 'the maximum',
  byocId: 'an own cloud region',
  dataWarehouseId: 'an existing warehouse',
};
const WIRE_NAMES = new RegExp(Object.keys(IN_WORDS).join('|'), 'g');

/** What the wire's own rule says of a whole body, beyond what it says of single fields. */
export function wireProblems(schema: z.ZodType, body: JsonObject): readonly FieldProblem[] {
  const { error } = schema.safeParse(body);
  const issues = error?.issues ?? [];
  return issues.map(({ path, message }) => ({
    field: String(path[0] ?? ''),
    problem: message.replace(WIRE_NAMES, (name) => IN_WORDS[name] ?? name),
  }));
}

/** The same body in the very order in which its fields go out: what is shown is what is sent. */
export function inSendOrder(schema: z.ZodType, body: JsonObject): JsonObject {
  const { data } = schema.safeParse(body);
  // A body that breaks a rule is refused before it is shown; a parsed one is JSON as it was.
  return data === undefined ? body : (data as JsonObject);
}
