import type { Day } from './day.ts';
import { GROUPINGS } from './grouping.ts';
import { KEYWORDS, refused, type Said, type Step } from './keywords.ts';
import { readPeriod } from './period.ts';
import { nearestForms } from './period-forms.ts';
import { isPeriodLike } from './period-grammar.ts';
import type { Question, QuestionReading } from './question.ts';

const DEFAULT_PERIOD = 'mtd';

/**
 * The words after `/cost`, in any order → a question: a period, `by …`, `vs …`, `top N`, `final`,
 * and what is left over is the name of a service, if `isName` knows it; after `only` it is one
 * whether known or not. Nothing said: `mtd by service`. `final` alone is a period, the last final
 * day; beside a period it leaves out what can still change. Whatever is not understood is refused
 * with the nearest accepted words, never guessed, and nothing may be said twice.
 * Source: cost.md §2.1.
 */
export function readQuestion(
  words: readonly string[],
  today: Day,
  isName: (text: string) => boolean,
): QuestionReading {
  const said: { -readonly [Key in keyof Question]?: Question[Key] } = {};
  const names: string[] = [];
  for (let at = 0; at < words.length; ) {
    const step = stepAt(words.slice(at), today, isName);
    if (!step.ok) return step;
    const twice = Object.keys(step.said).some((key) => key in said);
    if (twice) return refused('said-twice', words.slice(at, at + step.taken).join(' '));
    if (Object.keys(step.said).length === 0) names.push(words[at] ?? '');
    Object.assign(said, step.said);
    at += step.taken;
  }
  return withName(said, names.join(' '), today, isName);
}

function withName(
  said: Said,
  name: string,
  today: Day,
  isName: (text: string) => boolean,
): QuestionReading {
  if (name !== '' && said.only !== undefined) return refused('said-twice', name);
  if (name !== '' && !isName(name))
    return refused('unknown-words', name, nearestWords(name, today));
  return questionOf(name === '' ? said : { ...said, only: name }, today);
}

function questionOf(said: Said, today: Day): QuestionReading {
  const { by = 'service', versus = null, top = null, only = null } = said;
  const rest = { by, versus, top, only };
  if (said.period) {
    const { period, finalOnly = false } = said;
    return { ok: true, question: { ...rest, period, finalOnly } };
  }
  const word = said.finalOnly ? 'final' : DEFAULT_PERIOD;
  const reading = readPeriod(word, today);
  if (!reading.ok) return refused(reading.problem, word, reading.nearest);
  return { ok: true, question: { ...rest, period: reading.period, finalOnly: false } };
}

/** A word that says nothing by itself is taken as a part of a name. */
function stepAt(words: readonly string[], today: Day, isName: (text: string) => boolean): Step {
  const [typed = '', ...rest] = words;
  const word = typed.toLowerCase();
  const keyword = KEYWORDS.get(word);
  if (keyword) return oneMore(keyword(rest, today));
  if (word === 'final') return { ok: true, said: { finalOnly: true }, taken: 1 };

  const reading = readPeriod(word, today);
  if (reading.ok) return { ok: true, said: { period: reading.period }, taken: 1 };
  if (!isPeriodLike(word) || isName(typed)) return { ok: true, said: {}, taken: 1 };
  return refused(reading.problem, typed, reading.nearest);
}

function oneMore(step: Step): Step {
  return step.ok ? { ...step, taken: step.taken + 1 } : step;
}

function nearestWords(typed: string, today: Day): readonly string[] {
  const groupings = GROUPINGS.filter((known) => known === typed.toLowerCase());
  const forms = nearestForms(typed.toLowerCase(), today);
  return [...groupings.map((known) => `by ${known}`), ...forms].slice(0, 3);
}
