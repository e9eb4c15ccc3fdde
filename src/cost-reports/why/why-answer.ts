import { formatSpan, lengthOf, spanOfBoth } from '../../base/calendar.ts';
import type { Day } from '../../base/time.ts';
import type { Answer, AnswerPart, CommandOffer, InlinePart } from '../../domain/answer.ts';
import { countWords } from '../../domain/answer.ts';
import type { UserId } from '../../domain/change.ts';
import type { Explanation, PairingProblem, settledPairs } from '../../maths/compare.ts';
import { relativeOf } from '../../maths/compare.ts';
import { moneyDifference, signedMoneyText } from '../../maths/money.ts';
import {
  bracketed,
  changeText,
  creditsText,
  figure,
  signedCredits,
  signedFigure,
} from '../../maths/numbers.ts';
import { type Period, readPeriod, versusWord } from '../../maths/period.ts';
import { type CostQuestion, wordsOfScope } from '../../maths/question.ts';
import type { CostReading } from '../../maths/report.ts';
import { problemsOf } from '../../maths/report.ts';
import { moverText } from '../breakdown.ts';
import { incomparableText, openDaysText } from '../compare-periods.ts';
import { costOffer } from '../question/cost-question.ts';
import { type CostScope, scopeNotes } from '../scope.ts';
import { footerPart } from '../summary.ts';
import { previousWords, whyWords } from './why-words.ts';

/** What every answer of `/cost why` shows. */
interface WhyFacts {
  readonly today: Day;
  readonly question: CostQuestion;
  readonly before: Period;
  readonly read: CostReading;
  readonly scope: CostScope;
}

type Pairing = Extract<ReturnType<typeof settledPairs>, { ok: true }>;

interface Explained extends Explanation, Omit<Pairing, 'ok'> {
  readonly changes: readonly AcceptedChange[];
}

const CHANGES_SHOWN = 8;

export function incomparableAnswer(facts: WhyFacts, why: PairingProblem): Answer {
  const { period, scope, versus } = facts.question;
  // The same question would be refused again.
  const isOther = (word: string) => {
    const reading = readPeriod(word, facts.today);
    return versus !== null || (reading.ok && reading.period.first !== period.first);
  };
  const offers = ['7d', 'last-month']
    .filter(isOther)
    .map((word) => costOffer(['cost why', word, ...wordsOfScope(scope)].join(' ')));
  const text = incomparableText(why);
  const parts: readonly AnswerPart[] = [
    { kind: 'text', text },
    { kind: 'offers', offers },
    footerOf(facts),
  ];
  return { title: titleOf(facts, 'not compared'), parts };
}

/** The lines that changed most, and the changes that ran on their services. */
export function explainedAnswer(facts: WhyFacts, explained: Explained): Answer {
  const { before, now, movers } = explained;
  const money = moneyDifference(now.money, before.money);
  const delta = signedCredits(now.micro - before.micro);
  const relative = relativeOf(now.micro, before.micro);
  const change = relative === null ? null : changeText(relative);
  const sentences = [
    comparedText(facts, explained),
    explained.sameWeekdays ? null : 'The weekdays differ.',
    `Total: ${figure(before.micro, before.money)} → ${creditsText(now.micro, now.money)}`,
    ...moverLines(explained),
  ].filter((sentence) => sentence !== null);
  const parts: readonly (AnswerPart | null)[] = [
    { kind: 'text', text: sentences.join('\n') },
    movers.length > 0 ? { kind: 'lines', lines: changeLines(facts, explained) } : null,
    { kind: 'offers', offers: offersFor(facts, explained) },
    footerOf(facts),
  ];
  return {
    title: titleOf(
      facts,
      `${comparedDays(facts, explained)}${delta}${bracketed(money && signedMoneyText(money), change)}`,
    ),
    parts: parts.filter((part) => part !== null),
  };
}

/** `• staging · compute +70.0 (×3.0)`, then the sum of the other lines. */
function moverLines({ movers, others }: Explanation): readonly string[] {
  if (movers.length === 0) return ['No line changed.'];
  const rest = `${countWords(others.lines, 'other')} ${signedFigure(others.micro, others.money)}`;
  return [...movers.map(moverText), ...(others.lines > 0 ? [rest] : [])].map((text) => `• ${text}`);
}

function titleOf({ question, before, scope }: WhyFacts, result: string): string {
  const compared = `${question.period.label} vs ${before.label} (UTC): ${result}`;
  return scope.label === null ? compared : `${scope.label} · ${compared}`;
}

/** `on 1 of 7 days: `, where the periods of the title are not compared as a whole. */
function comparedDays(facts: WhyFacts, explained: Explained): string {
  if (hasAllDays(facts, explained)) return '';
  const { period } = facts.question;
  const all = Math.max(lengthOf(period), lengthOf(facts.before));
  return `on ${explained.pairs.length} of ${countWords(all, 'day')}: `;
}

function footerOf({ question, before, read, scope }: WhyFacts): AnswerPart {
  const problems = problemsOf(read.problems, [question.period, before]);
  return footerPart({ ...read, problems }, null, scopeNotes(scope));
}

function hasAllDays({ question: { period }, before }: WhyFacts, { pairs }: Explained): boolean {
  return pairs.length === Math.max(lengthOf(period), lengthOf(before));
}

/** Null if all days are compared and final. A settled day that is not final is compared as well. */
function comparedText(facts: WhyFacts, explained: Explained): string | null {
  const { pairs, notLocked } = explained;
  const days = countWords(pairs.length, 'day');
  const isAll = hasAllDays(facts, explained);
  const open = openDaysText(notLocked, pairs.length);
  if (open !== '') return `Compared on ${isAll && pairs.length > 1 ? 'all ' : ''}${days}${open}.`;
  return isAll ? null : `Compared on the ${days} final in both periods.`;
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
    ...(isFinal ? [] : [{ label: 'Refresh', line: `cost why ${whyWords(question)} refresh` }]),
  ];
}

export interface AcceptedChange {
  readonly id: string;
  readonly by: UserId;
  readonly at: Date;
  /** `Scale analytics-prod · Max memory 64 → 128` */
  readonly text: string;
}
