import { quoted } from '../../base/problem.ts';
import { GROUPINGS } from '../../maths/lines.ts';
import { LONGEST_DAYS } from '../../maths/period.ts';
import type { QuestionProblem, UnclearQuestion } from '../../maths/question.ts';
import { MOST_LINES } from '../../maths/question.ts';

/** One sentence about the problem of a question about costs. */
export function unclearQuestionText({ problem, text, earlier }: UnclearQuestion): string {
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
  'unknown-service': '“only” and “service=” need the name of a service.',
  'unknown-tag': '“tag” needs the name of a tag.',
  'unknown-warehouse': '“warehouse” needs the name of a warehouse.',
  'unknown-team': '“team” needs the name of a team.',
};

function groupings(): string {
  return `${GROUPINGS.slice(0, -1).join(', ')} or ${GROUPINGS.at(-1)}`;
}

function keyText(text: string): string {
  const zone = /^(time-?)?zone=|^tz=/i.test(text) ? 'Days are always UTC days. ' : '';
  return `${quoted(text)} is not understood here. ${zone}Write plain words, for example: 7d by day.`;
}
