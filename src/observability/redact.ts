import { stdSerializers } from 'pino';

const HIDDEN_KEY =
  /password|secret|token|authorization|cookie|signature|accesskey|apikey|encryptionkey|encryption.*role|iamrole|keyid$|arn$|ipaccesslist|response_?url|database_?url|connectionstring/i;
const DEEPEST = 8;

/**
 * A copy for logs with the values of sensitive keys replaced. Replies of the two APIs contain
 * initial passwords, storage keys, role names and address lists.
 */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null || hasToJson(value)) return value;
  // Includes the chain of causes and the properties that libraries add.
  if (value instanceof Error) return redact({ ...stdSerializers.err(value) }, depth + 1);
  if (depth === DEEPEST) return '[deeper]';
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      HIDDEN_KEY.test(key) && item !== null && item !== undefined
        ? '[redacted]'
        : redact(item, depth + 1),
    ]),
  );
}

// For example a Date, a URL or a Secret.
function hasToJson(value: object): boolean {
  return 'toJSON' in value && typeof value.toJSON === 'function';
}

/** The text with all occurrences of these values replaced. */
export function withoutValues(values: readonly string[], text: string): string {
  // A short value would also match parts of ordinary words.
  const hidden = values.filter((value) => value.length >= 6);
  return hidden.reduce((clean, value) => clean.replaceAll(value, '[secret]'), text);
}
