import fc from 'fast-check';
import {
  asks,
  fits,
  glass,
  looks,
  person,
  presses,
  ready,
  THINGS,
  TIMED_MS,
  waiting,
} from './gestures.ts';
import { MEMBERS } from './people.ts';
import type { Crash } from './ports.ts';
import { FAULTS, type Fault } from './server.ts';
import { type Model, step } from './step.ts';
import type { Theatre } from './theatre-types.ts';

const WAITS_MS = [1_000, 30_000, 150_000, TIMED_MS, 3_600_000, 5 * 3_600_000];

const crash: fc.Arbitrary<Crash> = fc.record({
  at: fc.integer({ min: 1, max: 14 }),
  when: fc.constantFrom('before' as const, 'after' as const),
});

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

/** Sequences of what people, servers and fate do to the bot; what comes twice is twice as likely. */
export function sequences(maxCommands: number) {
  const some = [asks, presses, presses, glass, fits, waiting, waiting, looks, looks, moves];
  const people = [...some, ready, ready, ready, ready];
  const fate = [befalls, befalls, befalls, dies, dies, dies, edits, toggles];
  const steps = [...people, ...fate, works, works, works, works, together, together, passes];
  return fc.commands<Model, Theatre, false>(steps, { maxCommands, size: 'max' });
}
