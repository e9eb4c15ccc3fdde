import type { SQLInputValue } from 'node:sqlite';

/**
 * Returns a function that returns the values to bind to this statement, or throws. `node:sqlite` silently takes
 * a leading Date or object for named parameters and shifts the rest, and binds a missing value as NULL.
 */
export function parameterBinder(sql: string): (parameters: readonly unknown[]) => SQLInputValue[] {
  const expected = placeholders(sql);
  return (parameters) => {
    const { length } = parameters;
    if (length === expected) return parameters.map(boundValue);
    throw new TypeError(`The statement has ${expected} parameters but ${length} values`);
  };
}

function boundValue(value: unknown, index: number): SQLInputValue {
  if (value === null || typeof value === 'string' || typeof value === 'bigint') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (value instanceof Uint8Array) return value;
  const kind = typeof value === 'object' ? Object.prototype.toString.call(value) : typeof value;
  throw new TypeError(`Parameter ${index + 1} is ${kind}, which has no column type`);
}

const QUOTED = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\//g;

// The driver does not report how many values a statement needs, so they are counted in its text.
function placeholders(sql: string): number {
  const bare = sql.replaceAll(QUOTED, '');
  if (/\?\d|[:@$]\w/.test(bare))
    throw new TypeError('Named and numbered parameters are not supported');
  return bare.split('?').length - 1;
}
