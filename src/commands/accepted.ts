import { isRecord } from '../base/http-answer.ts';
import { grouped, type Json, type JsonObject, ownValue } from '../base/text.ts';
import { ACCEPTED_VALUES, type Accepted, type AcceptedField } from '../servers/accepted-values.ts';

/**
 * Warnings about the values of a request body that live servers reject, or that only they accept.
 * Source: docs/accepted-values.md#create-service
 */
export function acceptanceWarnings(
  operation: keyof typeof ACCEPTED_VALUES,
  body: JsonObject,
): readonly string[] {
  const rows: readonly AcceptedField[] = ACCEPTED_VALUES[operation];
  return rows.flatMap((row) => textsAt(body, row.field).flatMap((text) => warningOf(row, text)));
}

const SHOWN_MAX = 60;

function warningOf({ label, contract, live }: AcceptedField, text: string): readonly string[] {
  const subject =
    text.length > SHOWN_MAX
      ? `${label} of ${grouped(text.length)} characters`
      : `${label} “${text}”`;
  if (!isAccepted(live, text)) {
    return [`Live servers reject the ${subject}${acceptedInstead(live)}.`];
  }
  if (isAccepted(contract, text)) return [];
  return [`The ${subject} is not in the contract of the API; live servers accept it.`];
}

export function isAccepted({ values, longest, pattern }: Accepted, text: string): boolean {
  return (
    (values === undefined || values.includes(text)) &&
    (longest === undefined || text.length <= longest) &&
    (pattern === undefined || pattern.test(text))
  );
}

const LISTED_MAX = 10;

function acceptedInstead({ values, longest }: Accepted): string {
  if (values !== undefined && values.length <= LISTED_MAX)
    return `; they accept ${values.join(', ')}`;
  return longest === undefined ? '' : `; they accept at most ${grouped(longest)}`;
}

/** The texts of a field; `endpoints.protocol` is the protocol of each item. */
function textsAt(body: JsonObject, field: string): readonly string[] {
  const [name = '', part] = field.split('.');
  const value = body[name] ?? null;
  const items: readonly Json[] = Array.isArray(value) ? value : [value];
  return items
    .map((item) => (part === undefined ? item : isRecord(item) ? ownValue(item, part) : null))
    .filter((text) => typeof text === 'string');
}
