import type fc from 'fast-check';
import type { UserId } from '../../../src/domain/change.ts';
import type { Kind } from './commands.ts';
import type { RequestRecord, Simulation } from './simulation-types.ts';

/** The state of the model: the number of requests so far. */
export interface Model {
  asked: number;
}

export type Step = fc.AsyncCommand<Model, Simulation>;

/** A step that is always possible. */
export function step(text: string, run: (simulation: Simulation) => Promise<unknown>): Step {
  return {
    check: () => true,
    run: async (_model, simulation) => void (await run(simulation)),
    toString: () => text,
  };
}

export function asking(by: UserId, kind: Kind, thing: string): Step {
  return {
    check: () => true,
    run: async (model, simulation) => {
      await simulation.ask(by, kind, thing);
      model.asked += 1;
    },
    toString: () => `${by} asks for ${kind} of ${thing}`,
  };
}

/** A step about an earlier request, counted from the last one. */
export function about(
  text: string,
  back: number,
  run: (
    simulation: Simulation,
    asked: RequestRecord & { id: NonNullable<RequestRecord['id']> },
  ) => Promise<unknown>,
): Step {
  return {
    check: ({ asked }) => asked > back,
    run: async (_model, simulation) => {
      const asked = simulation.asked.at(-1 - back);
      if (asked?.id) await run(simulation, { ...asked, id: asked.id });
    },
    toString: () => `${text} (${back} back)`,
  };
}
