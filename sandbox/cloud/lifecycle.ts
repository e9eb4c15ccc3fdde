import type { ServiceState } from '../seed/shapes.ts';
import type { CloudBehaviour } from './behaviour.ts';
import type { ServiceRecord } from './state.ts';

export type Command = 'start' | 'stop';

/** The effect of a state command on a service in its current state. */
export type Move =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'conflict' }
  | {
      readonly kind: 'moves';
      readonly via: ServiceState;
      readonly to: ServiceState;
      readonly ms: number;
    };

const UNCHANGED: Move = { kind: 'unchanged' };
const CONFLICT: Move = { kind: 'conflict' };

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
  if (state === 'failed') return CONFLICT;
  if (state === 'stopping')
    return behaviour.startWhileStopping === 'conflict' ? CONFLICT : UNCHANGED;
  if (state !== 'stopped') return UNCHANGED;
  return { kind: 'moves', via: 'starting', to: behaviour.startsEnd, ms: behaviour.durations.start };
}

function stopOf(state: ServiceState, behaviour: CloudBehaviour): Move {
  const moves = (to: ServiceState): Move => {
    return { kind: 'moves', via: 'stopping', to, ms: behaviour.durations.stop };
  };
  switch (state) {
    case 'stopped':
      return behaviour.stopWhenStopped === 'conflict' ? CONFLICT : UNCHANGED;
    case 'stopping':
      return behaviour.stopWhenStopping === 'conflict' ? CONFLICT : UNCHANGED;
    case 'provisioning':
    case 'starting':
    case 'awaking':
      return behaviour.stopWhileStarting === 'conflict' ? CONFLICT : moves('stopped');
    case 'idle':
      return moves(behaviour.stopOfIdleEnds);
    case 'failed':
      return CONFLICT;
    default:
      return moves('stopped');
  }
}
