import type { View } from '@slack/web-api';
import type { Command } from '../../commands/define.ts';
import type { UserId } from '../../domain/change.ts';
import { authorizeForms } from '../../workflow/authorize.ts';
import { lines, message } from '../blocks/blocks.ts';
import type { Line } from '../blocks/rich-text.ts';
import { refusalLine } from '../cards/refusals.ts';
import type { ButtonClick } from '../inbound/payload.ts';
import type { ReplyTarget } from '../outbound/post.ts';
import type { SlackContext } from '../slack-context.ts';
import { metadataOf, settingOf } from './form.ts';
import { plain } from './inputs.ts';
import { redrawForm } from './open-form.ts';

/** The message shortcut, because slash commands do not work in threads. */
export const PALETTE = 'command.palette';

const CHOICES_MAX = 100;
const WHERE =
  'The answer appears where you opened this. Only you see it. Files are posted to the thread.';

interface PaletteRequest {
  readonly by: UserId;
  readonly trigger: string;
  readonly replyTarget: ReplyTarget;
}

/** Opens the modal before the membership lookup, because a trigger expires after three seconds. */
export async function openPalette(
  bot: SlackContext,
  { by, trigger, replyTarget }: PaletteRequest,
): Promise<void> {
  const { views } = bot.clients.views;
  const opened = await views.open({ trigger_id: trigger, view: textView(['Loading…']) });
  const view = await paletteFor(bot, by, replyTarget);
  await views.update({ view_id: opened.view?.id ?? '', view });
}

async function paletteFor(bot: SlackContext, by: UserId, replyTarget: ReplyTarget): Promise<View> {
  const names = bot.commands.map(({ name }) => name);
  const usable = await authorizeForms(bot.context, by, names);
  if (!usable.ok) return textView(refusalLine(usable.denial, bot.drawing));
  const own = bot.commands.filter(({ name }) => usable.commands.includes(name));
  return own.length > 0
    ? palette(own, replyTarget)
    : textView(['No rule of the policy allows you a command.']);
}

/** A select of the commands that a user may use. The form of the chosen one replaces it. */
export function palette(commands: readonly Command[], replyTarget: ReplyTarget): View {
  const groups = [
    { label: 'Queries', commands: commands.filter(({ kind }) => kind === 'query') },
    { label: 'Changes', commands: commands.filter(({ kind }) => kind === 'change') },
  ];
  const accessory = {
    type: 'static_select',
    action_id: 'command',
    placeholder: plain('Choose a command', 150),
    option_groups: groups.filter((group) => group.commands.length > 0).map(optionGroup),
  } as const;
  const text = plain('What do you want to do?', 3_000);
  return {
    ...frame,
    private_metadata: metadataOf(replyTarget, {}),
    blocks: [
      { type: 'section', block_id: 'command', text, accessory },
      { type: 'context', elements: [plain(WHERE, 300)] },
    ],
  };
}

function optionGroup({ label, commands }: { label: string; commands: readonly Command[] }) {
  return { label: plain(label, 75), options: commands.slice(0, CHOICES_MAX).map(commandOption) };
}

function commandOption(command: Command) {
  const { name, summary } = command;
  return { text: plain(name, 75), value: name, description: plain(summary, 75) };
}

/** Shows the form of the chosen command in the same modal. Submission checks authorization. */
export async function chooseCommand(
  bot: SlackContext,
  { user, view, actions }: ButtonClick,
): Promise<void> {
  const name = actions[0]?.selected_option?.value;
  const command = bot.commands.find((each) => each.name === name);
  if (!view || !command) return;
  const { replyTarget } = settingOf(view.private_metadata);
  const hash = view.hash ? { hash: view.hash } : {};
  await redrawForm(
    bot,
    command,
    {},
    { by: user.id, replyTarget, view_id: view.id, isFirst: true, ...hash },
  );
}

const frame = {
  type: 'modal' as const,
  callback_id: PALETTE,
  title: plain('Run a command', 24),
  close: plain('Close', 24),
};

function textView(line: Line): View {
  // The parts of a message and of a modal are the same blocks under two names.
  return { ...frame, blocks: message(lines(line)).blocks as never[] };
}
