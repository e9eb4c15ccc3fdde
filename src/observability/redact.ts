import { stdSerializers } from 'pino';

const HIDDEN_KEY =
  /password|secret|token|authorization|cookie|signature|accesskey|apikey|encryptionkey|encryption.*role|iamrole|keyid$|arn$|ipaccesslist|response_?url|database_?url|connectionstring/i;
const DEEPEST = 8;

/**
 * A copy for logs, in which whatever stands under a telling key is replaced. The two APIs put
 * initial passwords, storage keys, role names and address lists into ordinary replies.
 */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null || isPrintedItsOwnWay(value)) return value;
  // With its chain of causes, and with whatever a library has hung onto it.
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

// A date, an address, a secret.
function isPrintedItsOwnWay(value: object): boolean {
  return 'toJSON' in value && typeof value.toJSON === 'function';
}

/** Text for people in which none of these values is left, however it came in. */
export function without(values: readonly string[], text: string): string {
  // A short one would be found in the middle of words, and hide more than itself.
  const hidden = values.filter((value) => value.length >= 6);
  return hidden.reduce((clean, value) => clean.replaceAll(value, '[secret]'), text);
}
