import { randomBytes } from 'node:crypto';
import type { Trigger } from '../records.ts';
import type { SlackState } from '../state.ts';
import { refuse } from '../web-api/method.ts';

export function issueTrigger(slack: SlackState, person: string): string {
  const issuedAt = slack.now().getTime();
  const id = `${issuedAt}.${slack.workspace.teamId}.${randomBytes(16).toString('hex')}`;
  slack.triggers.set(id, { person, issuedAt, used: false });
  return id;
}

/** The trigger, if the app may still use it. */
export function usableTrigger(slack: SlackState, id: string): Trigger {
  const trigger = slack.triggers.get(id);
  if (!trigger) return refuse('invalid_trigger_id');
  if (trigger.used) return refuse('exchanged_trigger_id');
  const age = slack.now().getTime() - trigger.issuedAt;
  return age > slack.triggerTimeoutMs ? refuse('expired_trigger_id') : trigger;
}
