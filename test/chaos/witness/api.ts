import { call, type Owner, Unanswered, type World } from './world.ts';

/** ok: applied · refused: definitely not applied · busy: not executed, may be sent again. `Unanswered`: not known. */
export type ApiAnswer = 'ok' | 'refused' | 'busy';

export interface ApiPort {
  send(change: string, target: string): Promise<ApiAnswer>;
}

export interface Arrival {
  readonly change: string;
  readonly target: string;
  readonly at: number;
  readonly applied: boolean;
}

/** The server counts what arrived and was not turned away: nothing else says what was sent. */
export class Api {
  faults = 0;
  readonly arrivals: Arrival[] = [];
  onArrival: (arrival: Arrival) => void = () => {};
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  connect(owner: Owner): ApiPort {
    return { send: (change, target) => this.#send(owner, change, target) };
  }

  wasApplied(change: string): boolean {
    return this.arrivals.some((arrival) => arrival.change === change && arrival.applied);
  }

  #send(owner: Owner, change: string, target: string): Promise<ApiAnswer> {
    const world = this.#world;
    const hasFault = world.chance(this.faults);
    const fault = hasFault ? world.pick(['lost', 'unanswered', 'failed', 'refused', 'busy']) : '';
    const fate = fault === 'lost' || fault === 'unanswered' ? fault : 'fine';
    return call(world, owner, fate, () => {
      if (fault === 'busy') return 'busy';
      const applied = fault !== 'refused' && fault !== 'failed';
      const arrival = { change, target, at: world.now, applied };
      this.arrivals.push(arrival);
      this.onArrival(arrival);
      if (fault === 'failed') throw new Unanswered('500');
      return applied ? 'ok' : 'refused';
    });
  }
}
