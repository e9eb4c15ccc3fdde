import { formatSpan, type Span, spanOfBoth, within } from '../base/calendar.ts';
import { DAY_MS, type Day, dayOf } from '../base/time.ts';
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
import { policyFacts, type Service } from '../domain/targets.ts';
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
import { comparisonPeriod, type Period } from '../maths/period.ts';
import type { CostQuestion } from '../maths/question.ts';
import { type CostReading, problemsOf } from '../maths/report.ts';
import { missingText } from './budgets.ts';
import { comparedDaysText, moverText } from './comparison.ts';
import { askCosts, type CostContext, questionWords, readCostQuestion } from './question.ts';
import { type CostScope, scopeNotes } from './scope.ts';
import { share, shareOffer } from './share.ts';
import { footerPart, noDataAnswer } from './standing.ts';

export interface AcceptedChange {
  readonly id: string;
  readonly by: UserId;
  readonly at: Date;
  /** `Scale analytics-prod` */
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
  const asked = readCostQuestion({ command: 'cost why', words }, today, context);
  if (!asked.ok) return asked.answer;
  const question = { ...asked.question, versus: asked.question.versus ?? 'prev' };
  const { period: now, versus } = question;
  const before = comparisonPeriod(now, versus, today);
  const span = spanOfBoth(now, before);
  const line = `cost why ${questionWords(question)}`;
  const costs = await askCosts(question, span, { context, asker, line });
  if (!costs.ok) return costs.answer;
  const { read, scope, label } = costs;
  if (read.rows.length === 0) return noDataAnswer(now.label, read, question.final);
  const shown = { today, question, before, read, scope, label };
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
  const explained = explainChange(costs.rows, pairs.pairs);
  const changes = await context.costChanges({ services: explained.services, span });
  const answer = explainedAnswer(shown, { ...explained, ...pairs, changes });
  if (!question.share) return answer;
  return share(answer, line, context, asker);
}

/** What every answer of `/cost why` shows. */
interface WhyFacts {
  readonly today: Day;
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
  const { before, now, movers, isFinal, pairs } = explained;
  const days = { isFinal, days: pairs.length };
  const part = comparedDaysText(days, { ...facts, now: facts.question.period });
  const delta = signedCredits(now - before);
  const relative = relativeOf(now, before);
  const change = relative === null ? null : changeText(relative);
  const sentences = [
    ...(explained.sameWeekdays ? [] : ['The weekdays differ.']),
    `Total: ${figure(before)} → ${creditsText(now)}`,
    ...moverLines(explained),
  ];
  const parts: readonly (AnswerPart | null)[] = [
    { kind: 'text', text: sentences.join('\n') },
    movers.length > 0 ? { kind: 'lines', lines: changeLines(facts, explained) } : null,
    { kind: 'offers', offers: offersFor(facts, explained) },
    footerOf(facts),
  ];
  return {
    title: titleOf(facts, `${part}: ${delta}${bracketed(change)}`),
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

function footerOf({ question, before, read, scope }: WhyFacts): AnswerPart {
  const problems = problemsOf(read.problems, [question.period, before]);
  return footerPart({ ...read, problems }, null, scopeNotes(scope));
}

function changeLines(
  { question: { period }, before }: WhyFacts,
  { changes }: Explained,
): readonly (readonly InlinePart[])[] {
  const days = formatSpan(spanOfBoth(period, before), period.last);
  if (changes.length === 0) {
    return [[`No change of these services ran in Signalbox (${days}).`]];
  }
  const shown = changes.slice(-CHANGES_SHOWN).map(changeLine);
  return [[{ bold: `Changes of these services, ${days}` }], ...shown];
}

function changeLine({ at, text, id, by }: AcceptedChange): readonly InlinePart[] {
  return ['• ', { at }, ` · ${text} · `, { user: by }, ` · ${id}`];
}

function offersFor(
  { question, read: { isFinal = false } }: WhyFacts,
  { changes }: Explained,
): readonly CommandOffer[] {
  const words = questionWords(question);
  const [change] = changes;
  return [
    { label: 'By service', line: `cost ${words}` },
    ...(change ? [{ label: `Show ${change.id}`, line: `change show ${change.id}` }] : []),
    shareOffer(`cost why ${words}`),
    ...(isFinal ? [] : [{ label: 'Refresh', line: `cost why ${words} refresh` }]),
  ];
}

export interface AcceptedChangeFilter {
  readonly services: readonly { readonly id: string; readonly name: string }[];
  /** UTC days. */
  readonly span: Span;
}

const MOST = 200;

interface ChangesContext {
  readonly events: Log;
  readonly organization: string;
  readonly services: () => readonly Service[];
}

/** The changes that were accepted for these services on these UTC days, the first one first. */
export async function listCostChanges(
  { events, organization, services: known }: ChangesContext,
  { services, span }: AcceptedChangeFilter,
): Promise<readonly AcceptedChange[]> {
  if (services.length === 0) return [];
  const endedSince = new Date(`${span.first}T00:00:00Z`);
  const end = Date.parse(`${span.last}T00:00:00Z`) + DAY_MS;
  // The id of a created service is not known to its change. A line may have the name of its organization, too.
  const targets = services.flatMap(({ id, name }) => {
    const own = known().find((one) => one.id === id);
    const facts = own ? policyFacts(own) : {};
    const keyOf = (kind: TargetKind, target: string) =>
      targetKey({ organization, plan: { target: { ...facts, kind, id: target } } });
    return [keyOf('service', id), keyOf('new service', (own?.name ?? name).toLowerCase())];
  });
  const filter = { states: ['succeeded'], endedSince, targets, limit: MOST } as const;
  const found = await listChanges(events, filter);
  return found
    .flatMap(costChange)
    .filter(({ at }) => at.getTime() < end)
    .toReversed();
}

function costChange(change: Change): readonly AcceptedChange[] {
  const { id, requester: by, outcome } = change;
  return outcome ? [{ id, by, at: outcome.at, text: changeTitle(change) }] : [];
}
