import { ANA } from '../harness/users.ts';
import type { ContractBot } from './contract-bot.ts';
import { answerForm, type FormAnswer, fieldOf, formOf, type Values } from './forms.ts';
import { linesOf } from './message-lines.ts';

/** One field of a command, tested together with valid other arguments. */
export interface Rule {
  readonly command: string;
  /** The other arguments, for example `staging min=16`. */
  readonly otherArgs: string;
  readonly field: string;
  /** The other arguments of the typed command, if the form needs a valid value to open. */
  readonly typedOtherArgs?: string;
  /** Other fields of the form that the tested field requires. */
  readonly filled?: Values;
}

/** The answers to each value, typed and in the form; adjacent values with equal answers are together. */
export async function answersTo(bot: ContractBot, rule: Rule, values: readonly string[]) {
  const answers: { values: string[]; text: string }[] = [];
  for (const value of values) {
    bot.time.pass(61_000);
    const { typedOtherArgs = rule.otherArgs } = rule;
    const inLine = await typed(bot, { ...rule, otherArgs: typedOtherArgs }, value);
    const inForm = await filledIn(bot, rule, value);
    const text = inLine === inForm ? `: ${inLine}` : `\n  typed: ${inLine}\n  form:  ${inForm}`;
    const shown = shorten(value === '' ? '(empty)' : value);
    const last = answers.at(-1);
    if (last?.text === text) last.values.push(shown);
    else answers.push({ values: [shown], text });
  }
  return answers.map(({ values: equal, text }) => `${equal.join(', ')}${text}`).join('\n');
}

/** A preview begins with a question; any other answer is a rejection with offers. */
async function typed(bot: ContractBot, { command, otherArgs, field }: Rule, value: string) {
  const { word } = fieldOf(command, field);
  const text = /\s|^$/.test(value) ? `"${value}"` : value;
  const own = word === undefined ? text : `${word}=${text}`;
  const line = word === undefined ? `${own} ${otherArgs}` : `${otherArgs} ${own}`;
  const { answer, view } = await bot.answerOrForm(`/${command} ${line}`, formOf(command));
  if (view) await bot.slack.close(ANA, view.id);
  if (!answer) return `opens the form: ${linesOf((view?.blocks ?? []).slice(0, 1)).join('\n')}`;
  // The last line repeats the command.
  const said = bot.linesIn(answer).filter((shown) => !shown.startsWith(`/${command} `));
  return said[0]?.endsWith('?') ? 'taken' : shorten(said.join(' | '));
}

async function filledIn(
  bot: ContractBot,
  { command, otherArgs, field, filled = {} }: Rule,
  value: string,
) {
  const { word } = fieldOf(command, field);
  const base = word === undefined ? `right ${otherArgs}` : otherArgs;
  const answered = await answerForm(bot, command, `/${command} ${base}`, {
    ...filled,
    [field]: value,
  });
  return shorten(summaryOf(answered, field));
}

export function summaryOf(
  { errors, lines, notOffered, hidden }: FormAnswer,
  field: string,
): string {
  const limits = [
    ...(notOffered.includes(field) ? ['not offered; '] : []),
    ...(hidden.includes(field) ? ['no such field; '] : []),
  ].join('');
  const said = Object.entries(errors).map(([under, sentence]) => `[${under}] ${sentence}`);
  if (said.length > 0) return `${limits}${said.join(' ')}`;
  return `${limits}${lines[0]?.endsWith('?') ? 'taken' : lines.join(' | ')}`;
}

/** Replaces long runs of one letter by their length. */
function shorten(text: string): string {
  return text.replace(/(\w)\1{20,}/g, (run, letter) => `${letter}×${run.length}`);
}
