import { formatSpan, lengthOf, type Span, spanOfBoth, within } from '../base/calendar.ts';
import { DAY_MS, dayOf } from '../base/time.ts';
import {
  type Answer,
  type AnswerPart,
  type Caller,
  type CommandOffer,
  countWords,
  type InlinePart,
} from '../domain/answer.ts';
import {
  type Change,
  changeTitle,
  type TargetKind,
  targetKey,
  type UserId,
} from '../domain/change.ts';
import { valueText } from '../domain/targets.ts';
import { type Log, listChanges } from '../log/index.ts';
import {
  type DayPairs,
  type Explanation,
  explainChange,
  pairsOf,
  relativeOf,
} from '../maths/compare.ts';
import {
  bracketed,
  changeText,
  creditsText,
  figure,
  signedCredits,
  signedFigure,
} from '../maths/numbers.ts';
import { comparisonPeriod, type Period, versusWord } from '../maths/period.ts';
import type { CostQuestion, QuestionScope } from '../maths/question.ts';
import { type CostReading, problemsOf } from '../maths/report.ts';
import { READ_AT_MOST_DAYS, tooFarBack } from './answer.ts';
import { missingText } from './budgets.ts';
import { comparedDaysText, moverText } from './comparison.ts';
import {
  type CostContext,
  costOffer,
  previousWords,
  readCostQuestion,
  readQuestionCosts,
  scopedRows,
  unclearAnswer,
  whyWords,
} from './question.ts';
import { type CostScope, scopeNotes } from './scope.ts';
import { share, shareOffer } from './share.ts';
import { footerPart, noDataAnswer } from './standing.ts';

export interface AcceptedChange {
  readonly id: string;
  readonly by: UserId;
  readonly at: Date;
  /** `Scale analytics-prod · Max memory 64 → 128` */
  readonly text: string;
}

interface WhyContext extends CostContext {
  /** The accepted changes of some services, which may explain a change of their costs. */
  readonly costChanges: (filter: AcceptedChangeFilter) => Promise<readonly AcceptedChange[]>;
}

/**
 * The answer of `/cost why`: what changed most between two periods by service and metric, and the
 * changes that ran on these services. Source: docs/costs.md#reasons.
 */
export async function answerWhy(
  words: string,
  context: WhyContext,
  asker: Pick<Caller, 'by' | 'channel'>,
): Promise<Answer> {
  const today = dayOf(context.now());
  const typed = { command: 'cost why', words } as const;
  const asked = readCostQuestion(typed, today, context.services);
  if (!asked.ok) return asked.answer;
  const { question } = asked;
  const refusal = wordsRefusal(question);
  if (refusal) return refusal;
  const { period: now, versus, top } = question;
  const before = comparisonPeriod(now, versus ?? 'prev', today);
  const span = spanOfBoth(now, before);
  if (lengthOf(span) > READ_AT_MOST_DAYS)
    return tooFarBack(`cost why ${whyWords({ ...question, versus: null })}`);
  const costs = await readQuestionCosts(question, span, { context, asker, typed });
  if (!costs.ok) return costs.answer;
  const { read } = costs;
  if (read.rows.length === 0) return noDataAnswer(now.label, read, question.final);
  const lineFor = (scope: QuestionScope) => `cost why ${whyWords({ ...question, scope })}`;
  const scoped = scopedRows({ question, lineFor }, read.rows, context.services);
  if (!scoped.ok) return scoped.answer;
  const { scope, label } = scoped;
  const shown = { question, before, read, scope, label };
  const missing = missingText(read, span);
  const without = [now, before].find((period) => within(read.rows, period).length === 0);
  if (without || missing !== null) {
    const text =
      missing === null
        ? `No ${question.final ? 'final days' : 'data'} of ${without?.label} to compare with.`
        : `${missing} could not be read.`;
    const parts: readonly AnswerPart[] = [{ kind: 'text', text }, footerOf(shown)];
    return { title: titleOf(shown, ': not compared'), parts };
  }
  const pairs = pairsOf(read.rows, now, before);
  const explained = explainChange(scoped.rows, pairs.pairs, top);
  const changes = await context.costChanges({ services: explained.services, span });
  const answer = explainedAnswer(shown, { ...explained, ...pairs, changes });
  if (!question.share) return answer;
  return share(answer, lineFor(question.scope), context, asker);
}

/** The lines are always services with their metrics: other words are refused. */
function wordsRefusal(question: CostQuestion): Answer | null {
  if (question.by === 'service') return null;
  const text = '“by” is not possible here: the lines are services with their metrics. Use instead:';
  return unclearAnswer(text, [costOffer(`cost why ${whyWords(question)}`)]);
}

/** What every answer of `/cost why` shows. */
interface WhyFacts {
  readonly question: CostQuestion;
  readonly before: Period;
  readonly read: CostReading;
  readonly scope: CostScope;
  /** The scope as text; null for all costs. */
  readonly label: string | null;
}

interface Explained extends Explanation, DayPairs {
  readonly changes: readonly AcceptedChange[];
}

const CHANGES_SHOWN = 8;

/** The lines that changed most, and the changes that ran on their services. */
function explainedAnswer(facts: WhyFacts, explained: Explained): Answer {
  const { before, now, movers } = explained;
  const delta = signedCredits(now - before);
  const relative = relativeOf(now, before);
  const change = relative === null ? null : changeText(relative);
  const sentences = [
    comparedText(facts, explained),
    explained.sameWeekdays ? null : 'The weekdays differ.',
    `Total: ${figure(before)} → ${creditsText(now)}`,
    ...moverLines(explained),
  ].filter((sentence) => sentence !== null);
  const parts: readonly (AnswerPart | null)[] = [
    { kind: 'text', text: sentences.join('\n') },
    movers.length > 0 ? { kind: 'lines', lines: changeLines(facts, explained) } : null,
    { kind: 'offers', offers: offersFor(facts, explained) },
    footerOf(facts),
  ];
  return {
    title: titleOf(facts, `${comparedDays(facts, explained)}: ${delta}${bracketed(change)}`),
    parts: parts.filter((part) => part !== null),
  };
}

/** `• staging · compute +70.0 (×3.0)`, then the sum of the other lines. */
function moverLines({ movers, others }: Explanation): readonly string[] {
  if (movers.length === 0) return ['No line changed.'];
  const rest = `${countWords(others.lines, 'other')} ${signedFigure(others.micro)}`;
  return [...movers.map(moverText), ...(others.lines > 0 ? [rest] : [])].map((text) => `• ${text}`);
}

function titleOf({ question, before, label }: WhyFacts, result: string): string {
  const compared = `${question.period.label} vs ${before.label} (UTC)${result}`;
  return label === null ? compared : `${label} · ${compared}`;
}

/** `, on 1 of 7 days`, where the periods of the title are not compared as a whole. */
function comparedDays(facts: WhyFacts, explained: Explained): string {
  const { period } = facts.question;
  const all = Math.max(lengthOf(period), lengthOf(facts.before));
  const days = explained.pairs.length;
  const part = days === all ? '' : `, on ${days} of ${countWords(all, 'day')}`;
  return explained.isFinal ? part : `${part}, as reported`;
}

function footerOf({ question, before, read, scope }: WhyFacts): AnswerPart {
  const problems = problemsOf(read.problems, [question.period, before]);
  return footerPart({ ...read, problems }, null, scopeNotes(scope));
}

/** Null if all days are compared and final. */
function comparedText({ question, before }: WhyFacts, explained: Explained): string | null {
  const days = { isFinal: explained.isFinal, days: explained.pairs.length };
  const text = comparedDaysText(days, question.period, before);
  return text === '' ? null : `Compared${text.replace(/^,/, '')}.`;
}

function changeLines(
  { question: { period }, before }: WhyFacts,
  { changes }: Explained,
): readonly (readonly InlinePart[])[] {
  const days = formatSpan(spanOfBoth(period, before), period.last);
  if (changes.length === 0) {
    return [[`No change of these services ran in Signalbox (${days}).`]];
  }
  const shown = changes.slice(0, CHANGES_SHOWN).map(changeLine);
  const more = changes.length - shown.length;
  const rest = more > 0 ? [[`and ${more} more`]] : [];
  return [[{ bold: `Changes of these services, ${days}` }], ...shown, ...rest];
}

function changeLine({ at, text, id, by }: AcceptedChange): readonly InlinePart[] {
  return ['• ', { at }, ` · ${text} · `, { user: by }, ` · ${id}`];
}

function offersFor(
  { question, read: { isFinal = false } }: WhyFacts,
  { changes }: Explained,
): readonly CommandOffer[] {
  const versus = versusWord(question.period, question.versus ?? 'prev');
  const [change] = changes;
  return [
    {
      label: 'By service',
      line: `cost ${previousWords(question)} by service vs ${versus}`,
    },
    ...(change ? [{ label: `Show ${change.id}`, line: `change show ${change.id}` }] : []),
    shareOffer(`cost why ${whyWords(question)}`),
    ...(isFinal ? [] : [{ label: 'Refresh', line: `cost why ${whyWords(question)} refresh` }]),
  ];
}

export interface AcceptedChangeFilter {
  readonly services: readonly { readonly id: string; readonly name: string }[];
  /** UTC days. */
  readonly span: Span;
}

const MOST = 200;
const ROWS_SHOWN = 3;

/** The changes that were accepted for these services on these UTC days, the first one first. */
export async function listCostChanges(
  { events, organization }: { readonly events: Log; readonly organization: string },
  { services, span }: AcceptedChangeFilter,
): Promise<readonly AcceptedChange[]> {
  if (services.length === 0) return [];
  const endedSince = new Date(`${span.first}T00:00:00Z`);
  const end = Date.parse(`${span.last}T00:00:00Z`) + DAY_MS;
  const keyOf = (kind: TargetKind, id: string) =>
    targetKey({ organization, plan: { target: { kind, id } } });
  // The id of a created service is not known to its change.
  const targets = services.flatMap(({ id, name }) => [
    keyOf('service', id),
    keyOf('new service', name.toLowerCase()),
  ]);
  const filter = { states: ['succeeded'], endedSince, targets, limit: MOST } as const;
  const found = await listChanges(events, filter);
  return found
    .flatMap(costChange)
    .filter(({ at }) => at.getTime() < end)
    .toReversed();
}

function costChange(change: Change): readonly AcceptedChange[] {
  const { id, requester: by, outcome, plan } = change;
  if (!outcome) return [];
  // Changes with a cost effect have no private values.
  const rows = plan.cost ? plan.rows.slice(0, ROWS_SHOWN).map(rowText) : [];
  return [{ id, by, at: outcome.at, text: [changeTitle(change), ...rows].join(' · ') }];
}

function rowText({ label, before, after }: Change['plan']['rows'][number]): string {
  const was = before === null ? '' : `${valueText(before)} → `;
  return `${label} ${was}${valueText(after)}`;
}
