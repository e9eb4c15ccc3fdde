import { z } from 'zod';
import type { UserId } from '../../domain/change.ts';
import { INCIDENT_VERBS, type IncidentClick } from '../../domain/incidents.ts';
import type { ClaimedClick } from '../../log/old/inbox.ts';
import { StoredReplyTo } from './click.ts';
import { enqueueClick, type Receipt } from './click-intake.ts';
import type { ReplyTo } from './clicks.ts';
import type { WorkflowContext } from './ports.ts';

export const INCIDENT = 'incident';

const Stored = z.object({
  verb: z.enum(INCIDENT_VERBS),
  id: z.string(),
  by: z.string().transform((id) => id as UserId),
  replyTo: StoredReplyTo,
});

/** Stores a click on a button of an anomaly, unchecked and before Slack's acknowledgement. */
export function receiveIncidentClick(
  context: WorkflowContext,
  { key, verb, id, by }: IncidentClick,
  replyTo: ReplyTo,
): Promise<Receipt> {
  const body = { verb, id, by, replyTo: { ...replyTo } };
  return enqueueClick(context, { key, kind: INCIDENT, body, by, at: context.now() });
}

/** Handles one stored click. Its decision is stored in the same commit; its answer may be lost. */
export async function handleIncidentClick(
  context: WorkflowContext,
  click: ClaimedClick,
): Promise<void> {
  const { replyTo, ...press } = Stored.parse(click.body);
  const pressed = await context.incidents.press({ ...press, key: click.key });
  context.messenger.answerIncidentClick(replyTo, pressed, click).catch((error: unknown) => {
    context.log.warn({ err: error, incident: press.id }, 'ephemeral answer was not delivered');
  });
}
