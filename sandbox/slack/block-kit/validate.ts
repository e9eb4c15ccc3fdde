import { z } from 'zod';
import { HomeBlock, MessageBlock, ModalBlock } from './blocks.ts';
import { chars, Flag, plain } from './objects.ts';
import { wholePayload } from './payload-rules.ts';
import { broken, type Problem, problemsOf } from './problems.ts';

export type { Problem } from './problems.ts';

const MessageBlocks = z.array(MessageBlock).max(50).superRefine(wholePayload);

const viewFields = {
  private_metadata: chars(3000, 0).optional(),
  callback_id: chars(255, 0).optional(),
  external_id: chars(255, 0).optional(),
};

const Modal = z
  .strictObject({
    type: z.literal('modal'),
    title: plain(24),
    submit: plain(24).optional(),
    close: plain(24).optional(),
    blocks: z.array(ModalBlock).max(100).superRefine(wholePayload),
    clear_on_close: Flag,
    notify_on_close: Flag,
    submit_disabled: Flag,
    ...viewFields,
  })
  .superRefine((view, ctx) => {
    if (view.submit || !view.blocks.some(({ type }) => type === 'input')) return;
    ctx.addIssue(broken('missing_submit', 'submit is required when a view has input blocks'));
  });

const Home = z.strictObject({
  type: z.literal('home'),
  blocks: z.array(HomeBlock).max(100).superRefine(wholePayload),
  ...viewFields,
});

const View = z.discriminatedUnion('type', [Modal, Home]);

/** Why Slack would refuse these blocks in a message; nothing when it would take them. */
export function messageProblems(blocks: unknown): Problem[] {
  return problemsOf(MessageBlocks, blocks, '/blocks');
}

/** Why Slack would refuse this modal or home tab; nothing when it would take it. */
export function viewProblems(view: unknown): Problem[] {
  return problemsOf(View, view, '/view');
}

/** What Slack's answer says about the problems, whichever method was called. */
export function refusalOf(error: string, problems: readonly Problem[]) {
  const messages = problems.map(
    ({ message, pointer }) => `[ERROR] ${message} [json-pointer:${pointer}]`,
  );
  return { ok: false as const, error, errors: problems, response_metadata: { messages } };
}
