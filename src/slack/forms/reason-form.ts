import type { View } from '@slack/web-api';
import { z } from 'zod';
import type { Change } from '../../changes/change.ts';
import type { Verb } from '../../workflow/clicks.ts';
import { actionText } from '../cards/naming.ts';
import { ChangeOf } from '../inbound/payload.ts';
import { plain } from './inputs.ts';

const QUESTIONS = {
  reject: { title: 'Reject', label: 'Why?', submit: 'Reject', says: null },
  'break-glass': {
    title: 'Break the glass',
    label: 'Why can it not wait?',
    submit: 'Break the glass',
    says:
      'This goes ahead now, without the approvals that its rule asks for. Its approvers and ' +
      'everyone in the channel are told that it was you, and why; somebody else looks at it ' +
      'afterwards and writes down what they found. A freeze still holds.',
  },
  review: {
    title: 'I have looked at it',
    label: 'What did you find?',
    submit: 'Write it down',
    says: 'Glass was broken for this: nobody approved it. Your note goes to its card and the trail.',
  },
  happened: {
    title: 'It happened',
    label: 'What did you see?',
    submit: 'Tell everyone',
    says: null,
  },
  'did-not-happen': {
    title: 'It did not happen',
    label: 'What did you see?',
    submit: 'Tell everyone',
    says: null,
  },
} as const;
export type ReasonFormKind = keyof typeof QUESTIONS;

/** The decisions that need words ask for them in a modal before anything is stored. */
export function isQuestion(verb: Verb): verb is ReasonFormKind {
  return Object.hasOwn(QUESTIONS, verb);
}

const Metadata = z.object({
  change: ChangeOf,
  home: z.boolean(),
  preview: z.url().nullable().default(null),
});
/**
 * Which change a question is about, whether it was asked in the app's own tab, and the address of
 * the preview that it was asked from: the answer takes its place, for its buttons are dead by then.
 */
export type ReasonFormMetadata = z.infer<typeof Metadata>;

/** What the question's modal brings back; null where it is none of ours. */
export function aboutOf(metadata: string): ReasonFormMetadata | null {
  try {
    return Metadata.parse(JSON.parse(metadata));
  } catch {
    return null;
  }
}

/** Asks for the words that a decision needs, and says once more what it is about. */
export function questionModal(
  question: ReasonFormKind,
  change: Change,
  { home, preview }: Omit<ReasonFormMetadata, 'change'>,
): View {
  const { title, label, submit, says } = QUESTIONS[question];
  return {
    type: 'modal',
    callback_id: `change.${question}`,
    private_metadata: JSON.stringify({
      change: change.id,
      home,
      preview,
    } satisfies ReasonFormMetadata),
    title: plain(title, 24),
    submit: plain(submit, 24),
    close: plain('Back', 24),
    blocks: [
      { type: 'section', text: plain(`${actionText(change)} (${change.id})`, 3_000) },
      ...(says === null ? [] : [{ type: 'section' as const, text: plain(says, 3_000) }]),
      {
        type: 'input',
        block_id: 'reason',
        label: plain(label, 150),
        element: {
          type: 'plain_text_input',
          action_id: 'reason',
          multiline: true,
          max_length: 500,
        },
      },
    ],
  };
}
