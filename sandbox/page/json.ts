import type { Json } from '../protocol.ts';

/** Slack's JSON is read leniently: what is missing or of another kind reads as empty. */
export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export const record = (value: unknown): Json => (isJson(value) ? value : {});

export const list = (value: unknown): readonly Json[] =>
  Array.isArray(value) ? value.filter(isJson) : [];

export const word = (value: unknown): string => (typeof value === 'string' ? value : '');

export const words = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];

export const amount = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null;

/** The words of a text object, or of a bare string where Slack takes one. */
export const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : word(record(value).text);
