import type { z } from 'zod';
import { type Field, fieldsOf } from '../../commands/arguments.ts';
import type { Vocabulary } from '../../commands/define.ts';
import type { ServerLists } from '../../commands/listed.ts';
import { authorizeForm } from '../../workflow/authorize.ts';
import { givenOf, type Searched } from '../inbound/payload.ts';
import { orLate, PROGRESS_AFTER_MS } from '../progress/progress.ts';
import type { SlackContext } from '../slack-context.ts';
import { choicesFor } from './choices.ts';
import { commandByCallbackId, settingOf } from './form.ts';
import { type Choice, optionOf, VALUE_MAX } from './inputs.ts';
import { readLists } from './server-lists.ts';
import { freezeVocabulary, fullVocabulary, localVocabulary } from './vocabulary.ts';

const OPTIONS_MAX = 100;

/**
 * The options of a type-ahead: names, ids and descriptions that contain the typed text. Empty for a
 * user who may not use the form's command. Slack waits three seconds for them, so a list that is not
 * there after two is left out; the next keystroke finds it in the cache.
 */
export async function optionsFor(bot: SlackContext, searched: z.infer<typeof Searched>) {
  const late = bot.clock.timeout(PROGRESS_AFTER_MS);
  const { action_id, value, view, user } = searched;
  const command = view && commandByCallbackId(bot.commands, view.callback_id);
  const field = command && fieldsOf(command.args).find(({ name }) => name === action_id);
  if (!view || !command || !field) return [];
  const request = { commands: [command.name], by: user.id, record: false };
  if (!(await orLate(late, authorizeForm(bot.context, request)))?.ok) return [];
  const given = { ...givenOf({ view }), ...settingOf(view.private_metadata).fixed };
  const question = { command, given, by: user.id, typed: value };
  const kinds = kindsFor(field);
  const [vocabulary, lists] = await Promise.all([
    orLate(late, vocabularyFor(bot, field)),
    kinds.length > 0 ? orLate(late, readLists(bot, kinds, question)) : null,
  ]);
  const known = { ...(vocabulary ?? localVocabulary(bot)), lists: lists ?? {} };
  return matching(choicesFor(field, given, known), value, field).map(optionOf);
}

function kindsFor({ names, lists }: Field): readonly (keyof ServerLists)[] {
  if (names === 'pipe') return ['pipe'];
  return lists === undefined ? [] : [lists];
}

function vocabularyFor(bot: SlackContext, { names }: Field): Promise<Vocabulary> {
  if (names === 'alert') return fullVocabulary(bot);
  return names === 'freeze' ? freezeVocabulary(bot) : Promise.resolve(localVocabulary(bot));
}

function matching(all: readonly Choice[], typed: string, field: Field): readonly Choice[] {
  const words = typed.trim().toLowerCase().split(/\s+/);
  const text = ({ name, id, about }: Choice) => `${name} ${id} ${about}`.toLowerCase();
  const found = all
    .filter((choice) => words.every((word) => text(choice).includes(word)))
    .toSorted((a, b) => rank(a.name, words[0] ?? '') - rank(b.name, words[0] ?? ''))
    .slice(0, OPTIONS_MAX);
  return found.length > 0 ? found : typedId(typed.trim(), field);
}

/** An id that is in no list: the list can be unknown, late or incomplete. */
function typedId(id: string, { names, lists }: Field): readonly Choice[] {
  const isOpen = lists !== undefined || names === 'pipe';
  const isId = id !== '' && id.length <= VALUE_MAX && !/\s/.test(id);
  return isOpen && isId ? [{ id, name: id, about: 'Not in a list; used as an id' }] : [];
}

// A match at the beginning of a name ranks before any other match.
function rank(name: string, wanted: string): number {
  const at = name.toLowerCase().indexOf(wanted);
  return at < 0 ? 2 : Math.min(at, 1);
}
