import type { Snapshot } from '../../changes/change.ts';
import { fieldsOf, type TypedValues } from '../../intent/arguments/arguments.ts';
import type { Command } from '../../intent/define.ts';
import { hasField } from '../../intent/parse/complete.ts';
import { resolveNames } from '../../intent/parse/resolve.ts';
import type { Vocabulary } from '../../intent/parse/understood.ts';
import { slashCommand } from '../../intent/slash-command.ts';
import { valueText } from '../../workflow/request/plan.ts';
import type { Message } from '../blocks/blocks.ts';
import type { Typed } from '../inbound/typed.ts';
import type { ReplyTarget } from '../outbound/post.ts';
import type { SlackContext } from '../slack-context.ts';
import { commandForm, type FormHints, waitingForm } from './form.ts';
import { fullVocabulary, localVocabulary } from './vocabulary.ts';

type Opening = Pick<Typed, 'trigger' | 'spot'>;

/** Opens the form of a command with what is given; a message only where no form could be opened. */
export async function openForm(
  bot: SlackContext,
  { trigger, spot }: Opening,
  command: Command,
  given: TypedValues,
  line: string | null = null,
): Promise<Message | null> {
  const { views } = bot.clients.views;
  // Only an alert has to be read before its form can be filled.
  if (!given.alert) {
    const seenNow = knownOf(seen(bot, command, given));
    const known = { ...seenNow, line: line ?? seenNow.line };
    const view = commandForm(command, given, localVocabulary(bot), { spot, known });
    await views.open({ trigger_id: trigger, view });
    return null;
  }

  const opened = await views.open({
    trigger_id: trigger,
    view: waitingForm(command, 'Reading the alert…'),
  });
  const view_id = opened.view?.id ?? '';
  await fill(bot, command, given, { spot, view_id, line });
  return null;
}

interface Open {
  readonly spot: ReplyTarget;
  readonly view_id: string;
  readonly hash?: string;
  /** What has to be mended in it. */
  readonly line?: string | null;
}

/** Draws an open form anew for what it holds now; a target that was chosen in it is read. */
export async function fill(
  bot: SlackContext,
  command: Command,
  given: TypedValues,
  { spot, view_id, hash, line = null }: Open,
): Promise<void> {
  const update = { view_id, ...(hash ? { hash } : {}) };
  const { views } = bot.clients.views;
  if (!given.alert) {
    const known = knownOf(seen(bot, command, given));
    const view = commandForm(command, given, localVocabulary(bot), { spot, known });
    await views.update({ ...update, view });
    return;
  }
  const view = await alertForm(bot, command, given, { spot, line }).catch((error: unknown) => {
    bot.log.warn({ err: error }, 'an alert could not be read for its form');
    return waitingForm(
      command,
      'Signalbox could not read the alert. Close this form and try again.',
    );
  });
  await views.update({ ...update, view });
}

/** The alert is fixed from here on: with another one, the fields would hold the first one's values. */
async function alertForm(
  bot: SlackContext,
  command: Command,
  given: TypedValues,
  { spot, line: mend }: { spot: ReplyTarget; line: string | null },
) {
  const vocabulary = await fullVocabulary(bot);
  const resolved = resolveAlert(command, given, vocabulary);
  if (!resolved) {
    const list = slashCommand(bot.prefix, 'alert list');
    return waitingForm(
      command,
      `There’s no alert called “${given.alert}”. ${list} shows all alerts.`,
    );
  }

  const before =
    command.kind === 'change'
      ? await command.observe(resolved, bot.context.commandContext())
      : null;
  const prefilled = command.kind === 'change' && before ? (command.prefill?.(before) ?? {}) : {};
  const fixed = { alert: resolved.alert.id };
  const line = [`Alert “${resolved.alert.name}”`, mend].filter((part) => part !== null).join('\n');
  return commandForm(command, { ...prefilled, ...given, ...fixed }, vocabulary, {
    spot,
    fixed,
    filledWith: prefilled,
    known: { hints: {}, line },
  });
}

function resolveAlert(command: Command, given: TypedValues, vocabulary: Vocabulary) {
  const asked = { command, given, reason: '' };
  const resolved = resolveNames(asked, fieldsOf(command.args), given, vocabulary);
  // resolveNames has put the alert itself in the place of its name.
  return resolved.ok ? (resolved.args as { alert: { id: string; name: string } }) : null;
}

/** What was last seen of the service that a form is about, once one is chosen. */
function seen(bot: SlackContext, command: Command, given: TypedValues): Snapshot | null {
  if (command.kind !== 'change' || !given.service) return null;
  const vocabulary = localVocabulary(bot);
  const among = { ...vocabulary.organization, given };
  if (!hasField(command, 'service', among)) return null;
  const wanted = given.service.toLowerCase();
  const service = vocabulary.services.find(
    ({ id, name }) => id.toLowerCase() === wanted || name.toLowerCase() === wanted,
  );
  return service?.lastSeen ?? null;
}

function knownOf(before: Snapshot | null): FormHints {
  if (!before) return { hints: {}, line: null };
  const hints = Object.entries(before.fields).map(
    ([field, value]) => [field, `Last seen: ${valueText(value)}`] as const,
  );
  const at = before.seenAt.toISOString().slice(0, 16).replace('T', ' ');
  return { hints: Object.fromEntries(hints), line: `Last seen ${at} UTC (${before.source})` };
}
