import { fieldsOf } from '../../commands/arguments.ts';
import type { Command, Vocabulary } from '../../commands/define.ts';
import type { NamedItem } from '../../domain/targets.ts';
import type { SlackContext } from '../slack-context.ts';
import { offeredLists } from './server-lists.ts';

/** The names that are known without a request to an API. */
export function localVocabulary({ commands, context, prefix }: SlackContext): Vocabulary {
  const { services, organization, reads } = context.commandContext();
  const offered = offeredLists(reads);
  return { commands, services, organization, prefix, alerts: [], offered };
}

/** Includes the names of alerts, which are read from their API at most twice a minute. */
export async function fullVocabulary(bot: SlackContext): Promise<Vocabulary> {
  const { alerts, listAlerts } = bot.context.commandContext();
  const list = alerts ? (await listAlerts()).alerts : [];
  return { ...localVocabulary(bot), alerts: list.flatMap(alertNamed) };
}

function alertNamed({ id, name }: { id: string | null; name: string | null }): NamedItem[] {
  return id === null ? [] : [{ id, name: name ?? id, aliases: [] }];
}

/** Includes the current freezes that were made in Slack. */
export async function freezeVocabulary(bot: SlackContext): Promise<Vocabulary> {
  return {
    ...localVocabulary(bot),
    freezes: await bot.context.commandContext().freezes.madeInSlack(),
  };
}

/** The names that the form of this command needs, except alerts, which are read when chosen. */
export async function formVocabulary(bot: SlackContext, command: Command): Promise<Vocabulary> {
  return namesFreezes(command) ? freezeVocabulary(bot) : localVocabulary(bot);
}

export function namesFreezes(command: Command): boolean {
  return fieldsOf(command.args).some(({ names }) => names === 'freeze');
}

export function namesAlerts(command: Command): boolean {
  return fieldsOf(command.args).some(({ names }) => names === 'alert');
}
