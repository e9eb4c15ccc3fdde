import type { RandomSource } from '../../sandbox/api/random.ts';

/** Values with unusual types, sizes, names, directions and markup. */
const ODD: readonly unknown[] = [
  null,
  true,
  -1,
  0,
  1e308,
  Number.MAX_SAFE_INTEGER + 2,
  '',
  ' ',
  [],
  {},
  [[]],
  [null],
  { __proto__: null, id: {} },
  'x'.repeat(5_000),
  '\u0000',
  '\ud800',
  '\u202egnp.exe',
  '<!channel> <@U0EMIL0001> *x* `y`',
  '=cmd|/c calc!A1',
  '../../etc/passwd',
  'https://evil.example/',
  'http://169.254.169.254/latest',
  'https://hooks.slack.com.evil.example/',
  '%2e%2e%2f',
  '\r\nX-Injected: yes',
  '__proto__',
  'constructor',
  '🚂'.repeat(50),
];
const KEYS = ['__proto__', 'constructor', 'prototype', 'toString', 'id', 'type', 'value', ''];

export function pick<T>(chance: RandomSource, from: readonly T[]): T {
  const found = from[Math.floor(chance() * from.length)];
  if (found === undefined && from.length === 0) throw new Error('There is nothing to pick from');
  // The list may contain undefined.
  return found as T;
}

/** A copy in which one part is missing, changed, duplicated or moved. */
export function bend(chance: RandomSource, value: unknown, others: readonly unknown[]): unknown {
  const isThing = typeof value === 'object' && value !== null;
  if (!isThing || chance() < 0.12) return pick(chance, [...ODD, ...others]);
  if (Array.isArray(value)) return bentList(chance, value, others);
  const entries = Object.entries(value);
  const at = Math.floor(chance() * entries.length);
  const [key = '', inner] = entries[at] ?? [];
  const rest = entries.filter((_, index) => index !== at);
  const roll = chance();
  if (roll < 0.12) return own(rest);
  if (roll < 0.2) return own([...rest, [pick(chance, KEYS), inner]]);
  if (roll < 0.26) return own([...entries, [pick(chance, KEYS), pick(chance, ODD)]]);
  return own([...rest, [key, bend(chance, inner, others)]]);
}

// fromEntries defines properties, so `__proto__` becomes an ordinary key.
function own(entries: readonly (readonly [string, unknown])[]): object {
  return Object.fromEntries(entries);
}

function bentList(
  chance: RandomSource,
  list: readonly unknown[],
  others: readonly unknown[],
): unknown {
  const at = Math.floor(chance() * list.length);
  const roll = chance();
  if (roll < 0.15) return list.filter((_, index) => index !== at);
  if (roll < 0.3) return [...list, ...list];
  return list.map((item, index) => (index === at ? bend(chance, item, others) : item));
}

/** The text with some characters removed, changed or duplicated, which is rarely valid JSON. */
export function tear(chance: RandomSource, text: string): string {
  const at = Math.floor(chance() * text.length);
  const length = Math.floor(chance() * 20);
  const roll = chance();
  if (roll < 0.3) return text.slice(0, at);
  if (roll < 0.6) return text.slice(0, at) + text.slice(at + length);
  if (roll < 0.8) return text.slice(0, at) + text.slice(at, at + length) + text.slice(at);
  return text.slice(0, at) + String.fromCharCode(Math.floor(chance() * 256)) + text.slice(at + 1);
}

/** JSON with this many nested levels. */
export function deep(levels: number): string {
  return `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
}
