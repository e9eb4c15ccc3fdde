import { formatDay, lengthOf, type Span, within } from '../base/calendar.ts';
import type { DigestSection } from '../config/digest-options.ts';
import { moverLines, revisedLines } from '../cost-reports/breakdown.ts';
import { isRise } from '../cost-reports/compare-day.ts';
import { spanBefore } from '../maths/period.ts';
import { creditsOf, type DayValue } from '../maths/rows.ts';
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

/** Whether the digest reports a single day, and not the days of a weekend, a week or a month. */
export function isOneDay({ facts, span }: Pick<FindingInputs, 'facts' | 'span'>): boolean {
  return facts.options.period === 'day' && lengthOf(span) === 1;
}

interface Findings {
  /** One text, because a digest has at most twelve blocks and each anomaly takes two. */
  readonly lists: readonly string[];
  /** Whether a day was revised, so that a quiet digest is posted. */
  readonly isRevised: boolean;
}

const MOVERS_MAX = 3;
const CHANGES_MAX = 5;

/** The movers, the changes that ran and the revised days. */
export function findings(inputs: FindingInputs): Findings {
  const { facts, measured } = inputs;
  const revised = hasSection(facts, 'revisions')
    ? revisedLines(facts.posted, measured.states, measured.minimum)
    : [];
  return {
    lists: [...moverLists(inputs), ...listed('Revised', revised)],
    isRevised: revised.length > 0,
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
  const baseline = isLong ? 'the days before' : formatDay(before.first);
  return [
    ...listed(
      `Top movers vs ${baseline}${movers.on}`,
      hasSection(facts, 'movers') ? movers.lines.slice(0, MOVERS_MAX) : [],
    ),
    ...listed('Changes of these days', executed),
  ];
}

/** The changes that ran in the span, latest first. */
function changeLines(changes: readonly ExecutedChange[], span: Span): readonly string[] {
  const own = within(changes, span);
  const shown = own.slice(0, CHANGES_MAX).map(({ day, text }) => `${text}, ${formatDay(day)}`);
  const more = own.length - shown.length;
  return more > 0 ? [...shown, `and ${more} more`] : shown;
}

function listed(heading: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0
    ? []
    : [[`${heading}:`, ...lines.map((line) => `• ${line}`)].join('\n')];
}
