import { type Json, list, record, stringOf } from '../../json.ts';
import type { UserInteraction } from '../records.ts';
import type { SlackState } from '../state.ts';
import type { DeliverToApp } from './delivery.ts';

type Log = Pick<SlackState, 'interactions' | 'now'>;

/** Delivers to the app and records which commands, buttons and forms people use. */
export function withInteractionLog(log: Log, deliver: DeliverToApp): DeliverToApp {
  return (kind, payload, retry) => {
    const at = log.now();
    if (kind === 'slash_commands') {
      const [person, name] = [stringOf(payload.user_id), stringOf(payload.command)];
      log.interactions.push({ person, name, at });
    }
    if (payload.type === 'block_actions') log.interactions.push(...actionsOf(payload, at));
    if (payload.type === 'view_submission') log.interactions.push(submissionOf(payload, at));
    return deliver(kind, payload, retry);
  };
}

function actionsOf(payload: Json, at: Date): UserInteraction[] {
  const person = stringOf(record(payload.user).id);
  return list(payload.actions).map(({ action_id }) => ({ person, name: stringOf(action_id), at }));
}

function submissionOf(payload: Json, at: Date): UserInteraction {
  const form = stringOf(record(payload.view).callback_id);
  return { person: stringOf(record(payload.user).id), name: `submit ${form}`, at };
}
