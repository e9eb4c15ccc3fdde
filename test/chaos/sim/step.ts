import type fc from 'fast-check';
import type { UserId } from '../../../src/changes/change.ts';
import type { Kind } from './commands.ts';
import type { Asked, Theatre } from './theatre-types.ts';

/** All that the model has to know: whether there is anything yet to press a button of. */
export interface Model {
  asked: number;
}

export type Step = fc.AsyncCommand<Model, Theatre>;

/** A step that anybody may take at any time. */
export function step(text: string, run: (theatre: Theatre) => Promise<unknown>): Step {
  return {
    check: () => true,
    run: async (_model, theatre) => void (await run(theatre)),
    toString: () => text,
  };
}

export function asking(by: UserId, kind: Kind, thing: string): Step {
  return {
    check: () => true,
    run: async (model, theatre) => {
      await theatre.ask(by, kind, thing);
      model.asked += 1;
    },
    toString: () => `${by} asks for ${kind} of ${thing}`,
  };
}

/** A step about something that was asked for before, the so-many-th last. */
export function about(
  text: string,
  back: number,
  run: (theatre: Theatre, asked: Asked & { id: NonNullable<Asked['id']> }) => Promise<unknown>,
): Step {
  return {
    check: ({ asked }) => asked > back,
    run: async (_model, theatre) => {
      const asked = theatre.asked.at(-1 - back);
      if (asked?.id) await run(theatre, { ...asked, id: asked.id });
    },
    toString: () => `${text} (${back} back)`,
  };
}
