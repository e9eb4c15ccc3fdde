import { z } from 'zod';
import type { UserId } from '../../changes/change.ts';
import type { Taken } from '../../storage/tables/queues/inbox.ts';
import { INCIDENT_VERBS, type IncidentPress, type ReplyTo, type World } from '../ports.ts';
import { StoredReplyTo } from './click.ts';
import { putLetter, type Receipt } from './click-intake.ts';

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
  world: World,
  { key, verb, id, by }: IncidentPress,
  replyTo: ReplyTo,
): Promise<Receipt> {
  const body = { verb, id, by, replyTo: { ...replyTo } };
  return putLetter(world, { key, kind: INCIDENT, body, by, at: world.now() });
}

/** What it decides is stored together with its being handled; the answer may get lost. */
export async function handlePress(world: World, { key, body }: Taken): Promise<void> {
  const { replyTo, ...press } = Stored.parse(body);
  const pressed = await world.incidents.press({ ...press, key });
  world.messenger.answerPress(replyTo, pressed).catch((error: unknown) => {
    world.log.warn({ err: error, incident: press.id }, 'a private answer was not delivered');
  });
}
