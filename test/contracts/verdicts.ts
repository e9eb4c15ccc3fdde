import type { Booth } from './booth.ts';
import { ANA } from './counter.ts';
import { type Answered, answerForm, fieldOf, formOf, type Values } from './forms.ts';
import { linesOf } from './reading.ts';

/** One field of a command, asked for together with words that are right by themselves. */
export interface Rule {
  readonly command: string;
  /** The words beside it: `staging min=16`. */
  readonly beside: string;
  readonly field: string;
  /** The words where it is typed, if the form needs a valid value to open at all. */
  readonly typedBeside?: string;
  /** Other fields of the form that must be filled for this one to count. */
  readonly filled?: Values;
}

/** What people read for each value, typed and in the form: a table of sentences. */
export async function verdicts(booth: Booth, rule: Rule, values: readonly string[]) {
  const lines: string[] = [];
  for (const value of values) {
    booth.time.pass(61_000);
    const { typedBeside = rule.beside } = rule;
    lines.push(shorten(value === '' ? '(empty)' : value));
    lines.push(`  typed: ${await typed(booth, { ...rule, beside: typedBeside }, value)}`);
    lines.push(`  form:  ${await filledIn(booth, rule, value)}`);
  }
  return lines.join('\n');
}

/** A preview begins with a question; anything else is the “no”, with what is offered instead. */
async function typed(booth: Booth, { command, beside, field }: Rule, value: string) {
  const { word } = fieldOf(command, field);
  const text = /\s|^$/.test(value) ? `"${value}"` : value;
  const own = word === undefined ? text : `${word}=${text}`;
  const line = word === undefined ? `${own} ${beside}` : `${beside} ${own}`;
  const { answer, view } = await booth.answerOrForm(`/${command} ${line}`, formOf(command));
  if (view) await booth.slack.close(ANA, view.id);
  if (!answer) return `opens the form: ${linesOf(view?.blocks ?? [])[0]}`;
  const said = booth.linesIn(answer);
  return said[0]?.endsWith('?') ? 'taken' : shorten(said.join(' | '));
}

async function filledIn(
  booth: Booth,
  { command, beside, field, filled = {} }: Rule,
  value: string,
) {
  const { word } = fieldOf(command, field);
  const base = word === undefined ? `right ${beside}` : beside;
  const answered = await answerForm(booth, command, `/${command} ${base}`, {
    ...filled,
    [field]: value,
  });
  return shorten(verdictOf(answered, field));
}

export function verdictOf({ errors, lines, notOffered, hidden }: Answered, field: string): string {
  const limits = [
    ...(notOffered.includes(field) ? ['not offered; '] : []),
    ...(hidden.includes(field) ? ['no such field; '] : []),
  ].join('');
  const said = Object.entries(errors).map(([under, sentence]) => `[${under}] ${sentence}`);
  if (said.length > 0) return `${limits}${said.join(' ')}`;
  return `${limits}${lines[0]?.endsWith('?') ? 'taken' : lines.join(' | ')}`;
}

/** Long values are shown by their beginning and their length. */
function shorten(text: string): string {
  return text.replace(/(\w)\1{20,}/g, (run, letter) => `${letter}×${run.length}`);
}
