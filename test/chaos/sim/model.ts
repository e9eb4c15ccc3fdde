import fc from 'fast-check';
import type { UserId } from '../../../src/changes/change.ts';
import type { Verb } from '../../../src/workflow/world.ts';
import { KINDS, type Kind } from './commands.ts';
import { ANA, BEN, CLEO, EVERYBODY, FINN, GLASS, MEMBERS } from './people.ts';
import type { Crash } from './ports.ts';
import { FAULTS, type Fault } from './server.ts';
import type { Asked, Theatre } from './theatre.ts';

/** All that the model has to know: whether there is anything yet to press a button of. */
interface Model {
  asked: number;
}

type Step = fc.AsyncCommand<Model, Theatre>;

const TIMED_MS = 600_000;

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
const THINGS = ['staging', 'analytics'];
const WAITS_MS = [1_000, 30_000, 150_000, TIMED_MS, 3_600_000];

/** A step that anybody may take at any time. */
function step(text: string, run: (theatre: Theatre) => Promise<unknown>): Step {
  return {
    check: () => true,
    run: async (_model, theatre) => void (await run(theatre)),
    toString: () => text,
  };
}

function asking(by: UserId, kind: Kind, thing: string): Step {
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
function about(
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

const person = fc.constantFrom(...EVERYBODY);
const back = fc.nat(3);
const crash: fc.Arbitrary<Crash> = fc.record({
  at: fc.integer({ min: 1, max: 14 }),
  when: fc.constantFrom('before' as const, 'after' as const),
});

const presses = fc
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
const ready = fc
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

const glass = fc.constantFrom(...THINGS).map((thing) => ({
  ...asking(ANA, GLASS, thing),
  run: async (model: Model, theatre: Theatre) => {
    model.asked += 1;
    const { id } = await theatre.ask(ANA, GLASS, thing);
    if (id) await theatre.press(ANA, 'break-glass', id);
  },
  toString: () => `${ANA} breaks the glass for ${thing}`,
}));

const looks = back.map((which) =>
  about('two look what happened', which, async (theatre, { id }) => {
    await theatre.press(BEN, 'happened', id);
    await theatre.press(CLEO, 'did-not-happen', id);
    await theatre.work();
  }),
);

const works = fc.constant(step('it works', (theatre) => theatre.work()));
const together = fc.constant(step('two processes work', (theatre) => theatre.workTogether()));
const dies = crash.map((where) =>
  step(`it dies ${where.when} call ${where.at}`, async (theatre) => {
    theatre.plan(where);
    await theatre.work();
  }),
);
const passes = fc
  .constantFrom(...WAITS_MS)
  .map((ms) => step(`${ms / 1_000} s pass`, async (theatre) => theatre.pass(ms)));
const befalls = fc
  .constantFrom(...FAULTS)
  .map((fault: Fault) =>
    step(`the next request meets ${fault}`, async (theatre) => theatre.server.arm(fault)),
  );
const edits = fc
  .constantFrom(...THINGS)
  .map((thing) =>
    step(`somebody edits ${thing}`, async (theatre) => theatre.server.edit(`alert:${thing}`)),
  );
const toggles = fc.constantFrom('slack', 'freeze').map((what) =>
  step(`${what} is switched`, async ({ slack, clock }) => {
    if (what === 'slack') slack.state.down = !slack.state.down;
    else clock.frozen = !clock.frozen;
  }),
);
const moves = fc.tuple(fc.constantFrom('operator', 'approver'), person).map(([role, who]) =>
  step(`${who} joins or leaves ${role}`, async ({ slack: { state } }) => {
    const people = state.members[role] ?? [];
    const others = people.filter((each) => each !== who);
    const next = others.length < people.length ? others : [...people, who];
    // Nobody becomes one who never was: that is how the judge knows a wrong approval.
    const known = next.filter((each) => MEMBERS[role]?.includes(each));
    state.members = { ...state.members, [role]: known };
  }),
);

const asks = fc
  .tuple(fc.constantFrom(ANA, FINN, BEN), fc.constantFrom(...KINDS), fc.constantFrom(...THINGS))
  .map(([by, kind, thing]) => asking(by, kind, thing));

/** Sequences of what people, servers and fate do to the bot; what comes twice is twice as likely. */
export function sequences(maxCommands: number) {
  const people = [asks, presses, presses, ready, ready, ready, ready, glass, looks, moves];
  const fate = [befalls, befalls, befalls, dies, dies, dies, edits, toggles];
  const steps = [...people, ...fate, works, works, works, works, together, together, passes];
  return fc.commands<Model, Theatre, false>(steps, { maxCommands, size: 'max' });
}
