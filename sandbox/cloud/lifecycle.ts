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

export function moveOf(state: ServiceState, command: Command, behaviour: CloudBehaviour): Move {
  return command === 'start' ? startOf(state, behaviour) : stopOf(state, behaviour);
}

// Starting an idle service changes nothing, because only a query wakes it.
function startOf(state: ServiceState, behaviour: CloudBehaviour): Move {
  if (state === 'failed') return 'conflict';
  if (state === 'stopping') return behaviour.startWhileStopping;
  if (state !== 'stopped') return 'unchanged';
  return { via: 'starting', to: behaviour.startsEnd, ms: behaviour.durations.start };
}

function stopOf(state: ServiceState, behaviour: CloudBehaviour): Move {
  const to = state === 'idle' ? behaviour.stopOfIdleEnds : 'stopped';
  const isRising = ['provisioning', 'starting', 'awaking'].includes(state);
  if (state === 'stopped') return behaviour.stopWhenStopped;
  if (state === 'stopping') return behaviour.stopWhenStopping;
  if (state === 'failed' || (isRising && behaviour.stopWhileStarting === 'conflict'))
    return 'conflict';
  return { via: 'stopping', to, ms: behaviour.durations.stop };
}
