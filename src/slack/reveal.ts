import type { ChangeId } from '../changes/change.ts';
import { noteShown, readSecret } from '../workflow/secret.ts';
import { sentenceMessage } from './answers.ts';
import type { Message } from './blocks.ts';
import type { Bot } from './bot.ts';
import { plain } from './inputs.ts';
import type { Typed } from './typed.ts';

const GONE =
  'There is no password to show: it was shown already, a day has passed, or another person asked.';

const NOT_SHOWN =
  'Slack did not say whether it showed the password. It is kept sealed for you: if you do not see it, press the button again.';

/** Shows a password once, to the requester, in a modal that is nobody else's to see. */
export async function reveal(
  bot: Bot,
  { by, trigger }: Typed,
  id: ChangeId,
): Promise<Message | null> {
  // The modal opens first: without one there is nothing to unseal for.
  const { views } = bot.clients.views;
  const opened = await views.open({ trigger_id: trigger, view: modal('One moment…', false) });
  const view_id = opened.view?.id ?? '';
  const secret = await readSecret(bot.world, id, by);
  if (!secret) {
    await views.update({ view_id, view: modal(GONE, false) });
    return sentenceMessage([GONE]);
  }
  const shown = await views.update({ view_id, view: modal(secret.reveal(), true) }).then(
    () => true,
    (error: unknown) => {
      bot.log.warn({ err: error, change: id }, 'a password was not surely shown, and stays sealed');
      return false;
    },
  );
  await noteShown(bot.world, id, { by, shown });
  return shown ? null : sentenceMessage([NOT_SHOWN]);
}

function modal(words: string, isSecret: boolean) {
  return {
    type: 'modal' as const,
    title: plain('Password', 24),
    close: plain('Close', 24),
    blocks: [
      {
        type: 'rich_text' as const,
        elements: [
          {
            type: 'rich_text_preformatted' as const,
            elements: [{ type: 'text' as const, text: words }],
          },
        ],
      },
      ...(isSecret
        ? [
            {
              type: 'context' as const,
              elements: [plain('It is shown this once. Keep it where passwords belong.', 300)],
            },
          ]
        : []),
    ],
  };
}
