/** A JSON object whose fields are not known. */
export type Json = { readonly [key: string]: unknown };

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value if it is a JSON object, otherwise an empty object. */
export const record = (value: unknown): Json => (isJson(value) ? value : {});

/** The JSON objects of a list; empty when the value is not a list. */
export const list = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isJson) : []);

export function stringOr<Otherwise>(value: unknown, otherwise: Otherwise): string | Otherwise {
  return typeof value === 'string' ? value : otherwise;
}

export const stringOf = (value: unknown): string => stringOr(value, '');

export const numberOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null;

/** The text of a Slack text object, or the string itself where Slack accepts a plain string. */
export const textOf = (value: unknown): string => stringOr(value, stringOf(record(value).text));

/** The parsed text, or undefined when the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The fields that are present. */
export function pick(from: object, fields: readonly string[]): Json {
  const values = new Map(Object.entries(from));
  const present = fields.filter((field) => values.get(field) !== undefined);
  return Object.fromEntries(present.map((field) => [field, values.get(field)]));
}
