import type { View } from '@slack/web-api';
import type { Secret } from '../../base/errors.ts';
import type { ChangeId } from '../../domain/change.ts';
import { authorizeRequester } from '../../workflow/authorize.ts';
import { recordReveal, unsealSecret } from '../../workflow/execute/secret.ts';
import { sentenceMessage } from '../blocks/answer-blocks.ts';
import type { Message } from '../blocks/blocks.ts';
import { plain } from '../forms/inputs.ts';
import type { CommandLine, SlackContext } from '../slack-context.ts';

const GONE =
  'There is no password to show. It was already shown, expired after a day, or belongs to another requester.';

const NOT_SHOWN =
  'Slack did not confirm that it showed the password. If you do not see it, press the button again.';

/** Shows a password once, to the requester only, in a modal. */
export async function reveal(
  bot: SlackContext,
  { by, trigger }: CommandLine,
  id: ChangeId,
): Promise<Message | null> {
  const authorized = await authorizeRequester(bot.context, id, by);
  const secret = authorized.ok ? await unsealSecret(bot.context, id, by) : null;
  if (!authorized.ok || !secret) return sentenceMessage([GONE]);
  const view = passwordModal(secret, authorized.change.plan.target.name);
  const shown = await bot.clients.views.views.open({ trigger_id: trigger, view }).then(
    () => true,
    (error: unknown) => {
      bot.log.warn(
        { err: error, change: id },
        'the password may not have been shown: it stays sealed',
      );
      return false;
    },
  );
  await recordReveal(bot.context, id, { by, shown });
  return shown ? null : sentenceMessage([NOT_SHOWN]);
}

function passwordModal(secret: Secret, name: string): View {
  const text = { type: 'text' as const, text: secret.reveal() };
  const note = `Password of ${name}. Shown only once. Save it in your password manager.`;
  return {
    type: 'modal',
    title: plain('Password', 24),
    close: plain('Close', 24),
    blocks: [
      {
        type: 'rich_text',
        elements: [{ type: 'rich_text_preformatted', elements: [text] }],
      },
      { type: 'context', elements: [plain(note, 300)] },
    ],
  };
}
