import fc from 'fast-check';
import type { UserId } from '../../../src/changes/change.ts';
import type { Verb } from '../../../src/workflow/clicks.ts';
import { KINDS } from './commands.ts';
import { ANA, BEN, CLEO, EVERYBODY, FINN, GLASS } from './people.ts';
import { about, asking, type Model, type Step, step } from './step.ts';
import type { Theatre } from './theatre-types.ts';

const VERBS: readonly Verb[] = [
  'confirm',
  'approve',
  'approve',
  'reject',
  'cancel',
  'happened',
  'did-not-happen',
  'break-glass',
  'review',
];
export const THINGS = ['staging', 'analytics'];
export const TIMED_MS = 600_000;

const back = fc.nat(3);
export const person = fc.constantFrom(...EVERYBODY);

export const asks = fc
  .tuple(fc.constantFrom(ANA, FINN, BEN), fc.constantFrom(...KINDS), fc.constantFrom(...THINGS))
  .map(([by, kind, thing]) => asking(by, kind, thing));

export const presses = fc
  .record({
    by: person,
    verb: fc.constantFrom(...VERBS),
    back,
    times: fc.integer({ min: 1, max: 2 }),
  })
  .map(({ by, verb, back: which, times }) =>
    about(`${by} presses ${verb} ${times} times`, which, (theatre, { id }) =>
      theatre.press(by, verb, id, times),
    ),
  );

const later = fc.constantFrom(0, 0, 0, TIMED_MS);

// Left to chance alone hardly anything is ever sent: most sequences stop short of two approvals.
export const ready = fc
  .tuple(fc.constantFrom(ANA, FINN), fc.constantFrom(...KINDS), fc.constantFrom(...THINGS), later)
  .map(([by, kind, thing, inMs]) => ({
    ...asking(by, kind, thing),
    run: async (model: Model, theatre: Theatre) => {
      model.asked += 1;
      const { id } = await theatre.ask(by, kind, thing, inMs);
      if (!id) return;
      await theatre.press(by, 'confirm', id);
      await theatre.work();
      await theatre.press(BEN, 'approve', id);
      await theatre.press(CLEO, 'approve', id);
    },
    toString: () => `${by} asks for ${kind} of ${thing} in ${inMs} ms, and two approve`,
  }));

export const glass = fc.constantFrom(...THINGS).map((thing) => ({
  ...asking(ANA, GLASS, thing),
  run: async (model: Model, theatre: Theatre) => {
    model.asked += 1;
    const { id } = await theatre.ask(ANA, GLASS, thing);
    if (id) await theatre.press(ANA, 'break-glass', id);
  },
  toString: () => `${ANA} breaks the glass for ${thing}`,
}));

// Few of all pairs of a person and a button fit together, so that chance alone seldom tries them.
const fitting = fc.constantFrom<[UserId | 'the requester', Verb]>(
  ['the requester', 'cancel'],
  ['the requester', 'break-glass'],
  [BEN, 'reject'],
);

export const fits = fc
  .tuple(fitting, back)
  .map(([[who, verb], which]) =>
    about(`${who} presses ${verb}`, which, (theatre, { id, by }) =>
      theatre.press(who === 'the requester' ? by : who, verb, id),
    ),
  );

export const waiting = fc
  .tuple(fitting, fc.constantFrom(ANA, FINN), fc.constantFrom(...KINDS), fc.constantFrom(...THINGS))
  .map(([[who, verb], by, kind, thing]) => ({
    ...asking(by, kind, thing),
    run: async (model: Model, theatre: Theatre) => {
      model.asked += 1;
      const { id } = await theatre.ask(by, kind, thing);
      if (!id) return;
      await theatre.press(by, 'confirm', id);
      await theatre.press(who === 'the requester' ? by : who, verb, id);
    },
    toString: () => `${by} asks for ${kind} of ${thing}, and ${who} presses ${verb}`,
  }));

/** Whoever looks after things goes through the last few, whatever became of them. */
function lookedAt(text: string, presses: readonly (readonly [UserId, Verb])[]): Step {
  return step(text, async (theatre) => {
    const some = theatre.asked.slice(-4).flatMap(({ id }) => id ?? []);
    for (const id of some) for (const [by, verb] of presses) await theatre.press(by, verb, id);
    await theatre.work();
  });
}

export const looks = fc.constantFrom(
  lookedAt('Ben and Cleo look what happened', [
    [BEN, 'happened'],
    [CLEO, 'did-not-happen'],
  ]),
  lookedAt('Cleo and Ben look what happened', [
    [CLEO, 'did-not-happen'],
    [BEN, 'happened'],
  ]),
  lookedAt('Cleo looks at broken glass', [[CLEO, 'review']]),
);
