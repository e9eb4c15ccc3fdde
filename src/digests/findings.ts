import { changeLines, moverLines, revisedLines, spanBefore } from '../cost-reports/breakdown.ts';
import { isNotable, isRise } from '../cost-reports/compare-day.ts';
import type { DigestMeasures } from '../cost-reports/measure.ts';
import type { Span } from '../costs/calendar/calendar.ts';
import { dayLabel } from '../costs/calendar/span-label.ts';
import { creditsOf, type DayValue } from '../costs/ledger/row.ts';
import type { AnswerPart } from '../intent/answers/answer.ts';
import type { DigestFacts } from './facts.ts';
import type { DigestSection } from './subscriptions/options.ts';

/** One digest on its way: what it is made of, what that comes to, and the days of its header. */
export interface FindingInputs {
  readonly facts: DigestFacts;
  readonly measured: DigestMeasures;
  readonly day: DayValue;
  readonly span: Span;
}

export function shows({ options }: DigestFacts, section: DigestSection): boolean {
  return options.sections.includes(section);
}

interface Findings {
  readonly parts: readonly AnswerPart[];
  /** Whether a digest that is quiet otherwise should speak. */
  readonly notable: boolean;
}

const UNUSUAL_MAX = 3;

/** What moved, why, what was revised, and what is unusual. */
export function findings(told: FindingInputs): Findings {
  const { facts, measured, day } = told;
  const { states, series, minimum } = measured;
  const revised = shows(facts, 'revisions') ? revisedLines(facts.posted, states, minimum) : [];
  const lists = [...movedLists(told), ...listed('Revised', revised)];
  const text = lists.join('\n\n');
  return {
    // Lists share a block: what is unusual needs two each, and a digest has twelve at most.
    parts: [...(text === '' ? [] : [{ kind: 'text', text } as const]), ...unusualParts(facts)],
    notable:
      isNotable(series, day, creditsOf(minimum)) ||
      revised.length > 0 ||
      (facts.watched.unusual ?? []).length > 0,
  };
}

function movedLists({ facts, measured, day, span }: FindingInputs): readonly string[] {
  const { rows, series, minimum } = measured;
  const { changes, options, covers } = facts;
  const isLong = options.period !== 'day';
  const held = isLong ? span : { first: day.day, last: day.day };
  const before = spanBefore(held);
  const wanted = { minimum, increasesOnly: options.increasesOnly };
  const moved = moverLines(rows, held, before, wanted);
  const rises = isLong || isRise(series, day, creditsOf(minimum));
  const behind = rises ? changeLines(changes, { first: before.first, last: covers.last }) : [];
  const against = isLong ? 'the time before' : dayLabel(before.first);
  return [
    ...listed(
      `Moved most, against ${against}${moved.on}`,
      shows(facts, 'movers') ? moved.lines : [],
    ),
    ...listed('Changes of these days', behind),
  ];
}

/** Each with buttons of its own, right below it. */
function unusualParts(facts: DigestFacts): readonly AnswerPart[] {
  const { unusual } = facts.watched;
  if (unusual === null || !shows(facts, 'unusual')) return [];
  if (unusual.length === 0) return [{ kind: 'text', text: 'Nothing unusual.' }];
  const most = unusual.length > UNUSUAL_MAX;
  const heading = most ? `Unusual, the first ${UNUSUAL_MAX} of ${unusual.length}` : 'Unusual';
  return unusual.slice(0, UNUSUAL_MAX).flatMap(({ text, deeds }, index): readonly AnswerPart[] => {
    const line = `• ${text}`;
    const own: AnswerPart = { kind: 'text', text: index === 0 ? `${heading}:\n${line}` : line };
    return deeds ? [own, deeds] : [own];
  });
}

function listed(heading: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0
    ? []
    : [[`${heading}:`, ...lines.map((line) => `• ${line}`)].join('\n')];
}
