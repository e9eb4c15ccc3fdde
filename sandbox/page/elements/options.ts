import { isJson, type Json, list, stringOf, textOf } from '../../json.ts';
import type { ClientState } from '../../protocol.ts';
import { channelOf, personOf } from '../session.ts';

/** One option of a select. `held` is its value in Slack's state: an option object or an id. */
export interface Choice {
  readonly id: string;
  readonly text: string;
  readonly note: string;
  readonly group: string;
  readonly held: Json | string;
}

const choiceOf = (option: Json, group = ''): Choice => ({
  id: stringOf(option.value),
  text: textOf(option.text),
  note: textOf(option.description),
  group,
  held: option,
});

export const choicesOf = (options: readonly Json[]): Choice[] =>
  options.map((option) => choiceOf(option));

/** The choices of a select that does not ask the bot for them. */
export function localChoices(element: Json, client: ClientState): readonly Choice[] {
  if (element.type === 'static_select') {
    const grouped = list(element.option_groups).flatMap((group) =>
      list(group.options).map((option) => choiceOf(option, textOf(group.label))),
    );
    return [...choicesOf(list(element.options)), ...grouped];
  }
  if (element.type !== 'conversations_select') return [];
  const channels = client.channels.filter(({ kind }) => kind !== 'dm');
  const people = client.people.filter(({ kind }) => kind !== 'deactivated');
  return [
    ...channels.map(({ id, name }) => idChoice(id, `#${name}`)),
    ...people.map(({ id, name, title }) => idChoice(id, name, title)),
  ];
}

const idChoice = (id: string, text: string, note = ''): Choice => {
  return { id, text, note, group: '', held: id };
};

/** The choice in the state of a select: an option object, or the id of a channel or person. */
export function chosenOf(held: unknown, client: ClientState): Choice | null {
  if (isJson(held)) return choiceOf(held);
  if (typeof held !== 'string') return null;
  const channel = channelOf(client, held);
  return idChoice(held, channel ? `#${channel.name}` : (personOf(client, held)?.name ?? held));
}

export function matching(choices: readonly Choice[], query: string): readonly Choice[] {
  const text = query.trim().toLowerCase();
  return choices.filter((choice) => choice.text.toLowerCase().includes(text));
}
