import { nearest as similar } from '../base/text.ts';
import type { Day } from '../base/time.ts';
import { GROUPINGS, type Grouping, metricName } from './lines.ts';
import {
  monthToDate,
  type Period,
  type PeriodProblem,
  periodAt,
  periodForms,
  type Versus,
} from './period.ts';
import { METRICS } from './rows.ts';

// The words after `/cost` as a question about costs, and a question as words.

/** What a question can be restricted to; `not`: all services but these. */
export const SCOPE_KINDS = ['organization', 'service', 'tag', 'team', 'not', 'metric'] as const;
type ScopeKind = (typeof SCOPE_KINDS)[number];

/** The names of a question. Without any name of a kind, it is not restricted by that kind. */
export type QuestionScope = Readonly<Record<ScopeKind, readonly string[]>>;

export const ALL_COSTS: QuestionScope = {
  organization: [],
  service: [],
  tag: [],
  team: [],
  not: [],
  metric: [],
};

/** A question about costs. */
export interface CostQuestion {
  readonly period: Period;
  readonly by: Grouping;
  readonly versus: Versus | null;
  /** The number of lines, the most expensive ones; null: as many as fit. */
  readonly top: number | null;
  readonly scope: QuestionScope;
  /** Reads the report again now. */
  readonly refresh: boolean;
  /** Posts the answer into the channel. */
  readonly share: boolean;
  /** The title has the average per day. */
  readonly average: boolean;
  /** Days that are not final are left out. */
  readonly final: boolean;
}

/** The names that a question can use. */
export interface Names {
  /** Those of several organizations; none where there is only one. */
  readonly organization?: readonly string[];
  readonly tag: readonly string[];
  readonly team: readonly string[];
  /** A unique name for each service of this name; more than one if services share it. */
  readonly called: (text: string) => readonly string[];
  /** Similar names, the most similar first; often none. */
  readonly near: (text: string) => readonly string[];
}

export type QuestionProblem =
  | PeriodProblem
  | 'no-grouping'
  | 'no-comparison'
  | 'no-number'
  | 'unknown-service'
  | 'unknown-tag'
  | 'unknown-team'
  | 'unknown-organization'
  | 'unknown-metric'
  | 'shared-name'
  | 'given-twice';

export interface UnclearQuestion {
  readonly ok: false;
  readonly problem: QuestionProblem;
  /** The problematic words; empty if a word is missing. */
  readonly text: string;
  /** The earlier words that cannot be combined with `text`; empty if there are none. */
  readonly earlier: string;
  /** The positions of the words that a suggestion replaces. */
  readonly about: readonly number[];
  readonly nearest: readonly string[];
}

type QuestionReading = { readonly ok: true; readonly question: CostQuestion } | UnclearQuestion;

/** What the next words add to a question. */
interface QuestionPart extends Partial<Omit<CostQuestion, 'scope'>> {
  readonly scope?: { readonly kind: ScopeKind; readonly names: readonly string[] };
}

/** The meaning of the next words, and how many of them were used. */
type KeywordStep =
  /** Null for an unknown word. */
  | { readonly ok: true; readonly part: QuestionPart | null; readonly taken: number }
  | KeywordRefusal;

interface KeywordRefusal {
  readonly ok: false;
  readonly problem: QuestionProblem;
  readonly text: string;
  /** The number of words that a suggestion replaces. */
  readonly taken: number;
  readonly nearest: readonly string[];
}

interface QuestionContext {
  readonly today: Day;
  readonly names: Names;
}

type Parts = Partial<CostQuestion>;

/**
 * Reads the words after `/cost`, in any order: a period, `by …`, `vs …`, `top N`, `final`, `refresh`,
 * and the names of services, or `tag`, `team` and `metric` with a name. After `only`, the name of a
 * service may equal a keyword. Default: `mtd by service`. Unknown words are never guessed but refused
 * with suggestions. Source: docs/commands.md#cost-questions.
 */
export function readQuestion(words: readonly string[], today: Day, names: Names): QuestionReading {
  let parts: Parts = {};
  const places = new Map<string, readonly number[]>();
  const unknown: number[] = [];
  for (let at = 0; at < words.length; ) {
    const step = stepAt(words.slice(at), { today, names });
    const own = placesOf(at, step.taken);
    if (!step.ok) return misread(step, own);
    const [key] = Object.keys(step.part ?? {});
    if (step.part === null || key === undefined) unknown.push(...own);
    else {
      const before = key === 'scope' ? undefined : places.get(key);
      if (before) return repeated(words, [before, own]);
      places.set(key, own);
      parts = withPart(parts, step.part);
    }
    at += step.taken;
  }
  if (unknown.length > 0) return unknownWords(words, unknown, { today, names });
  return questionOf(parts, today);
}

function withPart(parts: Parts, { scope, ...part }: QuestionPart): Parts {
  if (!scope) return { ...parts, ...part };
  const { kind, names } = scope;
  const before = parts.scope ?? ALL_COSTS;
  return { ...parts, scope: { ...before, [kind]: [...new Set([...before[kind], ...names])] } };
}

function placesOf(first: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => first + index);
}

/** A part that may occur once. */
function repeated(
  words: readonly string[],
  [before, own]: readonly [readonly number[], readonly number[]],
): UnclearQuestion {
  const textAt = (places: readonly number[]) => places.map((place) => words[place]).join(' ');
  const [first, second] = [textAt(before), textAt(own)];
  const nearest = [...new Set([first, second])];
  return misread(refusal('given-twice', second, nearest), [...before, ...own], first);
}

const OFFERED = 3;

/** The first unknown word, with the unknown words right after it. */
function unknownWords(
  words: readonly string[],
  places: readonly number[],
  { today, names }: QuestionContext,
): UnclearQuestion {
  const about = places.filter((place, index) => place === (places[0] ?? 0) + index);
  const text = about.map((place) => words[place]).join(' ');
  const near = [
    ...similar(text, groupingsFor(names)).map((known) => `by ${known}`),
    ...names.near(text),
    ...(['tag', 'team', 'organization'] as const).flatMap((kind) =>
      similar(text, names[kind] ?? []).map((name) => `${kind} ${name}`),
    ),
    ...similar(text, [...periodForms(today), ...FLAGS.keys()]),
  ];
  const nearest = [...new Set(near)].slice(0, OFFERED);
  return misread(refusal('unknown-words', text, nearest), about);
}

function questionOf(parts: Parts, today: Day): QuestionReading {
  const { by = 'service', versus = null, top = null, scope = ALL_COSTS } = parts;
  const { refresh = false, share = false, average = false, final = false } = parts;
  const { period = monthToDate(today) } = parts;
  return { ok: true, question: { period, by, versus, top, scope, refresh, share, average, final } };
}

function misread(
  { taken: _, ...unclear }: KeywordRefusal,
  about: readonly number[],
  earlier = '',
): UnclearQuestion {
  return { ...unclear, about, earlier };
}

const FLAGS: ReadonlyMap<string, QuestionPart> = new Map<string, QuestionPart>([
  ['refresh', { refresh: true }],
  ['share', { share: true }],
  ['final', { final: true }],
  ['average', { average: true }],
]);

function stepAt(words: readonly string[], context: QuestionContext): KeywordStep {
  const [typed = '', ...rest] = words;
  // Also `tag=prod,eu`, as in the commands about digests.
  const [key = '', value] = typed.split('=', 2);
  const keyword = KEYWORDS.get(key.toLowerCase());
  if (keyword && value !== undefined) return { ...keyword([value], context), taken: 1 };
  // The suggestions of a keyword contain the keyword, so they replace it too.
  if (keyword) {
    const step = keyword(rest, context);
    return { ...step, taken: step.taken + 1 };
  }
  const flag = FLAGS.get(typed.toLowerCase());
  if (flag) return { ok: true, part: flag, taken: 1 };
  const period = periodAt(words, context.today);
  const named = serviceAt(words, context.names, period?.reading.ok ? period.taken + 1 : 1);
  if (named) return named;
  if (nameIn(context.names.organization, typed)) return readNamed('organization', words, context);
  // `compute` alone can mean one thing only.
  if (METRIC_WORDS.includes(typed.toLowerCase())) return readNamed('metric', words, context);
  if (!period) return { ok: true, part: null, taken: 1 };
  const { reading, taken } = period;
  if (reading.ok) return { ok: true, part: { period: reading.period }, taken };
  const { problem, nearest } = reading;
  return refusal(problem, words.slice(0, taken).join(' '), nearest, taken);
}

type StepReader = (words: readonly string[], context: QuestionContext) => KeywordStep;

/** Readers of the words after a keyword. */
const KEYWORDS: ReadonlyMap<string, StepReader> = new Map<string, StepReader>([
  ['by', readGrouping],
  ['vs', readVersus],
  ['top', readTop],
  ['only', readOnly],
  ['service', readOnly],
  ['not', readNot],
  ...(['metric', 'tag', 'team', 'organization'] as const).map((kind): [string, StepReader] => [
    kind,
    (words, context) => readNamed(kind, words, context),
  ]),
]);

function readGrouping([typed = '']: readonly string[], { names }: QuestionContext): KeywordStep {
  const groupings = groupingsFor(names);
  const by = groupings.find((grouping) => grouping === typed.toLowerCase());
  if (by !== undefined) return { ok: true, part: { by }, taken: 1 };
  return refusal('no-grouping', typed, nearestOf(typed, groupings, 'by '));
}

/** Lines by organization say nothing where there is only one. */
export function groupingsFor({ organization = [] }: Names): readonly Grouping[] {
  return GROUPINGS.filter((by) => by !== 'organization' || organization.length > 0);
}

function readVersus(words: readonly string[], { today }: QuestionContext): KeywordStep {
  const [typed = ''] = words;
  if (typed.toLowerCase() === 'prev') return { ok: true, part: { versus: 'prev' }, taken: 1 };
  const period = typed === '' ? null : periodAt(words, today);
  if (!period) return refusal('no-comparison', typed, ['vs prev']);
  const { taken, reading } = period;
  if (reading.ok) return { ok: true, part: { versus: reading.period }, taken };
  const nearest = reading.nearest.map((form) => `vs ${form}`);
  return refusal(reading.problem, words.slice(0, taken).join(' '), nearest, taken);
}

/** The largest number after `top`. */
export const MOST_LINES = 100;

function readTop([typed = '']: readonly string[]): KeywordStep {
  const top = /^\d{1,3}$/.test(typed) ? Number(typed) : 0;
  if (top >= 1 && top <= MOST_LINES) return { ok: true, part: { top }, taken: 1 };
  return refusal('no-number', typed, ['top 5', 'top 10', `top ${MOST_LINES}`]);
}

/** The longest service name at the start, which may contain keywords. */
function readOnly(words: readonly string[], { names }: QuestionContext, least = 0): KeywordStep {
  const named = serviceAt(words, names);
  if (named) return named;
  const end = words.findIndex((word, at) => at >= least && KEYWORDS.has(word.toLowerCase()));
  const own = end < 0 ? words : words.slice(0, end);
  const text = own.join(' ');
  return refusal('unknown-service', text, text === '' ? [] : names.near(text), own.length);
}

/** A service that is left out; never a tag. */
function readNot(words: readonly string[], context: QuestionContext): KeywordStep {
  const step = readOnly(words, context, 1);
  if (!step.ok) return { ...step, nearest: step.nearest.map((name) => `not ${name}`) };
  const names = step.part?.scope?.names ?? [];
  return { ...step, part: { scope: { kind: 'not', names } } };
}

/** A metric as a word of a question: `data-transfer`. */
function metricWord(metric: string): string {
  return metricName(metric).replaceAll(' ', '-');
}

/** Whether a metric is the one of this word, or one of all that are called transfer. */
export function isOfMetric(word: string, metric: string): boolean {
  return word === 'transfer' ? /transfer$/.test(metricWord(metric)) : word === metricWord(metric);
}

const METRIC_WORDS = [...METRICS.map(metricWord), 'transfer'];

function nameIn(known: readonly string[] = [], text: string): string | null {
  return known.find((name) => name.toLowerCase() === text.toLowerCase()) ?? null;
}

/** Reads the word after `metric`, `tag`, `team` or `organization`: one name, or several with commas. */
function readNamed(
  kind: 'metric' | 'tag' | 'team' | 'organization',
  [typed = '']: readonly string[],
  { names }: QuestionContext,
): KeywordStep {
  const known = kind === 'metric' ? METRIC_WORDS : (names[kind] ?? []);
  const read = listOf(typed).map((text) => ({ text, name: nameIn(known, text) }));
  const missing = read.find(({ name }) => name === null);
  if (missing || read.length === 0) {
    const text = missing?.text ?? '';
    const near = nearestOf(text, known, `${kind} `);
    return refusal(`unknown-${kind}`, text, near, typed === '' ? 0 : 1);
  }
  const own = read.flatMap(({ name }) => name ?? []);
  return { ok: true, part: { scope: { kind, names: own } }, taken: 1 };
}

const LONGEST_NAME_WORDS = 8;

/** The longest service name at the start, with at least that many words. */
function serviceAt(words: readonly string[], names: Names, least = 1): KeywordStep | null {
  for (let taken = Math.min(LONGEST_NAME_WORDS, words.length); taken >= least; taken -= 1) {
    const text = words.slice(0, taken).join(' ');
    const called = names.called(text);
    if (called.length === 1) return servicesStep(called, taken);
    if (called.length > 1) return refusal('shared-name', text, called, taken);
  }
  const [typed = ''] = words;
  const listed = typed.includes(',') ? listOf(typed).map(names.called) : [];
  const isList = listed.length > 0 && listed.every(({ length }) => length === 1);
  return isList ? servicesStep(listed.flat(), 1) : null;
}

function servicesStep(names: readonly string[], taken: number): KeywordStep {
  return { ok: true, part: { scope: { kind: 'service', names } }, taken };
}

function listOf(typed: string): readonly string[] {
  return typed.split(',').filter((text) => text !== '');
}

/** By default, one word is invalid, or none if it is missing. */
function refusal(
  problem: QuestionProblem,
  text: string,
  nearest: readonly string[],
  taken = text === '' ? 0 : 1,
): KeywordRefusal {
  return { ok: false, problem, text, taken, nearest };
}

/** Similar words, or the first ones if none is similar, each after `before`. */
function nearestOf(typed: string, known: readonly string[], before: string): readonly string[] {
  const near = similar(typed, known);
  return (near.length > 0 ? near : known).slice(0, OFFERED).map((word) => `${before}${word}`);
}

/** The words that select the same costs; `only` because a name may equal a keyword. */
export function wordsOfScope(scope: QuestionScope): readonly string[] {
  return SCOPE_KINDS.flatMap((kind) =>
    scope[kind].map((name) => `${kind === 'service' ? 'only' : kind} ${name}`),
  );
}

/** The typed words with a suggestion in place of the problematic ones. */
export function correctLine(
  words: readonly string[],
  about: readonly number[],
  near: string,
): string {
  const [place = words.length] = about;
  const before = words.slice(0, place);
  const after = words.filter((_, index) => index >= place && !about.includes(index));
  return [...before, near, ...after].join(' ');
}
