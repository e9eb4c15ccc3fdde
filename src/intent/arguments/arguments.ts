import { z } from 'zod';

/** What was typed or filled in, as text by field name. */
export type TypedValues = Readonly<Record<string, string>>;

/** What decides which fields apply and what they may hold. */
export interface FieldContext {
  readonly given: TypedValues;
  readonly plan: 'paid' | 'free';
  readonly tier: 'basic' | 'scale' | 'enterprise';
}

/** How a field is filled in, where it is not a line of text. */
export type Input =
  | {
      readonly kind: 'number';
      readonly decimal: boolean;
      readonly min?: number;
      readonly max?: number;
    }
  | { readonly kind: 'switch' }
  | { readonly kind: 'choice'; readonly options: (among: FieldContext) => readonly string[] }
  | { readonly kind: 'channel' }
  | { readonly kind: 'lines' };

/** How a field is typed, labelled and looked up; kept in zod's registry beside its schema. */
export interface FieldMeta {
  readonly label?: string;
  /** The key of `key=value`; a field without one is given by its place in the line. */
  readonly word?: string;
  /** What it names; a scope is one or more services at once, an ask is a command. */
  readonly names?: 'service' | 'pipe' | 'alert' | 'scope' | 'tag' | 'warehouse' | 'freeze' | 'ask';
  readonly input?: Input;
  readonly hint?: string;
  /** Keys that people type in the place of `word`: never read, but answered with it. */
  readonly synonyms?: readonly string[];
  /** What a line of text may have meant that its schema refuses; offered, never taken. */
  readonly suggestions?: (typed: string) => readonly string[];
  /** Takes whatever is left of the line: what a query searches for. */
  readonly rest?: true;
  /** Read behind the reason as well: what was meant as an hour must not be taken for words. */
  readonly afterReason?: true;
  /** Not asked for in a form, which has another field for the same; kept there where it was typed. */
  readonly typedOnly?: true;
  /** Only a key that is not asked for in a form can stand in for it: there, it has to be filled. */
  readonly unlessTyped?: true;
  /** Other fields depend on it, so that a form is drawn anew when it changes. */
  readonly redraws?: true;
}

export interface Field extends FieldMeta {
  readonly name: string;
  readonly label: string;
  readonly optional: boolean;
}

export const ServiceName = z.string().min(1).meta({ label: 'Service', names: 'service' });
export const PipeName = z.string().min(1).meta({ label: 'Pipe', names: 'pipe' });
export const AlertName = z.string().min(1).meta({ label: 'Alert', names: 'alert', steers: true });

/** A key that says a scope in one word; in a form, the choice of a scope has it. */
export function scopeField(word: 'tag' | 'warehouse', label: string) {
  const meta: FieldMeta = { word, label, names: word, typedOnly: true };
  return z
    .string()
    .trim()
    .min(1)
    .max(63)
    .optional()
    .meta({ ...meta });
}

type Words = Omit<FieldMeta, 'input' | 'names'> & { readonly label: string };

// What people type is text. Each of these turns it into what the wire's own rule then judges; what
// cannot be turned is handed on as it is, so that the rule's sentence is the one they read.

export function textField<Schema extends z.ZodType>(schema: Schema, words: Words) {
  return schema.optional().meta({ ...words });
}

export function numberField<Schema extends z.ZodType>(
  schema: Schema,
  words: Words & { readonly min?: number; readonly max?: number; readonly decimal?: boolean },
) {
  const { min, max, decimal = false, ...meta } = words;
  const bounds = { ...(min === undefined ? {} : { min }), ...(max === undefined ? {} : { max }) };
  const input: Input = { kind: 'number', decimal, ...bounds };
  return z
    .preprocess(numberOf, schema)
    .optional()
    .meta({ ...meta, input });
}

export function switchField<Schema extends z.ZodType>(schema: Schema, words: Words) {
  return z
    .preprocess(switchOf, schema)
    .optional()
    .meta({ ...words, input: { kind: 'switch' } });
}

export function choiceField<Schema extends z.ZodType>(
  schema: Schema,
  options: (among: FieldContext) => readonly string[],
  words: Words,
) {
  return z
    .preprocess((value) => inCaseOf(schema, value), schema)
    .optional()
    .meta({ ...words, input: { kind: 'choice', options } });
}

export function numberChoiceField<Schema extends z.ZodType>(
  schema: Schema,
  options: (among: FieldContext) => readonly number[],
  words: Words,
) {
  const texts = (among: FieldContext) => options(among).map(String);
  return z
    .preprocess(numberOf, schema)
    .optional()
    .meta({ ...words, input: { kind: 'choice', options: texts } });
}

/** A channel as Slack knows it: chosen in a form, or typed by its name. */
export function channelField<Schema extends z.ZodType>(schema: Schema, words: Words) {
  return schema.optional().meta({ ...words, input: { kind: 'channel' } });
}

/** Several values, with commas or line breaks between them. */
export function linesField<Schema extends z.ZodType>(schema: Schema, words: Words) {
  return z
    .preprocess(linesOf, schema)
    .optional()
    .meta({ ...words, input: { kind: 'lines' } });
}

/** The same field where nothing can be asked for without it. */
export function required<Inner extends z.ZodType>(field: z.ZodOptional<Inner>): Inner {
  return field.unwrap().meta(field.meta() ?? {});
}

function numberOf(value: unknown): unknown {
  const isNumber = typeof value === 'string' && /^[+-]?\d+([.]\d+)?$/.test(value.trim());
  return isNumber ? Number(value) : value;
}

const SWITCH: ReadonlyMap<unknown, boolean> = new Map([
  ['on', true],
  ['yes', true],
  ['true', true],
  ['off', false],
  ['no', false],
  ['false', false],
]);

function switchOf(value: unknown): unknown {
  const word = typeof value === 'string' ? value.trim().toLowerCase() : value;
  return SWITCH.get(word) ?? value;
}

// The enums of the wire are written in one case each; people need not know in which.
function inCaseOf(schema: z.ZodType, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const word = value.trim();
  const values = schema instanceof z.ZodEnum ? schema.options.map(String) : [];
  return values.find((one) => one.toLowerCase() === word.toLowerCase()) ?? word;
}

function linesOf(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  // In a form each line is one; a comma within it belongs to its description.
  return value
    .split(value.includes('\n') ? '\n' : ',')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

const READ = new WeakMap<z.ZodObject, readonly Field[]>();

/** The fields of a command in the order of its schema, with what the registry knows of each. */
export function fieldsOf(args: z.ZodObject): readonly Field[] {
  // Every line that is typed asks for those of several commands, and a schema never changes.
  const fields = READ.get(args) ?? readFields(args);
  READ.set(args, fields);
  return fields;
}

function readFields(args: z.ZodObject): readonly Field[] {
  return Object.entries(args.shape).map(([name, schema]) => {
    // zod types its registry's entries loosely; every field of ours is described by FieldMeta.
    const meta = (schema.meta() ?? {}) as FieldMeta;
    return {
      ...meta,
      name,
      label: meta.label ?? name,
      optional: schema.safeParse(undefined).success,
    };
  });
}

export function isPlaced(field: Field): boolean {
  return field.word === undefined && !field.rest;
}
