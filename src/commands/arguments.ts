import { type ZodObject, z } from 'zod';
import { cached } from '../base/cache.ts';
import { type LocalClock, readTime, typedSpan } from '../base/moments.ts';
import { TimeZone } from '../base/problem.ts';
import { nearest, type Word, type Words } from '../base/text.ts';
import { upperFirst } from '../domain/change.ts';
import { ClockTimeText, REVERT_SPAN, spanSchema, type TimingSupport } from '../domain/timing.ts';
import { wordOf } from '../domain/words.ts';

/** The typed or filled-in texts by field name. */
export type TypedValues = Readonly<Record<string, string>>;

/** Determines which fields apply and which values they accept. */
export interface FieldContext {
  readonly given: TypedValues;
  readonly plan: 'paid' | 'free';
  readonly tier: 'basic' | 'scale' | 'enterprise';
  /** The names of the organizations; empty where only one is configured. */
  readonly organizations: readonly string[];
}

/** The input element of a field that is not a line of text. */
type Input =
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

/**
 * What a server can list for a field whose value is an id. Without the list, the field is a line of
 * text, and the id comes from the console.
 */
export type ListedKind = 'backup' | 'webhook' | 'dashboard' | 'tile' | 'data warehouse';

/** How a field is typed, labelled and resolved; stored in zod's registry with its schema. */
interface FieldMeta {
  readonly label?: string;
  /** The key of `key=value`; a field without a key is given by its position in the line. */
  readonly word?: string;
  /** The key of a field that is given by its position or by this key. */
  readonly key?: string;
  /** The kind of item it names; a scope is one or more services, an ask is a command. */
  readonly names?: 'service' | 'pipe' | 'alert' | 'scope' | 'tag' | 'warehouse' | 'freeze' | 'ask';
  /** A scope that is not everything: a form does not offer it. */
  readonly isPart?: true;
  /** The list of the server that a form offers; any other text is passed on as an id. */
  readonly lists?: ListedKind;
  readonly input?: Input;
  readonly hint?: string;
  /** Shown instead while the form offers a list of items for the field. */
  readonly pickHint?: string;
  /** Keys that people type instead of `word`. */
  readonly synonyms?: readonly string[];
  /** The accepted text of a value as people type it: `64 GB` → `64`; null if it is none. */
  readonly reads?: (typed: string, clock: LocalClock | null) => string | null;
  /** Words of the trade that are a value of this field: `firing` → `ALERT`. */
  readonly means?: Readonly<Record<string, string>>;
  /** Values that a rejected text may have meant; offered as buttons, never assumed. */
  readonly suggestions?: (typed: string) => readonly string[];
  /** What a value of a choice must be, where other values decide it: `must be a region of aws`. */
  readonly mustBe?: (among: FieldContext) => string;
  /** The heading above it in its form; the fields below belong to it up to the next one. */
  readonly group?: string;
  /** Several words without quotes are one value, up to the first key. */
  readonly severalWords?: true;
  /** Takes the rest of the line: the search text of a query. */
  readonly rest?: true;
  /** The word that removes the value from the target; an emptied input means the same. */
  readonly none?: string;
  /** Has no input in a form, which has another field for it; a typed value is kept. */
  readonly typedOnly?: true;
  /** Required in a form; in a typed line, a `typedOnly` key can replace it. */
  readonly unlessTyped?: true;
  /** Other fields depend on it: the form is redrawn when it changes. */
  readonly redraws?: true;
}

export interface Field extends FieldMeta {
  readonly name: string;
  readonly label: string;
  readonly optional: boolean;
}

export const ServiceName = z.string().min(1).meta({ label: 'Service', names: 'service' });
export const PipeName = z.string().min(1).meta({ label: 'Pipe', names: 'pipe' });
export const AlertName = z.string().min(1).meta({ label: 'Alert', names: 'alert' });

type FieldWords = Omit<FieldMeta, 'input' | 'names'> & { readonly label: string };

// Users type text. Each of these functions converts it for the schema of the API field. A text that
// cannot be converted is passed on unchanged, so that users read the message of that schema.

const field = <Schema extends z.ZodType>(schema: Schema, meta: FieldMeta) =>
  schema.optional().meta({ ...meta });

const scopeKey = (word: 'tag' | 'warehouse', label: string) =>
  field(z.string().trim().min(1).max(63), { word, label, names: word, typedOnly: true });

export function textField<Schema extends z.ZodType>(schema: Schema, words: FieldWords) {
  return field(schema, words);
}

export const ZoneName = textField(TimeZone, {
  word: 'zone',
  synonyms: ['tz'],
  label: 'Time zone',
  hint: 'For example Europe/Berlin. Leave empty for your own time zone',
  suggestions: zonesNear,
});

/** Also by the place alone: `berlin` → `Europe/Berlin`. */
function zonesNear(typed: string): readonly string[] {
  const zones = Intl.supportedValuesOf('timeZone');
  const places = new Map(zones.map((zone) => [zone.split('/').at(-1) ?? zone, zone]));
  const near = nearest(typed.replaceAll(' ', '_'), [...zones, ...places.keys()]);
  return [...new Set(near.map((one) => places.get(one) ?? one))];
}

export function numberField<Schema extends z.ZodType>(
  schema: Schema,
  words: FieldWords &
    NumberUnit & { readonly min?: number; readonly max?: number; readonly decimal?: boolean },
) {
  const { min, max, decimal = false, unit, ...own } = words;
  const bounds = { ...(min === undefined ? {} : { min }), ...(max === undefined ? {} : { max }) };
  return field(z.preprocess(numberOf, schema), {
    ...own,
    reads: (typed, clock) => numberText(typed, unit) ?? own.reads?.(typed, clock) ?? null,
    input: { kind: 'number', decimal, ...bounds },
  });
}

export function switchField<Schema extends z.ZodType>(schema: Schema, words: FieldWords) {
  return field(z.preprocess(switchOf, schema), { ...words, input: { kind: 'switch' } });
}

export function choiceField<Schema extends z.ZodType>(
  schema: Schema,
  options: (among: FieldContext) => readonly string[],
  words: FieldWords,
) {
  const cased = z.preprocess((value) => inCaseOf(schema, value), schema);
  return field(cased, { ...words, input: { kind: 'choice', options } });
}

/** A choice among all values of an enumeration. */
export const enumField = <Schema extends z.ZodEnum>(schema: Schema, words: FieldWords) =>
  choiceField(schema, () => schema.options.map(String), words);

export function numberChoiceField<Schema extends z.ZodType>(
  schema: Schema,
  numbers: (among: FieldContext) => readonly number[],
  { unit, ...words }: FieldWords & NumberUnit,
) {
  const options = (among: FieldContext) => numbers(among).map(String);
  const reads = (typed: string) => numberText(typed, unit);
  return field(z.preprocess(numberOf, schema), {
    reads,
    ...words,
    input: { kind: 'choice', options },
  });
}

/** A Slack channel: selected in a form, or typed by name. */
export function channelField<Schema extends z.ZodType>(schema: Schema, words: FieldWords) {
  return field(schema, { ...words, input: { kind: 'channel' } });
}

/** Several values, separated by commas or line breaks. */
export function linesField<Schema extends z.ZodType>(schema: Schema, words: FieldWords) {
  return field(z.preprocess(linesOf, schema), { ...words, input: { kind: 'lines' } });
}

/** The keys that name a scope by one word; a form has the scope field for them. */
export const SCOPE_KEYS = {
  tag: scopeKey('tag', 'All services with this tag'),
  warehouse: scopeKey('warehouse', 'All services of this warehouse'),
};

/** The word `details` at the end of a line that shows something. */
export const Details = choiceField(z.enum(['details']), () => ['details'], {
  label: 'Details',
  typedOnly: true,
});

/** The same field, required. */
export function required<Inner extends z.ZodType>(field: z.ZodOptional<Inner>): Inner {
  return field.unwrap().meta(field.meta() ?? {});
}

interface NumberUnit {
  /** The spellings of the unit of this key. */
  readonly unit?: RegExp;
}

/** `64 GB`, `12,000`, `12k`, `1e3` → the number; null for another unit. */
function numberText(typed: string, unit?: RegExp): string | null {
  const [, digits, kilo, spelled = ''] =
    /^([+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e\+?\d{1,2})?)(k)?\s?([^\d\s]*)$/i.exec(
      typed.trim(),
    ) ?? [];
  if (digits === undefined || (spelled !== '' && !unit?.test(spelled))) return null;
  return String(Number(digits.replaceAll(',', '')) * (kilo ? 1_000 : 1));
}

function numberOf(value: unknown): unknown {
  const isNumber = typeof value === 'string' && /^[+-]?\d+([.]\d+)?$/.test(value.trim());
  return isNumber ? Number(value) : value;
}

function switchOf(value: unknown): unknown {
  const word = typeof value === 'string' ? value.trim().toLowerCase() : '';
  if (/^(on|yes|true|enabled)$/.test(word)) return true;
  return /^(off|no|false|disabled)$/.test(word) ? false : value;
}

// API enums are case-sensitive; typed values are not.
function inCaseOf(schema: z.ZodType, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const word = value.trim();
  const values = schema instanceof z.ZodEnum ? schema.options.map(String) : [];
  const typed = alike(word);
  const means = (one: string) => [one, wordOf(one)].some((text) => alike(text) === typed);
  return values.find(means) ?? word;
}

/** Case, spaces, hyphens and underscores do not distinguish two words. */
export function alike(text: string): string {
  return text.toLowerCase().replace(/[\s_-]+/g, '-');
}

function linesOf(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  // In a form each line is one value; a comma in it belongs to its description.
  return value
    .split(value.includes('\n') ? '\n' : ',')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** More than there are. */
export const COMMANDS_MAX = 200;

/**
 * The fields of a command in the order of its schema, with their metadata. Cached: each typed line needs those of several
 * commands, and a schema never changes.
 */
export const fieldsOf = cached(COMMANDS_MAX, (args: z.ZodObject): readonly Field[] =>
  Object.entries(args.shape).map(([name, schema]) => {
    // zod types registry entries loosely; every field of Signalbox has a FieldMeta.
    const meta = (schema.meta() ?? {}) as FieldMeta;
    return {
      ...meta,
      name,
      label: meta.label ?? name,
      optional: schema.safeParse(undefined).success,
    };
  }),
);

export function isPlaced(field: Field): boolean {
  return field.word === undefined && !field.rest;
}

/** The values of a choice; none of any other field. */
export function optionsOf({ input }: Field, among: FieldContext): readonly string[] {
  return input?.kind === 'choice' ? input.options(among) : [];
}

/** `list, add or remove` */
export function oneOf(words: readonly string[]): string {
  const last = words.at(-1) ?? '';
  return words.length > 1 ? `${words.slice(0, -1).join(', ')} or ${last}` : last;
}

/** Values that a rejected span may have meant. */
function similarSpans(typed: string): readonly string[] {
  const units = /^\d{1,3}$/.test(typed) ? ['h', 'd', 'm'] : [];
  return units
    .map((unit) => `${typed}${unit}`)
    .filter((span) => REVERT_SPAN.safeParse(span).success);
}

/** `8pm`, `tomorrow 9:00` → the one moment that it names. */
export function momentText(key: 'at' | 'until', typed: string, clock: LocalClock | null) {
  const read = clock && readTime(`${key} ${typed}`, clock);
  return read?.kind === 'taken' && read.key === key ? read.text : null;
}

const startShape = (verb: string) => ({
  at: textField(ClockTimeText, {
    word: 'at',
    label: `${upperFirst(verb)} at`,
    hint: '20:00 or monday 8:00, in your time zone. Leave empty to run once approved',
    synonyms: ['start', 'from', 'when', 'time', 'begin'],
    reads: (typed, clock) => momentText('at', typed, clock),
  }),
  in: textField(spanSchema('1m', '30d', '2h'), {
    word: 'in',
    label: `${upperFirst(verb)} in`,
    hint: 'For example 2h, instead of a time',
    suggestions: similarSpans,
    synonyms: ['after', 'wait', 'delay'],
    reads: typedSpan,
    typedOnly: true,
  }),
});

const REVERT = {
  for: textField(REVERT_SPAN, {
    word: 'for',
    label: 'Revert after',
    hint: '30m to 14d, for example 4h; leave empty to keep',
    suggestions: similarSpans,
    synonyms: ['hold', 'hours', 'back', 'duration'],
    reads: typedSpan,
  }),
  until: textField(ClockTimeText, {
    word: 'until',
    label: 'Revert at',
    hint: 'A time, instead of a duration',
    synonyms: ['till', 'til', 'to', 'end'],
    reads: (typed, clock) => momentText('until', typed, clock),
    typedOnly: true,
  }),
};

/**
 * The timing keys of a change; parser, forms and help use this definition. Their labels have the verb
 * of the command: `Stop at`.
 */
export function timingShape(
  timed: TimingSupport | undefined,
  verb: string,
): Readonly<Record<string, z.ZodType>> {
  if (timed === undefined) return {};
  return timed === 'start' ? startShape(verb) : { ...startShape(verb), ...REVERT };
}

/** Quotes a word so that `splitWords` reads the same word again. */
export function quoteWord({ text, quoted }: Word): string {
  if (quoted) return `"${escaped(text)}"`;
  const [, key = '', value = ''] = /^([\w-]+=)(.*)$/s.exec(text) ?? [];
  return key !== '' && /[\s"]/.test(value) ? `${key}"${escaped(value)}"` : text;
}

/** The words as they were typed, without their quotes. */
export function typedText(words: Words): string {
  return words.map(({ text }) => text).join(' ');
}

/** A quote inside quotes has a backslash before it, so that any text can be quoted. */
function escaped(text: string): string {
  return text.replace(/["\\]/g, '\\$&');
}

/** Returns the command line with the same values, for a button that enters it; `isExact`: names are quoted. */
export function commandLine(
  command: { readonly name: string; readonly args: ZodObject },
  given: Readonly<Record<string, string>>,
  reason: string,
  isExact = false,
): string {
  const words = fieldsOf(command.args).flatMap((field) => {
    const text = given[field.name];
    if (!text || field.rest) return [];
    const quoted = isPlaced(field) && (isExact || !/^[\w./-]+$/.test(text));
    return [quoteWord({ text: isPlaced(field) ? text : `${field.word}=${text}`, quoted })];
  });
  const search = fieldsOf(command.args).find((field) => field.rest);
  const sought = search && given[search.name];
  const tail = sought || (reason && quoteWord({ text: reason, quoted: true }));
  return [command.name, ...words, tail].filter(Boolean).join(' ');
}
