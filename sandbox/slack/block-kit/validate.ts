import { z } from 'zod';
import { MessageOrHomeBlock, ModalBlock } from './blocks.ts';
import { chars, plain } from './objects.ts';
import { checkPayload } from './payload-rules.ts';
import { type Problem, problemsIn, ruleBroken } from './problems.ts';

const MessageBlocks = z.array(MessageOrHomeBlock).max(50).superRefine(checkPayload);

const viewFields = {
  private_metadata: chars(3000, 0).optional(),
  callback_id: chars(255, 0).optional(),
};

const Modal = z
  .strictObject({
    type: z.literal('modal'),
    title: plain(24),
    submit: plain(24).optional(),
    close: plain(24).optional(),
    blocks: z.array(ModalBlock).max(100).superRefine(checkPayload),
    ...viewFields,
  })
  .superRefine((view, ctx) => {
    if (view.submit || !view.blocks.some(({ type }) => type === 'input')) return;
    ctx.addIssue(ruleBroken('missing_submit', 'submit is required when a view has input blocks'));
  });

const Home = z.strictObject({
  type: z.literal('home'),
  blocks: z.array(MessageOrHomeBlock).max(100).superRefine(checkPayload),
  ...viewFields,
});

const View = z.discriminatedUnion('type', [Modal, Home]);

/** The reasons for which Slack refuses these blocks in a message; empty when it accepts them. */
export function messageProblems(blocks: unknown): Problem[] {
  return problemsIn(MessageBlocks, blocks, '/blocks');
}

/** The reasons for which Slack refuses this modal or home tab; empty when it accepts it. */
export function viewProblems(view: unknown): Problem[] {
  return problemsIn(View, view, '/view');
}

/** Slack's error reply that lists the problems; it is the same for every method. */
export function refuseBlocks(error: string, problems: readonly Problem[]) {
  const messages = problems.map(
    ({ message, pointer }) => `[ERROR] ${message} [json-pointer:${pointer}]`,
  );
  return { ok: false as const, error, errors: problems, response_metadata: { messages } };
}
