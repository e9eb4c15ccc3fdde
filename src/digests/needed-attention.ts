import { formatDay } from '../base/calendar.ts';
import { type UsualText, usualText } from '../cost-reports/compare-day.ts';
import type { AnswerPart } from '../domain/answer.ts';
import { countWords } from '../domain/answer.ts';
import { bracketed } from '../maths/numbers.ts';
import { creditsOf } from '../maths/rows.ts';
import type { AnomalyItem, DigestBudget } from './facts.ts';
import { type FindingInputs, hasSection, isOneDay } from './findings.ts';

/** What needs attention in a digest. Its title and its body are written from this one value. */
export interface NeededAttention {
  /** Budgets that are exceeded or heading over, worst first. */
  readonly over: readonly DigestBudget[];
  /** The budget of exactly the costs of this digest. */
  readonly ownBudget: DigestBudget | null;
  readonly anomalies: readonly AnomalyItem[];
  readonly usual: UsualText;
  /** `Within budget, nothing unusual.`; null if something needs attention or nothing is known. */
  readonly normalText: string | null;
  /** Whether a quiet digest is posted for this. */
  readonly isNeeded: boolean;
}

export function neededAttention({ facts, measured, day }: FindingInputs): NeededAttention {
  const { attention, read } = facts;
  const usual = usualText(measured.series, day, creditsOf(measured.minimum));
  const budgets = hasSection(facts, 'budgets') ? attention.budgets : [];
  const found = hasSection(facts, 'unusual') ? attention.anomalies : null;
  const over = budgets
    .filter(({ state }) => state === 'over')
    .toSorted((one, other) => other.ratio - one.ratio);
  const isUnusual = usual.side !== 'within';
  const isNeeded = over.length > 0 || isUnusual || (found ?? []).length > 0;
  const claims = [
    ...(budgets.length > 0 && budgets.every(({ state }) => state === 'within')
      ? ['within budget']
      : []),
    ...(found === null ? [] : ['nothing unusual']),
  ];
  return {
    over,
    ownBudget: budgets.find(({ isOwn }) => isOwn) ?? null,
    anomalies: found ?? [],
    usual,
    // Figures that are too old support no claim.
    normalText: isNeeded || read.gaps.length > 0 ? null : sentenceOf(claims),
    isNeeded,
  };
}

function sentenceOf(claims: readonly string[]): string | null {
  const text = claims.join(', ');
  return text === '' ? null : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

const ANOMALIES_MAX = 3;

/** The budgets as one text, then each anomaly with its own buttons below it. */
export function attentionParts(
  inputs: FindingInputs,
  { over, anomalies, usual }: NeededAttention,
  gaps: readonly string[],
): readonly AnswerPart[] {
  const unusual = isOneDay(inputs) ? [] : unusualDay(inputs, usual);
  const lines = [...gaps, ...over.map(({ name, text }) => `⚠ Budget ${name}: ${text}`), ...unusual];
  const first: readonly AnswerPart[] =
    lines.length === 0 ? [] : [{ kind: 'text', text: lines.join('\n') }];
  const shown = anomalies.slice(0, ANOMALIES_MAX);
  const more = anomalies.length - shown.length;
  const own = shown.flatMap(({ text, buttons }, index): readonly AnswerPart[] => {
    const rest = more > 0 && index === shown.length - 1;
    const line = rest ? `⚠ ${text}\n${countWords(more, 'more unusual cost')}` : `⚠ ${text}`;
    return [{ kind: 'text', text: line }, buttons];
  });
  return [...first, ...own];
}

/** The title shows the total of several days, so that an unusual one of them needs a line. */
function unusualDay({ day }: FindingInputs, usual: UsualText): readonly string[] {
  const { value, money, range, rangeMoney, side } = usual;
  if (side === 'within') return [];
  return [
    `⚠ ${formatDay(day.day)}: ${value} credits${bracketed(money)}, ${side} the usual ${range}${bracketed(rangeMoney)}`,
  ];
}
