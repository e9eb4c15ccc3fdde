import { z } from 'zod';
import type { UserId } from '../../changes/change.ts';
import type { ClaimedClick } from '../../storage/tables/queues/inbox.ts';
import { INCIDENT_VERBS, type IncidentClick, type ReplyTo } from '../clicks.ts';
import type { WorkflowContext } from '../ports.ts';
import { StoredReplyTo } from './click.ts';
import { enqueueClick, type Receipt } from './click-intake.ts';

export const INCIDENT = 'incident';

const Stored = z.object({
  verb: z.enum(INCIDENT_VERBS),
  id: z.string(),
  by: z.string().transform((id) => id as UserId),
  replyTo: StoredReplyTo,
});

/**
 * Stores a press below something unusual, as it came and before Slack gets its answer; who pressed
 * is checked when it is handled.
 */
export function receivePress(
  context: WorkflowContext,
  { key, verb, id, by }: IncidentClick,
  replyTo: ReplyTo,
): Promise<Receipt> {
  const body = { verb, id, by, replyTo: { ...replyTo } };
  return enqueueClick(context, { key, kind: INCIDENT, body, by, at: context.now() });
}

/** What it decides is stored together with its being handled; the answer may get lost. */
export async function handlePress(
  context: WorkflowContext,
  { key, body }: ClaimedClick,
): Promise<void> {
  const { replyTo, ...press } = Stored.parse(body);
  const pressed = await context.incidents.press({ ...press, key });
  context.messenger.answerIncidentClick(replyTo, pressed).catch((error: unknown) => {
    context.log.warn({ err: error, incident: press.id }, 'a private answer was not delivered');
  });
}
