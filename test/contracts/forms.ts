import type { Json } from '../../sandbox/json.ts';
import type { View, ViewValues } from '../../sandbox/protocol.ts';
import { elementsIn } from '../../sandbox/slack/input-state.ts';
import type { StoredMessage } from '../../sandbox/slack/records.ts';
import { commands, type Field, fieldsOf } from '../../src/commands/index.ts';
import { ANA } from '../harness/users.ts';
import type { ContractBot } from './contract-bot.ts';

export type Values = Readonly<Record<string, string>>;

export interface FormAnswer {
  /** The error messages by field. */
  readonly errors: Values;
  /** The lines of the answer in the channel after the form was accepted. */
  readonly lines: readonly string[];
  /** The same answer as a message; null after errors. */
  readonly answer: StoredMessage | null;
  /** Fields whose value the form does not offer, so that only a forged submission contains it. */
  readonly notOffered: readonly string[];
  /** Fields that the form does not have. */
  readonly hidden: readonly string[];
}

/** Opens the edit form of a command line, changes these fields, and submits it. */
export async function answerForm(
  bot: ContractBot,
  name: string,
  line: string,
  values: Values,
): Promise<FormAnswer> {
  const view = await bot.openEditForm(line, formOf(name));
  const answer = await fillForm(bot, view, values);
  if (answer.lines.length === 0) await bot.slack.close(ANA, view.id);
  return answer;
}

/** Changes these fields of an open form and submits it. After errors it stays open. */
export async function fillForm(bot: ContractBot, view: View, values: Values): Promise<FormAnswer> {
  const elements = elementsIn(view.blocks);
  const elementOf = (field: string) =>
    elements.find(({ blockId }) => blockId === field)?.element ?? null;
  const hidden = Object.keys(values).filter((field) => elementOf(field) === null);
  const notOffered = Object.entries(values).flatMap(([field, value]) =>
    offers(elementOf(field), value) ? [] : [field],
  );
  const answer = await bot.submit(view.id, stateOf(view, values));
  return { ...answer, notOffered, hidden };
}

function offers(element: Json | null, value: string): boolean {
  if (element?.type !== 'static_select' || value === '') return true;
  return JSON.stringify(element.options).includes(`"value":${JSON.stringify(value)}`);
}

function stateOf({ blocks }: View, values: Values): ViewValues {
  const filled = elementsIn(blocks).flatMap(({ blockId, element }) => {
    const value = values[blockId];
    return value === undefined ? [] : [[blockId, { [blockId]: held(element, value) }] as const];
  });
  return Object.fromEntries(filled);
}

function held(element: Json, value: string): Json {
  const type = String(element.type);
  if (!type.endsWith('_select')) return { type, value: value === '' ? null : value };
  if (value === '') return { type, selected_option: null };
  return { type, selected_option: { text: { type: 'plain_text', text: value }, value } };
}

export function formOf(command: string): string {
  return command.replace(' ', '.');
}

/** The field of a command in the registry. */
export function fieldOf(name: string, field: string): Field {
  const command = commands.find((each) => each.name === name);
  const found = command && fieldsOf(command.args).find((each) => each.name === field);
  if (!found) throw new Error(`${name} has no field ${field}`);
  return found;
}
