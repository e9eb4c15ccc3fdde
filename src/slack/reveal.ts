import type { ChangeId } from '../changes/change.ts';
import { takeSecret } from '../workflow/secret.ts';
import { sentenceMessage } from './answers.ts';
import type { Message } from './blocks.ts';
import type { Bot } from './bot.ts';
import { plain } from './inputs.ts';
import type { Typed } from './typed.ts';

const GONE =
  'There is no password to show: it was shown already, a day has passed, or another person asked.';

/** Shows a password once, to the requester, in a modal that is nobody else's to see. */
export async function reveal(
  bot: Bot,
  { by, trigger }: Typed,
  id: ChangeId,
): Promise<Message | null> {
  // The modal opens first: a password that is taken out and cannot be shown would be lost.
  const { views } = bot.clients.views;
  const opened = await views.open({ trigger_id: trigger, view: modal('One moment…', false) });
  const secret = await takeSecret(bot.world, id, by);
  const words = secret?.reveal() ?? GONE;
  await views.update({ view_id: opened.view?.id ?? '', view: modal(words, secret !== null) });
  return secret ? null : sentenceMessage([GONE]);
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
