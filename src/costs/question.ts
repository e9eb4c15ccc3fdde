/** Reads the typed words of a question, its rows and its scope, or answers what is unclear. */
import { cached } from '../base/cache.ts';
import { lengthOf, type Span, startOf } from '../base/calendar.ts';
import { quoted } from '../base/problem.ts';
import { nearest } from '../base/text.ts';
import type { Day } from '../base/time.ts';
import {
  type Answer,
  type AnswerPart,
  type Caller,
  type Poster,
  textAnswer,
} from '../domain/answer.ts';
import type { UserId } from '../domain/change.ts';
import type { CostSelector } from '../domain/policy.ts';
import { findByName, nameToType, type Service } from '../domain/targets.ts';
import { dayStates, selectRows } from '../maths/days.ts';
import { LONGEST_DAYS, versusWord } from '../maths/period.ts';
import {
  type CostQuestion,
  correctLine,
  groupingsFor,
  isOfMetric,
  MOST_LINES,
  type Names,
  type QuestionProblem,
  type QuestionScope,
  readQuestion,
  type UnclearQuestion,
  wordsOfScope,
} from '../maths/question.ts';
import type { CostReading } from '../maths/report.ts';
import type { CostRow } from '../maths/rows.ts';
import { ofOrganizations, withoutText } from './organizations.ts';
import { type CostScope, costScope } from './scope.ts';

/** What the answers of `/cost` read. */
export interface CostContext {
  /** Costs of UTC days, both ends included; at most 15 min old. */
  readonly costs: (span: Span) => Promise<CostReading>;
  /** Reads the months that can still change again, a few times per user and 10 minutes. */
  readonly refreshCosts: (span: Span, by: UserId) => Promise<CostRefresh>;
  readonly services: readonly Service[];
  readonly organizations?: readonly { readonly name: string | null }[];
  /** Posts an answer that a user shares. */
  readonly poster: Pick<Poster, 'postToChannel' | 'findChannels'>;
  readonly now: () => Date;
}

type CostRefresh =
  | { readonly ok: true; readonly read: CostReading }
  /** Too many refreshes; the time at which the next one is possible. */
  | { readonly ok: false; readonly again: Date };

interface QuestionCommand {
  /** Suggestions if no similar question exists. */
  readonly examples?: readonly string[];
  /** Which questions it answers, and the sentence to all others. */
  readonly accepts?: (question: CostQuestion, today: Day) => boolean;
  readonly refusal?: string;
}

const EXAMPLES = ['mtd', '7d', 'last-month'];

const COMMANDS = {
  cost: {},
  'cost csv': {
    accepts: ({ versus, top, average }) => !versus && top === null && !average,
    refusal: 'The file contains every row: “vs”, “top” and “average” are not possible here.',
  },
  'cost why': {
    accepts: ({ by, top, average }) => by === 'service' && top === null && !average,
    refusal:
      'The lines are services with their metrics: “by”, “top” and “average” are not possible here.',
  },
  'cost forecast': {
    examples: ['month', 'next-month', 'quarter', 'year'],
    accepts: isScopeOnly,
    refusal: 'A forecast takes month, next-month, quarter or year, and services, tags or teams.',
  },
} satisfies Record<string, QuestionCommand>;

/** Whether the words have no other period, grouping or comparison. */
function isScopeOnly(question: CostQuestion, today: Day): boolean {
  const { period, by, versus, top, average, final } = question;
  const isMonth = period.unit === 'month' && period.first === startOf('month', today);
  return isMonth && by === 'service' && !versus && top === null && !average && !final;
}

/** The question in the typed words, or an answer with suggestions. */
export function readCostQuestion(
  { command, words }: { readonly command: keyof typeof COMMANDS; readonly words: string },
  today: Day,
  known: Pick<CostContext, 'services' | 'organizations'>,
) {
  const {
    examples = EXAMPLES,
    accepts = () => true,
    refusal = '',
  }: QuestionCommand = COMMANDS[command];
  const typed = words.split(/\s+/).filter((word) => word !== '');
  const names = questionNames(known);
  const reading = readQuestion(typed, today, names);
  const forExample = (sentence: string, lines = examples) =>
    unclear(`${sentence} For example:`, linesAfter(command, lines));
  if (reading.ok && accepts(reading.question, today)) return reading;
  if (reading.ok) return forExample(refusal);
  const works = (line: string) => {
    const read = readQuestion(line.split(' '), today, names);
    return read.ok && accepts(read.question, today);
  };
  const near = reading.nearest.map((form) => correctLine(typed, reading.about, form)).filter(works);
  const sentence = unclearQuestionText(reading, names);
  const [first = '', ...rest] = typed;
  const isVerb =
    command === 'cost' && reading.problem === 'unknown-words' && reading.about[0] === 0;
  const verbs = isVerb ? nearest(first, COST_VERBS, 1) : [];
  const meant = [
    ...verbs.map((verb) => ['cost', verb, ...rest].join(' ')),
    ...linesAfter(command, near),
  ];
  if (meant.length > 0) return unclear(`${sentence} Did you mean:`, meant);
  // The typed words without the unclear ones.
  const left = typed.filter((_, index) => !reading.about.includes(index)).join(' ');
  return forExample(sentence, left !== '' && works(left) ? [left] : examples);
}

function linesAfter(command: string, words: readonly string[]): readonly string[] {
  return words.map((line) => `${command} ${line}`);
}

function unclear(text: string, lines: readonly string[]) {
  return { ok: false, answer: unclearAnswer(text, lines) } as const;
}

/** The other commands of `/cost`, suggested when the first word is not understood. */
export const COST_VERBS = ['anomalies', 'budget', 'csv', 'digest', 'forecast', 'why'] as const;

export function unclearAnswer(text: string, lines: readonly string[]): Answer {
  const offers = lines.slice(0, 5).map((line) => ({ label: line, line }));
  return textAnswer("I didn't understand that", text, offers);
}

/** The names that a question can use. */
function questionNames({
  services,
  organizations = [],
}: Pick<CostContext, 'services' | 'organizations'>): Names {
  const called = (found: readonly Service[]) => found.map((one) => nameToType(one, services));
  return {
    organization: organizations.length > 1 ? organizations.flatMap(({ name }) => name ?? []) : [],
    tag: [...new Set(services.flatMap(({ tags }) => tags ?? []))].sort(),
    team: [...new Set(services.flatMap(({ team }) => team ?? []))].sort(),
    called: (text) => called(findByName(services, text)),
    near: (text) => {
      // A number alone would be similar to every name of two letters.
      if (!/\p{L}/u.test(text)) return [];
      const names = services.flatMap(({ name, aliases }) => [name, ...aliases]);
      const found = nearest(text, names).flatMap((name) => findByName(services, name));
      return [...new Set(called(found))].slice(0, 3);
    },
  };
}

/** One sentence about the problem of a question about costs. */
function unclearQuestionText({ problem, text, earlier }: UnclearQuestion, names: Names): string {
  if (text === '') return 'The end of the question is missing.';
  return SENTENCES[problem](text, earlier, groupingsFor(names));
}

type Sentence = (text: string, earlier: string, groupings: readonly string[]) => string;

const SENTENCES: Readonly<Record<QuestionProblem, Sentence>> = {
  'unknown-words': (text) =>
    `There's no period, grouping, tag, team or service called ${quoted(text)}.`,
  'no-such-day': (text) => `${quoted(text)} contains a day that does not exist.`,
  reversed: (text) => `${quoted(text)} ends before it begins.`,
  'in-the-future': (text) => `${quoted(text)} is in the future: costs end today (UTC).`,
  'no-days': (text) => `${quoted(text)} has no days.`,
  'too-long': (text) => `${quoted(text)} is too long: at most ${LONGEST_DAYS} days.`,
  'no-grouping': (text, _, groupings) =>
    `Can't group by ${quoted(text)}, only by ${groupings.join(', ')}.`,
  'no-comparison': (text) =>
    `Can't compare with ${quoted(text)}. Use prev or a period, for example 2026-10.`,
  'no-number': (text) =>
    `${quoted(text)} is not a number of lines: “top” takes 1 to ${MOST_LINES}.`,
  'unknown-service': (text) => `There's no service called ${quoted(text)}.`,
  'unknown-tag': (text) => `There's no tag called ${quoted(text)}.`,
  'unknown-team': (text) => `There's no team called ${quoted(text)}.`,
  'unknown-organization': (text) => `There's no organization called ${quoted(text)}.`,
  'unknown-metric': (text) => `There's no metric called ${quoted(text)}.`,
  'shared-name': (text) => `More than one service is called ${quoted(text)}. Which one?`,
  'given-twice': (text, earlier) =>
    text === earlier
      ? `${quoted(text)} is given twice.`
      : `${quoted(earlier)} and ${quoted(text)} can't be combined. Choose one.`,
};

export interface QuestionSource {
  readonly context: CostContext;
  readonly asker: Pick<Caller, 'by'>;
  /** The same question as a line to send. */
  readonly line: string;
}

/** Selects the rows of a scope, with only the asked metric. */
export type SelectRows = (rows: readonly CostRow[]) => readonly CostRow[];

export type AskedCosts =
  | {
      readonly ok: true;
      readonly read: CostReading;
      /** With the tags and teams of their services if the question groups by them. */
      readonly rows: readonly CostRow[];
      readonly scope: CostScope;
      /** The scope as text; null for all costs. */
      readonly label: string | null;
      readonly select: SelectRows;
    }
  | { readonly ok: false; readonly answer: Answer };

/** The longest period, and the whole weeks before it that `vs prev` compares it with. */
const READ_AT_MOST_DAYS = LONGEST_DAYS + 7 * Math.ceil(LONGEST_DAYS / 7);

/** The costs of these days that a question is about; read again for `refresh`. */
export async function askCosts(
  question: Pick<CostQuestion, 'by' | 'scope' | 'refresh' | 'final'>,
  span: Span,
  source: QuestionSource,
): Promise<AskedCosts> {
  const { context, asker, line } = source;
  if (lengthOf(span) > READ_AT_MOST_DAYS) {
    const text = `The period to compare with begins more than ${READ_AT_MOST_DAYS} days back. Use instead:`;
    return unclear(text, [line.replace(/ vs .*$/, ' vs prev')]);
  }
  const { refresh, final } = question;
  const refreshed: CostRefresh = refresh
    ? await context.refreshCosts(span, asker.by)
    : { ok: true, read: await context.costs(span) };
  if (!refreshed.ok) {
    const reason = 'Costs were refreshed too often in a short time. You can refresh again ';
    const stored = { label: 'Show stored costs', line };
    const parts: readonly AnswerPart[] = [
      { kind: 'lines', lines: [[reason, { at: refreshed.again }, '.']] },
      { kind: 'offers', offers: [stored] },
    ];
    return { ok: false, answer: { title: 'Not refreshed', parts } };
  }
  const own = ofOrganizations(refreshed.read, question.scope.organization);
  const read = final ? finalDaysOf(own, span) : own;
  const scoped = scopedRows(question, read.rows, context.services);
  const label = [scoped.label, withoutText(read).trim()].filter(Boolean).join(' · ') || null;
  return { ok: true, ...scoped, label, read };
}

function finalDaysOf(read: CostReading, span: Span): CostReading {
  const states = dayStates(read.rows, span);
  const days = new Set(states.flatMap(({ day, state }) => (state === 'final' ? day : [])));
  return { ...read, rows: read.rows.filter(({ day }) => days.has(day)) };
}

/** The words of the same question, without `refresh`; optionally for another period. */
export function questionWords(
  { period, by, scope, versus, top, average, final }: CostQuestion,
  word = `${period.first}..${period.last}`,
): string {
  const words = [
    word,
    `by ${by}`,
    ...wordsOfScope(scope),
    average ? 'average' : null,
    final ? 'final' : null,
    top === null ? null : `top ${top}`,
    versus === null ? null : `vs ${versusWord(period, versus)}`,
  ];
  return words.filter((each) => each !== null).join(' ');
}

/** The rows that a question is about. */
export function scopedRows(
  { by, scope: asked }: Pick<CostQuestion, 'by' | 'scope'>,
  rows: readonly CostRow[],
  services: readonly Service[],
): Omit<AskedCosts & { ok: true }, 'ok' | 'read'> {
  const { organization, not, metric, ...others } = asked;
  const scope = costScope(selectionOf(others, services), services, rows);
  const left = new Set(not.flatMap((name) => findByName(services, name)).map(({ id }) => id));
  const select: SelectRows = (all) => {
    const own = selectRows(all, scope.selector);
    const kept = left.size > 0 ? own.filter(({ serviceId }) => !left.has(serviceId ?? '')) : own;
    return metric.length === 0 ? kept : kept.flatMap((row) => ofMetrics(row, metric));
  };
  const labels = [...organization, scope.label, ...not.map((each) => `not ${each}`), ...metric];
  const label = labels.filter((each) => each !== null).join(' · ') || null;
  const own = select(rows);
  const shown = by === 'tag' || by === 'team' ? withLabels(own, services) : own;
  return { scope, label, select, rows: shown };
}

/** The row with these metrics only; none if they cost nothing. */
function ofMetrics(row: CostRow, words: readonly string[]): readonly CostRow[] {
  const own = Object.entries(row.metrics).filter(([name]) =>
    words.some((word) => isOfMetric(word, name)),
  );
  const total = own.reduce((sum, [, amount]) => sum + amount, 0);
  return total === 0 ? [] : [{ ...row, metrics: Object.fromEntries(own), total }];
}

function selectionOf(
  { service, tag, team }: Omit<QuestionScope, 'organization' | 'not' | 'metric'>,
  services: readonly Service[],
): CostSelector | null {
  const named = <Item>(names: readonly string[], items: readonly Item[]) =>
    names.length > 0 ? items : null;
  const found = service.flatMap((name) => findByName(services, name));
  const own = found.map(({ id, name }) => ({ id, name }));
  const selection = {
    services: named(service, own),
    tags: named(tag, tag),
    teams: named(team, team),
  };
  const isAll = Object.values(selection).every((one) => one === null);
  return isAll ? null : { ...selection, warehouses: null };
}

/**
 * A service with several tags has all of them in one label, so that its costs count once. The storage
 * of a warehouse has the label that all of its services share.
 */
function withLabels(rows: readonly CostRow[], services: readonly Service[]): readonly CostRow[] {
  const labels = new Map(
    services.flatMap(({ id, tags, team }) => {
      if (tags === null) return [];
      const tag = tags.toSorted().join(', ') || 'no tag';
      return [[id, { tag, team: team ?? 'no team' }] as const];
    }),
  );
  const ofServices = rows.filter(({ serviceId }) => serviceId !== null);
  const byWarehouse = Map.groupBy(ofServices, ({ warehouseId }) => warehouseId);
  const shared = (warehouse: string | null) => {
    const all = (byWarehouse.get(warehouse) ?? []).map((row) => labels.get(row.serviceId ?? ''));
    const [first] = all;
    const isSame = (of: 'tag' | 'team') => all.every((one) => one?.[of] === first?.[of]);
    return first && isSame('tag') && isSame('team') ? first : undefined;
  };
  const ofStorage = cached(MOST_WAREHOUSES, (warehouse: string) => shared(warehouse) ?? null);
  return rows.map((row) => {
    const own =
      row.kind === 'warehouse' && row.warehouseId !== null
        ? ofStorage(row.warehouseId)
        : labels.get(row.serviceId ?? '');
    return own ? { ...row, labels: own } : row;
  });
}

const MOST_WAREHOUSES = 1_000;
