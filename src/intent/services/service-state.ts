import type { Json } from '../../base/text.ts';
import type { Snapshot } from '../../changes/change.ts';
import type { Service } from '../../directory/directory.ts';
import type { CommandOffer } from '../answers/answer.ts';

/** What a state means for a start or a stop. */
export type StateClass = 'up' | 'down' | 'failed' | 'gone';

const STATES: Readonly<Record<StateClass, readonly string[]>> = {
  // An idle service starts with the next query, so that it counts as running.
  up: ['running', 'idle', 'awaking', 'starting', 'provisioning', 'degraded', 'partially_running'],
  down: ['stopped', 'stopping'],
  failed: ['failed'],
  gone: ['terminating', 'terminated', 'softdeleting', 'softdeleted'],
};

/** Null for a state that is missing, or that a newer server sends: it never decides anything. */
export function classOf(state: Json | undefined): StateClass | null {
  const known = Object.entries(STATES).find(([, states]) => states.includes(String(state)));
  // The keys of STATES.
  return (known?.[0] as StateClass | undefined) ?? null;
}

/**
 * Says that a service that was read now is in one of these states already, with what the user can do
 * instead; null if it is in another state.
 */
export function alreadyInState(
  { id, name }: Pick<Service, 'id' | 'name'>,
  before: Snapshot | null,
  states: readonly string[],
): NoEffect | null {
  const { state } = before?.wasRead ? before.fields : {};
  if (typeof state !== 'string' || !states.includes(state)) return null;
  const isDown = classOf(state) === 'down';
  const [label, verb] = isDown ? ['Start it…', 'start'] : ['Stop it…', 'stop'];
  return {
    sentence: `${name} is already ${state} (checked just now), so nothing was requested.`,
    offers: [
      { label, line: `service ${verb} ${id}` },
      { label: 'Show it', line: `service show ${id}` },
    ],
  };
}

/** Why a change is not needed, and what the user can do instead. */
export interface NoEffect {
  readonly sentence: string;
  readonly offers: readonly CommandOffer[];
}
