import { GROUPINGS } from '../costs/ledger/grouping.ts';
import { MOST_LINES } from '../costs/question/keywords.ts';
import { LONGEST_DAYS } from '../costs/question/period-grammar.ts';
import type { QuestionProblem, UnclearQuestion } from '../costs/question/question.ts';
import { quoted } from '../policy/problem.ts';

/** What is wrong with a question about costs, for whoever typed it. */
export function misreadText({ problem, text, beside }: UnclearQuestion): string {
  return text === '' ? (MISSING[problem] ?? MISSING_SOMETHING) : SENTENCES[problem](text, beside);
}

const SENTENCES: Readonly<Record<QuestionProblem, (text: string, beside: string) => string>> = {
  'unknown-words': (text) => `I know no period, grouping or service ${quoted(text)}.`,
  'no-such-day': (text) => `${quoted(text)} has a day that does not exist.`,
  reversed: (text) => `${quoted(text)} ends before it begins.`,
  'in-the-future': (text) => `${quoted(text)} lies in the future: costs go up to today (UTC).`,
  'no-days': (text) => `${quoted(text)} has no days.`,
  'too-long': (text) => `${quoted(text)} is too long: at most ${LONGEST_DAYS} days.`,
  'no-grouping': (text) => `I cannot group by ${quoted(text)}, only by ${groupings()}.`,
  'no-comparison': (text) => `I cannot compare with ${quoted(text)}. ${COMPARISONS}`,
  'no-number': (text) => `${quoted(text)} is no number of lines: “top” takes 1 to ${MOST_LINES}.`,
  'no-name': (text) => `${quoted(text)} names no service.`,
  'unknown-service': (text) => `I know no service ${quoted(text)}.`,
  'shared-name': (text) => `More than one service is called ${quoted(text)}. Which one?`,
  'two-services': (text, beside) =>
    text === beside
      ? `${quoted(text)} stands there twice.`
      : `${quoted(beside)} and ${quoted(text)} are two services; one at a time can be shown.`,
  'has-a-key': (text) => keyText(text),
  'said-twice': (text, beside) =>
    text === beside
      ? `${quoted(text)} stands there twice.`
      : `${quoted(beside)} and ${quoted(text)} cannot both be: choose one.`,
};

const COMPARISONS = 'It can be prev, last-week, last-month or a period such as 2026-10.';
const MISSING_SOMETHING = 'Something is missing at the end.';

const MISSING: Readonly<Partial<Record<QuestionProblem, string>>> = {
  'no-grouping': `After “by” comes what to group by: ${groupings()}.`,
  'no-comparison': `After “vs” comes what to compare with. ${COMPARISONS}`,
  'no-number': `After “top” comes a number of lines, from 1 to ${MOST_LINES}.`,
  'no-name': 'After “only” comes the name of a service.',
};

function groupings(): string {
  return `${GROUPINGS.slice(0, -1).join(', ')} or ${GROUPINGS.at(-1)}`;
}

function keyText(text: string): string {
  const zone = /^(time-?)?zone=|^tz=/i.test(text) ? 'Its days are always UTC days. ' : '';
  return `${quoted(text)} is not understood here. ${zone}Write plain words, for example: 7d by day.`;
}
