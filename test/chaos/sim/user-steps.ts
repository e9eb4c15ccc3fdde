import fc from 'fast-check';
import type { UserId, Verb } from '../../../src/domain/change.ts';
import { KINDS } from './commands.ts';
import { ALL_USERS, ANA, BEN, BREAK_GLASS_KIND, CLEO, FINN } from './people.ts';
import type { Simulation } from './simulation-types.ts';
import { about, asking, type Model, type Step, step } from './step.ts';

const VERBS: readonly Verb[] = [
  'confirm',
  'approve',
  'approve',
  'narrow',
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
export const person = fc.constantFrom(...ALL_USERS);

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
    about(`${by} presses ${verb} ${times} times`, which, (simulation, { id }) =>
      simulation.press(by, verb, id, times),
    ),
  );

const later = fc.constantFrom(0, 0, 0, TIMED_MS);
const approvals = fc.constantFrom<Verb>('approve', 'approve', 'approve', 'narrow');

// Random presses alone rarely lead to two approvals, so this step requests and approves.
export const ready = fc
  .tuple(
    fc.constantFrom(ANA, FINN),
    fc.constantFrom(...KINDS),
    fc.constantFrom(...THINGS),
    later,
    approvals,
    approvals,
  )
  .map(([by, kind, thing, inMs, first, second]) => ({
    ...asking(by, kind, thing),
    run: async (model: Model, simulation: Simulation) => {
      model.asked += 1;
      const { id } = await simulation.ask(by, kind, thing, inMs);
      if (!id) return;
      await simulation.press(by, 'confirm', id);
      await simulation.work();
      await simulation.press(BEN, first, id);
      await simulation.press(CLEO, second, id);
    },
    toString: () =>
      `${by} asks for ${kind} of ${thing} in ${inMs} ms, and two press ${first} and ${second}`,
  }));

/** Two people agree to some stops, of which Finn asks for one. */
export const standing = fc
  .tuple(fc.constantFrom(ANA, FINN), fc.constantFrom(...THINGS), fc.integer({ min: 1, max: 2 }))
  .map(([by, thing, uses]) => ({
    ...asking(FINN, 'service stop', thing),
    run: async (model: Model, simulation: Simulation) => {
      const id = await simulation.allow(by, thing, uses);
      if (!id) return;
      await simulation.press(by, 'confirm', id);
      await simulation.work();
      await simulation.press(BEN, 'approve', id);
      await simulation.press(CLEO, 'approve', id);
      await simulation.work();
      model.asked += 1;
      const use = await simulation.ask(FINN, 'service stop', thing);
      if (use.id) await simulation.press(FINN, 'confirm', use.id);
    },
    toString: () => `${by} asks for ${uses} stops of ${thing}, two approve, and Finn asks for one`,
  }));

export const stops = fc
  .tuple(fc.constantFrom(ANA, FINN, BEN), fc.constantFrom(...THINGS), later, fc.nat(1))
  .map(([by, thing, inMs, more]) => ({
    ...asking(by, 'service stop', thing),
    run: async (model: Model, simulation: Simulation) => {
      const first = await simulation.ask(by, 'service stop', thing, inMs);
      const second = more > 0 ? await simulation.ask(FINN, 'service stop', thing) : null;
      model.asked += second ? 2 : 1;
      if (first.id) await simulation.press(by, 'confirm', first.id);
      if (second?.id) await simulation.press(FINN, 'confirm', second.id);
    },
    toString: () => `${by} asks for a stop of ${thing} in ${inMs} ms, and ${more} more`,
  }));

export const revokes = person.map((by) =>
  step(`${by} revokes the last standing approval`, async (simulation) => {
    const { id } = simulation.allowed.at(-1) ?? {};
    if (id) await simulation.press(by, 'revoke', id);
  }),
);

export const breakGlass = fc.constantFrom(...THINGS).map((thing) => ({
  ...asking(ANA, BREAK_GLASS_KIND, thing),
  run: async (model: Model, simulation: Simulation) => {
    model.asked += 1;
    const { id } = await simulation.ask(ANA, BREAK_GLASS_KIND, thing);
    if (id) await simulation.press(ANA, 'break-glass', id);
  },
  toString: () => `${ANA} uses break-glass for ${thing}`,
}));

// Few pairs of a user and a button fit together, so the fitting ones are steps of their own.
const fitting = fc.constantFrom<[UserId | 'the requester', Verb]>(
  ['the requester', 'cancel'],
  ['the requester', 'break-glass'],
  [BEN, 'reject'],
);

export const fits = fc
  .tuple(fitting, back)
  .map(([[who, verb], which]) =>
    about(`${who} presses ${verb}`, which, (simulation, { id, by }) =>
      simulation.press(who === 'the requester' ? by : who, verb, id),
    ),
  );

export const waiting = fc
  .tuple(fitting, fc.constantFrom(ANA, FINN), fc.constantFrom(...KINDS), fc.constantFrom(...THINGS))
  .map(([[who, verb], by, kind, thing]) => ({
    ...asking(by, kind, thing),
    run: async (model: Model, simulation: Simulation) => {
      model.asked += 1;
      const { id } = await simulation.ask(by, kind, thing);
      if (!id) return;
      await simulation.press(by, 'confirm', id);
      await simulation.press(who === 'the requester' ? by : who, verb, id);
    },
    toString: () => `${by} asks for ${kind} of ${thing}, and ${who} presses ${verb}`,
  }));

/** Operators resolve or review the last few changes. */
function lookedAt(text: string, presses: readonly (readonly [UserId, Verb])[]): Step {
  return step(text, async (simulation) => {
    const some = simulation.asked.slice(-4).flatMap(({ id }) => id ?? []);
    for (const id of some) for (const [by, verb] of presses) await simulation.press(by, verb, id);
    await simulation.work();
  });
}

export const looks = fc.constantFrom(
  lookedAt('Ben and Cleo resolve unknown outcomes', [
    [BEN, 'happened'],
    [CLEO, 'did-not-happen'],
  ]),
  lookedAt('Cleo and Ben resolve unknown outcomes', [
    [CLEO, 'did-not-happen'],
    [BEN, 'happened'],
  ]),
  lookedAt('Cleo reviews break-glass changes', [[CLEO, 'review']]),
);
