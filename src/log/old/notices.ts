import { z } from 'zod';
import type { Answer, AnswerAction, InlinePart } from '../../domain/answer.ts';
import type { UserId } from '../../domain/change.ts';
import type { Tx } from '../../storage/old/database.ts';
import { type DueMessage, enqueue } from '../../storage/old/outbox.ts';
import type { ReportMessage } from '../../storage/old/outbox-message.ts';

const StoredNotice = z.object({
  to: z
    .string()
    .transform((id) => id as UserId)
    .nullable(),
  title: z.string(),
  text: z.string(),
  // Composed and stored by Signalbox, so that their parts are not checked.
  line: z.array(z.custom<InlinePart>()).default([]),
  actions: z.array(z.custom<AnswerAction>()).default([]),
});
type StoredNotice = z.input<typeof StoredNotice>;

/** What a notice to the operators has after its text. */
export interface NoticeExtras {
  /** Names users, whom a text cannot mention. */
  readonly line?: readonly InlinePart[];
  readonly actions?: readonly AnswerAction[];
}

/** Stores a sentence for the audit channel, which the operators read. */
export function enqueueOperatorsNotice(
  tx: Tx,
  text: string,
  at: Date,
  { line = [], actions = [] }: NoticeExtras = {},
): Promise<void> {
  const notice = { to: null, title: 'Notice', text, line: [...line], actions: [...actions] };
  return enqueueNotice(tx, notice, at);
}

/** Stores a direct message to one user. */
export function enqueueUserNotice(
  tx: Tx,
  notice: StoredNotice & { readonly to: UserId },
  at: Date,
): Promise<void> {
  return enqueueNotice(tx, notice, at);
}

function enqueueNotice(tx: Tx, notice: StoredNotice, at: Date): Promise<void> {
  // Notices contain no dates, so that they are JSON.
  return enqueue(tx, { kind: 'notice', body: JSON.parse(JSON.stringify(notice)), at });
}

/** Posts sentences to the operators and to users. */
interface NoticePoster {
  notifyOperators(
    sentence: string,
    attempt: { readonly again: boolean },
    extras: { readonly line: readonly InlinePart[]; readonly actions: readonly AnswerAction[] },
  ): Promise<void>;
  messageUser(user: UserId, answer: Answer): Promise<void>;
}

/** Posts a notice. After a lost answer it may arrive twice, which is better than not at all. */
export async function deliverNotice(
  { messenger }: { readonly messenger: NoticePoster },
  { attempts }: DueMessage,
  { body }: ReportMessage,
): Promise<void> {
  const { to, title, text, ...extras } = StoredNotice.parse(body);
  if (to === null) return messenger.notifyOperators(text, { again: attempts > 1 }, extras);
  await messenger.messageUser(to, { title, parts: [{ kind: 'text', text }] });
}
