import type { ClientState, Json } from '../../protocol.ts';
import { list, textOf, word } from '../json.ts';
import { channelOf, personOf } from '../session.ts';

/** One thing to choose. `held` goes into Slack's state: an option object, or the id of somebody. */
export interface Choice {
  readonly id: string;
  readonly text: string;
  readonly note: string;
  readonly group: string;
  readonly held: Json | string;
}

export const choiceOf = (option: Json, group = ''): Choice => ({
  id: word(option.value),
  text: textOf(option.text),
  note: textOf(option.description),
  group,
  held: option,
});

/** Flat options, or groups of them; Slack never mixes the two. */
export function choicesOf(options: readonly Json[], groups: readonly Json[] = []): Choice[] {
  const grouped = groups.flatMap((group) =>
    list(group.options).map((option) => choiceOf(option, textOf(group.label))),
  );
  return [...options.map((option) => choiceOf(option)), ...grouped];
}

export const isExternal = (element: Json): boolean =>
  word(element.type).endsWith('external_select');

/** All that may be chosen without asking the bot. */
export function localChoices(element: Json, screen: ClientState): readonly Choice[] {
  const type = word(element.type).replace(/^multi_/, '');
  if (type === 'static_select')
    return choicesOf(list(element.options), list(element.option_groups));
  if (type === 'users_select') return people(screen);
  if (type === 'channels_select') return channels(screen);
  return type === 'conversations_select' ? [...channels(screen), ...people(screen)] : [];
}

const people = ({ people: all }: ClientState): readonly Choice[] =>
  all
    .filter(({ kind }) => kind !== 'deactivated')
    .map(({ id, name, title }) => ({ id, text: name, note: title, group: '', held: id }));

const channels = ({ channels: all }: ClientState): readonly Choice[] =>
  all
    .filter(({ kind }) => kind !== 'dm')
    .map(({ id, name }) => ({ id, text: `#${name}`, note: '', group: '', held: id }));

export function chosenOf(held: unknown, screen: ClientState): readonly Choice[] {
  const all = Array.isArray(held) ? held : [held];
  return all.flatMap((one) => {
    if (typeof one === 'string') return [named(one, screen)];
    return list([one]).map((option) => choiceOf(option));
  });
}

function named(id: string, screen: ClientState): Choice {
  const channel = channelOf(screen, id);
  const text = channel ? `#${channel.name}` : (personOf(screen, id)?.name ?? id);
  return { id, text, note: '', group: '', held: id };
}

export function matching(choices: readonly Choice[], query: string): readonly Choice[] {
  const sought = query.trim().toLowerCase();
  return choices.filter(({ text }) => text.toLowerCase().includes(sought));
}
