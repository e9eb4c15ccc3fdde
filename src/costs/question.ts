/** Reads the typed words of a question, its rows and its scope, or answers what is unclear. */
import { cached } from '../base/cache.ts';
import type { Span } from '../base/calendar.ts';
import { quoted } from '../base/problem.ts';
import { nearest } from '../base/text.ts';
import type { Day } from '../base/time.ts';
import {
  type Answer,
  type Caller,
  type CommandOffer,
  type Poster,
  textAnswer,
} from '../domain/answer.ts';
import type { UserId } from '../domain/change.ts';
import type { CostSelector } from '../domain/policy.ts';
import { findByName, nameToType, type Service } from '../domain/targets.ts';
import { dayStates, selectRows } from '../maths/days.ts';
import { GROUPINGS, type Grouping } from '../maths/lines.ts';
import { LONGEST_DAYS, versusWord } from '../maths/period.ts';
import {
  type CostQuestion,
  correctLine,
  MOST_LINES,
  metricWord,
  type Names,
  type QuestionProblem,
  type QuestionScope,
  readQuestion,
  type UnclearQuestion,
  wordsOfScope,
} from '../maths/question.ts';
import type { CostReading } from '../maths/report.ts';
import { type CostRow, METRICS } from '../maths/rows.ts';
import { type CostScope, costScope } from './scope.ts';

/** What the answers of `/cost` read. */
export interface CostContext {
  /** Costs of UTC days, both ends included; at most 15 min old. */
  readonly costs: (span: Span) => Promise<CostReading>;
  /** Reads the months that can still change again, a few times per user and 10 minutes. */
  readonly refreshCosts: (span: Span, by: UserId) => Promise<CostRefresh>;
  readonly services: readonly Service[];
  /** Posts an answer that a user shares. */
  readonly poster: Pick<Poster, 'postToChannel' | 'findChannels'>;
  readonly now: () => Date;
}

type CostRefresh =
  | { readonly ok: true; readonly read: CostReading }
  /** Too many refreshes; the time at which the next one is possible. */
  | { readonly ok: false; readonly again: Date };

type CostQuestionResult =
  | { readonly ok: true; readonly question: CostQuestion }
  | { readonly ok: false; readonly answer: Answer };

/** Suggestions if no similar question exists. */
const COMMON_QUESTIONS = ['mtd', '7d', 'last-month'];

interface Typed {
  /** The command before the words. */
  readonly command: 'cost' | 'cost csv' | 'cost forecast' | 'cost why';
  readonly words: string;
}

/** The question in the typed words, or an answer with suggestions. */
export function readCostQuestion(
  { command, words }: Typed,
  today: Day,
  services: readonly Service[],
): CostQuestionResult {
  const typed = words.split(/\s+/).filter((word) => word !== '');
  const names = questionNames(services);
  const reading = readQuestion(typed, today, names);
  if (reading.ok) return reading;
  const works = (line: string) => readQuestion(line.split(' '), today, names).ok;
  const subcommands = command === 'cost' ? subcommandsNear(reading, typed) : [];
  const near = reading.nearest.map((form) => correctLine(typed, reading.about, form)).filter(works);
  const meant = [...subcommands, ...near.map((line) => `${command} ${line}`)];
  const rest = withoutUnclear(reading, typed).filter(works);
  const others = (rest.length > 0 ? rest : COMMON_QUESTIONS).map((line) => `${command} ${line}`);
  const offers = (meant.length > 0 ? meant : others).map(costOffer);
  const hint = meant.length > 0 ? 'Did you mean:' : 'For example:';
  return { ok: false, answer: unclearAnswer(`${unclearQuestionText(reading)} ${hint}`, offers) };
}

/** The typed words without the unclear ones; none if no word is left. */
function withoutUnclear({ about }: UnclearQuestion, typed: readonly string[]): readonly string[] {
  const rest = typed.filter((_, index) => !about.includes(index));
  return rest.length > 0 ? [rest.join(' ')] : [];
}

function subcommandsNear(
  { problem, about }: UnclearQuestion,
  typed: readonly string[],
): readonly string[] {
  const [word = '', ...rest] = typed;
  if (problem !== 'unknown-words' || about[0] !== 0 || word.length < 3) return [];
  return nearest(word, COST_SUBCOMMANDS, 1).map((verb) => ['cost', verb, ...rest].join(' '));
}

/** The other commands of `/cost`, suggested when the first word is not understood. */
export const COST_SUBCOMMANDS = [
  'anomalies',
  'budget',
  'csv',
  'digest',
  'forecast',
  'why',
] as const;

export function unclearAnswer(text: string, offers: readonly CommandOffer[]): Answer {
  return textAnswer("I didn't understand that", text, offers.slice(0, 5));
}

export function costOffer(line: string): CommandOffer {
  return { label: line, line };
}

/** The names that a question can use. */
export function questionNames(services: readonly Service[]): Names {
  const called = (found: readonly Service[]) => found.map((one) => nameToType(one, services));
  return {
    tag: unique(services.flatMap(({ tags }) => tags ?? [])),
    warehouse: unique(services.flatMap(({ warehouse }) => warehouse ?? [])),
    team: unique(services.flatMap(({ team }) => team ?? [])),
    called: (text) => called(findByName(services, text)),
    within: (kind, name) => {
      const labels = ({ tags, warehouse, team }: Service) =>
        ({ tag: tags ?? [], warehouse: [warehouse], team: [team] })[kind];
      const isOne = (label: string | null) => label?.toLowerCase() === name.toLowerCase();
      return called(services.filter((one) => labels(one).some(isOne)));
    },
    near: (text) => {
      // A number alone would be similar to every name of two letters.
      if (!/\p{L}/u.test(text)) return [];
      const names = services.flatMap(({ name, aliases }) => [name, ...aliases]);
      const found = nearest(text, names).flatMap((name) => findByName(services, name));
      return [...new Set(called(found))].slice(0, 3);
    },
  };
}

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort();
}

/** One sentence about the problem of a question about costs. */
function unclearQuestionText({ problem, text, earlier }: UnclearQuestion): string {
  return text === '' ? (MISSING[problem] ?? MISSING_SOMETHING) : SENTENCES[problem](text, earlier);
}

const SENTENCES: Readonly<Record<QuestionProblem, (text: string, earlier: string) => string>> = {
  'unknown-words': (text) =>
    `There's no period, grouping, tag, warehouse, team or service called ${quoted(text)}.`,
  'no-such-day': (text) => `${quoted(text)} contains a day that does not exist.`,
  reversed: (text) => `${quoted(text)} ends before it begins.`,
  'in-the-future': (text) => `${quoted(text)} is in the future: costs end today (UTC).`,
  'no-days': (text) => `${quoted(text)} has no days.`,
  'too-long': (text) => `${quoted(text)} is too long: at most ${LONGEST_DAYS} days.`,
  'no-grouping': (text) => `Can't group by ${quoted(text)}, only by ${groupings()}.`,
  'no-comparison': (text) => `Can't compare with ${quoted(text)}. ${COMPARISONS}`,
  'no-number': (text) =>
    `${quoted(text)} is not a number of lines: “top” takes 1 to ${MOST_LINES}.`,
  'unknown-service': (text) => `There's no service called ${quoted(text)}.`,
  'unknown-tag': (text) => `No service has the tag ${quoted(text)} in signalbox.yaml.`,
  'unknown-warehouse': (text) => `There's no warehouse called ${quoted(text)}.`,
  'unknown-team': (text) => `No service is of the team ${quoted(text)} in signalbox.yaml.`,
  'unknown-metric': (text) => `There's no metric called ${quoted(text)}.`,
  'not-a-service': (text) => `“not” takes names of services, not ${quoted(text)}.`,
  'shared-name': (text) => `More than one service is called ${quoted(text)}. Which one?`,
  'has-a-key': (text) => keyText(text),
  'given-twice': (text, earlier) =>
    text === earlier
      ? `${quoted(text)} is given twice.`
      : `${quoted(earlier)} and ${quoted(text)} can't be combined. Choose one.`,
};

const COMPARISONS = 'Use prev, last-week, last-month or a period, for example 2026-10.';
const MISSING_SOMETHING = 'The end of the question is missing.';

const MISSING: Readonly<Partial<Record<QuestionProblem, string>>> = {
  'no-grouping': `“by” needs a grouping: ${groupings()}.`,
  'no-comparison': `“vs” needs a period to compare with. ${COMPARISONS}`,
  'no-number': `“top” needs a number of lines from 1 to ${MOST_LINES}.`,
  'unknown-service': '“only”, “not” and “service=” need the name of a service.',
  'unknown-tag': '“tag” needs the name of a tag.',
  'unknown-warehouse': '“warehouse” needs the name of a warehouse.',
  'unknown-team': '“team” needs the name of a team.',
  'unknown-metric': '“metric” needs a metric, for example compute or storage.',
};

function groupings(): string {
  return `${GROUPINGS.slice(0, -1).join(', ')} or ${GROUPINGS.at(-1)}`;
}

function keyText(text: string): string {
  const zone = /^(time-?)?zone=|^tz=/i.test(text) ? 'Days are always UTC days. ' : '';
  return `${quoted(text)} is not understood here. ${zone}Write plain words, for example: 7d by day.`;
}

type QuestionCosts =
  | { readonly ok: true; readonly read: CostReading }
  | { readonly ok: false; readonly answer: Answer };

/** The costs of these days, of the final ones if it is asked; read again for `refresh`. */
export async function readQuestionCosts(
  { refresh, final }: Pick<CostQuestion, 'refresh' | 'final'>,
  span: Span,
  { context, asker, typed }: QuestionSource,
): Promise<QuestionCosts> {
  const shown = (read: CostReading) => (final ? finalDaysOf(read, span) : read);
  if (!refresh) return { ok: true, read: shown(await context.costs(span)) };
  const refreshed = await context.refreshCosts(span, asker.by);
  return refreshed.ok
    ? { ok: true, read: shown(refreshed.read) }
    : { ok: false, answer: notRefreshedAnswer(refreshed.again, typed) };
}

function finalDaysOf(read: CostReading, span: Span): CostReading {
  const states = dayStates(read.rows, span);
  const days = new Set(states.flatMap(({ day, state }) => (state === 'final' ? day : [])));
  return { ...read, rows: read.rows.filter(({ day }) => days.has(day)) };
}

interface QuestionSource {
  readonly context: CostContext;
  readonly asker: Pick<Caller, 'by'>;
  readonly typed: Typed;
}

function notRefreshedAnswer(again: Date, { command, words }: Typed): Answer {
  const rest = words.split(/\s+/).filter((word) => word !== '' && word.toLowerCase() !== 'refresh');
  const line = [command, ...rest].join(' ');
  const reason = 'Costs were refreshed too often in a short time. You can refresh again ';
  return {
    title: 'Not refreshed',
    parts: [
      { kind: 'lines', lines: [[reason, { at: again }, '.']] },
      { kind: 'offers', offers: [{ label: 'Show stored costs', line }] },
    ],
  };
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

/** The same question, compared with the previous period. */
export function previousWords({ period, scope, final }: CostQuestion): string {
  const words = [`${period.first}..${period.last}`, ...wordsOfScope(scope)];
  return [...words, ...(final ? ['final'] : [])].join(' ');
}

/** The words of the question after `cost why`. */
export function whyWords(question: CostQuestion): string {
  const { period, versus, top } = question;
  const word = versusWord(period, versus ?? 'prev');
  const words = [
    previousWords(question),
    top === null ? null : `top ${top}`,
    versus === null && word === 'prev' ? null : `vs ${word}`,
  ];
  return words.filter((each) => each !== null).join(' ');
}

/** Selects the rows of a scope, with only the asked metric. */
export type SelectRows = (rows: readonly CostRow[]) => readonly CostRow[];

type ScopedRows =
  | {
      readonly ok: true;
      readonly rows: readonly CostRow[];
      readonly scope: CostScope;
      /** The scope as text; null for all costs. */
      readonly label: string | null;
      readonly select: SelectRows;
    }
  | { readonly ok: false; readonly answer: Answer };

interface ScopedQuestion {
  readonly question: Pick<CostQuestion, 'by' | 'scope'>;
  /** The same question with another scope, as a line to send. */
  readonly lineFor: (scope: QuestionScope) => string;
}

/**
 * The rows that a question is about, with the tags and teams of their services if it groups by them.
 * Refuses a warehouse that neither the configuration nor the rows name.
 */
export function scopedRows(
  { question, lineFor }: ScopedQuestion,
  rows: readonly CostRow[],
  services: readonly Service[],
): ScopedRows {
  const { warehouse: typed, not, metric, ...others } = question.scope;
  const known = typed.length > 0 ? knownWarehouses(rows, services) : { names: [], ids: [] };
  const unknown = typed.find((name) => warehouseNamed(known, name) === null);
  // Without any row, the report shows no warehouse.
  if (unknown !== undefined && rows.length > 0) {
    const words = known.names.map((name) => name.replaceAll(' ', '-'));
    return { ok: false, answer: unknownName({ question, lineFor }, 'warehouse', unknown, words) };
  }
  const warehouse = typed.map((name) => warehouseNamed(known, name) ?? name);
  const scope = costScope(selectionOf({ ...others, warehouse }, services), services, rows);
  const left = new Set(not.flatMap((name) => findByName(services, name)).map(({ id }) => id));
  const metrics = metric.length > 0 ? knownMetrics(rows) : [];
  const missing = metric.find((name) => !metrics.includes(name));
  if (missing !== undefined && rows.length > 0)
    return { ok: false, answer: unknownName({ question, lineFor }, 'metric', missing, metrics) };
  const select: SelectRows = (all) => {
    const own = selectRows(all, scope.selector);
    const kept = left.size > 0 ? own.filter(({ serviceId }) => !left.has(serviceId ?? '')) : own;
    return metric.length === 0 ? kept : kept.flatMap((row) => ofMetrics(row, metric));
  };
  const labels = [scope.label, ...not.map((each) => `not ${each}`), ...metric];
  const label = labels.filter((each) => each !== null).join(' · ') || null;
  const own = select(rows);
  const shown = isLabel(question.by) ? withLabels(own, services) : own;
  return { ok: true, scope, label, select, rows: shown };
}

/** The row with these metrics only; none if they cost nothing. */
function ofMetrics(row: CostRow, words: readonly string[]): readonly CostRow[] {
  const own = Object.entries(row.metrics).filter(([name]) => words.includes(metricWord(name)));
  const total = own.reduce((sum, [, amount]) => sum + amount, 0);
  return total === 0 ? [] : [{ ...row, metrics: Object.fromEntries(own), total }];
}

/** Those of the API, and others that the report has. */
function knownMetrics(rows: readonly CostRow[]): readonly string[] {
  const reported = new Set(rows.flatMap(({ metrics }) => Object.keys(metrics)));
  return [...new Set([...METRICS, ...reported])].map(metricWord);
}

function isLabel(by: Grouping): boolean {
  return by === 'tag' || by === 'team';
}

type SelectedScope = Omit<QuestionScope, 'not' | 'metric'>;

function selectionOf(scope: SelectedScope, services: readonly Service[]): CostSelector | null {
  if (Object.values(scope).every((names) => names.length === 0)) return null;
  const named = (names: readonly string[]) => (names.length > 0 ? names : null);
  const found = scope.service.flatMap((name) => findByName(services, name));
  return {
    services: scope.service.length > 0 ? found.map(({ id, name }) => ({ id, name })) : null,
    tags: named(scope.tag),
    warehouses: named(scope.warehouse),
    teams: named(scope.team),
  };
}

interface KnownWarehouses {
  readonly names: readonly string[];
  readonly ids: readonly string[];
}

function knownWarehouses(rows: readonly CostRow[], services: readonly Service[]): KnownWarehouses {
  const configured = services.flatMap(({ warehouse }) => warehouse ?? []);
  const reported = rows.flatMap(({ kind, entityName }) => (kind === 'warehouse' ? entityName : []));
  const ids = rows.flatMap(({ warehouseId }) => warehouseId ?? []);
  return { names: [...new Set([...configured, ...reported])], ids: [...new Set(ids)] };
}

/** By name or id. A typed name is one word, so that it has dashes for the spaces. */
function warehouseNamed({ names, ids }: KnownWarehouses, typed: string): string | null {
  const word = (name: string) => name.toLowerCase().replaceAll(' ', '-');
  return [...names, ...ids].find((name) => word(name) === word(typed)) ?? null;
}

/** A name that neither the configuration nor the report has. */
function unknownName(
  { question, lineFor }: ScopedQuestion,
  kind: 'warehouse' | 'metric',
  text: string,
  names: readonly string[],
): Answer {
  const near = nearest(text, names);
  const offers = (near.length > 0 ? near : names.slice(0, 3)).map((name) => {
    const own = question.scope[kind].map((one) => (one === text ? name : one));
    return costOffer(lineFor({ ...question.scope, [kind]: own }));
  });
  const problem = { ok: false, problem: `unknown-${kind}`, text, earlier: '' } as const;
  const sentence = unclearQuestionText({ ...problem, about: [], nearest: [] });
  return unclearAnswer(`${sentence} Did you mean:`, offers);
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
