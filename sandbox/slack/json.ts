import type { Json } from '../protocol.ts';

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function jsonOr(value: unknown, otherwise: Json = {}): Json {
  return isJson(value) ? value : otherwise;
}

export function jsonList(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isJson) : [];
}

export function stringOr<Otherwise>(value: unknown, otherwise: Otherwise): string | Otherwise {
  return typeof value === 'string' ? value : otherwise;
}

/** What the text says, or undefined when it is not JSON at all. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
