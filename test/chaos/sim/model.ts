import fc from 'fast-check';
import { MEMBERS } from './people.ts';
import type { Crash } from './ports.ts';
import { FAULTS, type Fault } from './server.ts';
import type { AfterRollback, Simulation } from './simulation-types.ts';
import { about, type Model, step } from './step.ts';
import {
  asks,
  breakGlass,
  fits,
  looks,
  person,
  presses,
  ready,
  revokes,
  standing,
  stops,
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

// Mostly the last few commits, sometimes nearly all.
const commits = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 15 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 300 }) },
);
const then = fc.constantFrom<AfterRollback>('no sign', 'connections end', 'restart');
const rollbacks = fc.tuple(commits, then, fc.nat(3)).map(([lost, after, dice]) => {
  const isDown = dice === 0;
  const text = `the database loses ${lost} commits${isDown ? ' while Slack is down' : ''}: ${after}`;
  return step(text, async (simulation) => {
    const { state } = simulation.slack;
    state.down ||= isDown;
    await simulation.rollBack(lost, after);
    await simulation.work();
    if (isDown) state.down = false;
  });
});
// The worst moments are those between an effect and its answer.
const core = fc.constantFrom(
  'post card',
  'post note',
  'read thread',
  'send',
  'redraw card',
  'answer',
);
const moment = fc.oneof(
  crash,
  fc.record({ at: core, when: fc.constantFrom('before' as const, 'after' as const) }),
);
const goesOn = fc.constantFrom('crashes', 'lives on', 'lives on beside another');
const struck = fc.tuple(moment, commits, goesOn).map(([where, lost, how]) =>
  step(
    `the database loses ${lost} commits ${where.when} call ${where.at}, the process ${how}`,
    async (simulation) => {
      const rollback = { commits: lost, lives: how !== 'crashes' };
      await simulation.plan({ ...where, rollback });
      await (how === 'lives on beside another' ? simulation.workTogether() : simulation.work());
    },
  ),
);
const deletes = fc.tuple(fc.constantFrom('card', 'note'), fc.nat(3)).map(([what, back]) =>
  about(`a person deletes the ${what}`, back, async ({ slack }, { id }) => {
    const card = slack.cards.findLast(({ change, isDeleted }) => change === id && !isDeleted);
    const note = slack.notes.findLast((each) => each.card === card);
    if (what === 'card' && card) card.isDeleted = true;
    if (what === 'note' && note) note.isDeleted = true;
  }),
);

/** Random sequences of actions of users, servers and faults; repeated entries are more likely. */
export function sequences(maxCommands: number, { rollsBack }: { readonly rollsBack: boolean }) {
  const some = [asks, presses, presses, breakGlass, fits, waiting, waiting, looks, looks, moves];
  const people = [...some, ready, ready, ready, ready, standing, standing, stops, stops, revokes];
  const fate = [faults, faults, faults, crashes, crashes, crashes, edits, switches];
  const loss = rollsBack ? [rollbacks, rollbacks, rollbacks, struck, struck, struck, deletes] : [];
  const work = [works, works, works, works, together, together, passes];
  const steps = [...people, ...fate, ...loss, ...work];
  const replayPath = process.env.COMMANDS;
  const replay = replayPath === undefined ? {} : { replayPath };
  return fc.commands<Model, Simulation, false>(steps, { maxCommands, size: 'max', ...replay });
}
