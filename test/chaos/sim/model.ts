import fc from 'fast-check';
import { MEMBERS } from './people.ts';
import type { Crash } from './ports.ts';
import { FAULTS, type Fault } from './server.ts';
import type { Simulation } from './simulation-types.ts';
import { type Model, step } from './step.ts';
import {
  asks,
  breakGlass,
  fits,
  looks,
  person,
  presses,
  ready,
  THINGS,
  TIMED_MS,
  waiting,
} from './user-steps.ts';

const WAITS_MS = [1_000, 30_000, 150_000, TIMED_MS, 3_600_000, 5 * 3_600_000];

const crash: fc.Arbitrary<Crash> = fc.record({
  at: fc.integer({ min: 1, max: 40 }),
  when: fc.constantFrom('before' as const, 'after' as const),
});

const works = fc.constant(step('the background loops run', (simulation) => simulation.work()));
const together = fc.constant(
  step('the background loops of two processes run', (simulation) => simulation.workTogether()),
);
const crashes = crash.map((where) =>
  step(`the process crashes ${where.when} call ${where.at}`, async (simulation) => {
    await simulation.plan(where);
    await simulation.work();
  }),
);
const passes = fc
  .constantFrom(...WAITS_MS)
  .map((ms) => step(`${ms / 1_000} s pass`, async (simulation) => simulation.pass(ms)));
const faults = fc
  .constantFrom(...FAULTS)
  .map((fault: Fault) =>
    step(`the next request meets ${fault}`, async (simulation) => simulation.server.arm(fault)),
  );
const edits = fc.constantFrom(...THINGS).map((thing) =>
  step(`another user edits ${thing}`, async ({ server }) => {
    server.edit(`alert:${thing}`);
    server.edit(`service:${thing}`);
  }),
);
const switches = fc.constantFrom('slack', 'freeze').map((what) =>
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
    // Only the initial members can join again, so that a wrong approval can be recognised.
    const known = next.filter((each) => MEMBERS[role]?.includes(each));
    state.members = { ...state.members, [role]: known };
  }),
);

/** Random sequences of actions of users, servers and faults; repeated entries are more likely. */
export function sequences(maxCommands: number) {
  const some = [asks, presses, presses, breakGlass, fits, waiting, waiting, looks, looks, moves];
  const people = [...some, ready, ready, ready, ready];
  const fate = [faults, faults, faults, crashes, crashes, crashes, edits, switches];
  const steps = [...people, ...fate, works, works, works, works, together, together, passes];
  return fc.commands<Model, Simulation, false>(steps, { maxCommands, size: 'max' });
}
