import { randomBytes } from 'node:crypto';
import type { SlackState } from '../state.ts';

export const TRIGGER_MS = 3000;

/** Leave to open one modal, given with every gesture of a person. */
export interface Trigger {
  readonly person: string;
  readonly issuedAt: number;
  /** The modal in which the gesture happened; only from there may another be pushed. */
  readonly fromModal: string | null;
  used: boolean;
}

export function issueTrigger(slack: SlackState, person: string, fromModal?: string): string {
  const issuedAt = slack.now().getTime();
  const id = `${issuedAt}.${slack.workspace.teamId}.${randomBytes(16).toString('hex')}`;
  slack.triggers.set(id, { person, issuedAt, fromModal: fromModal ?? null, used: false });
  return id;
}

/** The trigger itself when it still counts, else the name of Slack's refusal. */
export function validTrigger(slack: SlackState, id: string): Trigger | string {
  const trigger = slack.triggers.get(id);
  if (!trigger) return 'invalid_trigger_id';
  if (trigger.used) return 'exchanged_trigger_id';
  const age = slack.now().getTime() - trigger.issuedAt;
  return age > TRIGGER_MS ? 'expired_trigger_id' : trigger;
}
