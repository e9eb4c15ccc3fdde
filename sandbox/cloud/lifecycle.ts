import type { ServiceState } from '../seed/shapes.ts';
import type { CloudBehaviour } from './behaviour.ts';
import type { ServiceRecord } from './state.ts';

export type Command = 'start' | 'stop';

/** The way of a service to another state. */
export interface Way {
  readonly via: ServiceState;
  readonly to: ServiceState;
  readonly ms: number;
}

/** The effect of a state command on a service in its current state. */
type Move = Way | 'unchanged' | 'conflict';

/** The record at this time: a transition whose time has passed is complete. No timer runs. */
export function settle(service: ServiceRecord, now: Date): ServiceRecord {
  const { transition, scaledFrom } = service;
  const isScaled = scaledFrom !== null && now >= scaledFrom.until;
  const scaled = isScaled ? { ...service, scaledFrom: null } : service;
  if (transition === null || now < transition.at) return scaled;
  return { ...scaled, state: transition.to, transition: null };
}

const NO_START: readonly ServiceState[] = ['failed', 'stopping'];
const NO_STOP: readonly ServiceState[] = ['failed', 'provisioning', 'starting', 'awaking'];

// Starting an idle service changes nothing, because only a query wakes it.
export function moveOf(state: ServiceState, command: Command, behaviour: CloudBehaviour): Move {
  const { startsEnd, durations } = behaviour;
  if ((command === 'start' ? NO_START : NO_STOP).includes(state)) return 'conflict';
  if (command === 'start') {
    const way = { via: 'starting', to: startsEnd, ms: durations.start } as const;
    return state === 'stopped' ? way : 'unchanged';
  }
  if (state === 'stopped' || state === 'stopping') return 'unchanged';
  return { via: 'stopping', to: 'stopped', ms: durations.stop };
}
