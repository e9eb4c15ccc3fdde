import type { DigestSection } from '../config/digest-options.ts';
import { moverLines, revisedLines, spanBefore } from '../cost-reports/breakdown.ts';
import { isNotable, isRise } from '../cost-reports/compare-day.ts';
import type { Span } from '../costs/calendar/calendar.ts';
import { dayLabel } from '../costs/calendar/span-label.ts';
import { creditsOf, type DayValue } from '../costs/ledger/row.ts';
import type { AnswerPart } from '../intent/answers/answer.ts';
import type { DigestFacts, ExecutedChange } from './facts.ts';
import type { DigestMeasures } from './measure.ts';

/** The facts of a digest with what is computed from them, and the day and days of its title. */
export interface FindingInputs {
  readonly facts: DigestFacts;
  readonly measured: DigestMeasures;
  readonly day: DayValue;
  readonly span: Span;
}

export function hasSection({ options }: DigestFacts, section: DigestSection): boolean {
  return options.sections.includes(section);
}

interface Findings {
  readonly parts: readonly AnswerPart[];
  /** Whether a quiet digest is posted today. */
  readonly notable: boolean;
}

const ANOMALIES_MAX = 3;
const CHANGES_MAX = 5;

/** The movers, the changes that ran, the revised days and the anomalies. */
export function findings(inputs: FindingInputs): Findings {
  const { facts, measured, day } = inputs;
  const { states, series, minimum } = measured;
  const revised = hasSection(facts, 'revisions') ? revisedLines(facts.posted, states, minimum) : [];
  const lists = [...moverLists(inputs), ...listed('Revised', revised)];
  const text = lists.join('\n\n');
  return {
    // The lists share one block, because a digest has at most twelve and each anomaly takes two.
    parts: [...(text === '' ? [] : [{ kind: 'text', text } as const]), ...anomalyParts(facts)],
    notable:
      isNotable(series, day, creditsOf(minimum)) ||
      revised.length > 0 ||
      (facts.attention.anomalies ?? []).length > 0,
  };
}

function moverLists({ facts, measured, day, span }: FindingInputs): readonly string[] {
  const { rows, series, minimum } = measured;
  const { changes, options, covers } = facts;
  const isLong = options.period !== 'day';
  const compared = isLong ? span : { first: day.day, last: day.day };
  const before = spanBefore(compared);
  const wanted = { minimum, increasesOnly: options.increasesOnly };
  const movers = moverLines(rows, compared, before, wanted);
  const hasRisen = isLong || isRise(series, day, creditsOf(minimum));
  const executed = hasRisen ? changeLines(changes, { first: before.first, last: covers.last }) : [];
  const baseline = isLong ? 'the days before' : dayLabel(before.first);
  return [
    ...listed(
      `Top movers vs ${baseline}${movers.on}`,
      hasSection(facts, 'movers') ? movers.lines : [],
    ),
    ...listed('Changes of these days', executed),
  ];
}

/** The changes that ran in the span, latest first. */
function changeLines(changes: readonly ExecutedChange[], { first, last }: Span): readonly string[] {
  const own = changes.filter(({ day }) => day >= first && day <= last);
  const shown = own.slice(0, CHANGES_MAX).map(({ day, text }) => `${text}, ${dayLabel(day)}`);
  const more = own.length - shown.length;
  return more > 0 ? [...shown, `and ${more} more`] : shown;
}

/** Each anomaly with its own buttons below it. */
function anomalyParts(facts: DigestFacts): readonly AnswerPart[] {
  const { anomalies } = facts.attention;
  if (anomalies === null || !hasSection(facts, 'unusual')) return [];
  if (anomalies.length === 0) return [{ kind: 'text', text: 'Nothing unusual.' }];
  const isCut = anomalies.length > ANOMALIES_MAX;
  const heading = isCut ? `Unusual, top ${ANOMALIES_MAX} of ${anomalies.length}` : 'Unusual';
  return anomalies.slice(0, ANOMALIES_MAX).flatMap(({ text, buttons }, index) => {
    const line = `• ${text}`;
    const own: AnswerPart = { kind: 'text', text: index === 0 ? `${heading}:\n${line}` : line };
    return buttons ? [own, buttons] : [own];
  });
}

function listed(heading: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0
    ? []
    : [[`${heading}:`, ...lines.map((line) => `• ${line}`)].join('\n')];
}
