import { expect, test } from 'vitest';
import { ATTACKS, type AttackName, attack } from './witness/attacks.ts';
import { model } from './witness/model.ts';
import { brokenWithout, MUTANTS, type Mutant, type Rule } from './witness/mutants.ts';
import { FIRST_IDEA } from './witness/rules.ts';
import { interleave } from './witness/two-primaries.ts';
import { EVERYTHING, HANDS, HONEST, ROLLBACKS, type Walked, walk } from './witness/walk.ts';

const LONG = process.env.CHAOS === 'long';
/** Of each kind. Four kinds make ten thousand walks in the long form. */
const WALKS = Number(process.env.WALKS ?? (LONG ? 2_500 : 4));
const SEED = Number(process.env.SEED ?? 1);
const INTERLEAVINGS = LONG ? 400 : 30;
const CONTROL_WALKS = LONG ? 80 : 4;
const ATTACK_SEEDS = LONG ? 100 : 3;

test.for([
  ['restarts, pauses, skewed clocks and a slow Slack', HONEST],
  ['rollbacks and failovers', ROLLBACKS],
  ['rollbacks, two primaries and deleted cards', EVERYTHING],
  ['a deleted event', HANDS],
] as const)('every promise holds in walks with %s', { timeout: 0 }, async ([name, weather]) => {
  const sums: Record<string, number> = {};
  for (let seed = SEED; seed < SEED + WALKS; seed++) {
    const walked = await walk(seed, model(), weather, trace);
    expect(walked.broken, `seed ${seed}`).toEqual([]);
    add(sums, walked);
  }
  if (LONG) process.stdout.write(`${name}: ${JSON.stringify(sums)}\n`);
  // The walks must reach what they are to verify.
  if (WALKS >= 4) expect(sums.sent).toBeGreaterThan(WALKS * 5);
});

test.for(['approved', 'requested'] as const)(
  'of two primaries that split when a change is %s exactly one sends',
  async (moment) => {
    for (let seed = 1; seed <= INTERLEAVINGS; seed++) {
      const sent = await interleave(seed, model(), { moment, faults: 0 });
      expect(sent, `seed ${seed}`).toBe(1);
    }
  },
);

test.for([
  ['approved', 0.3],
  ['requested', 0.3],
  ['rollback', 0],
  ['rollback', 0.3],
] as const)(
  'of two processes at most one sends: %s, a share of %d faults',
  async ([moment, faults]) => {
    for (let seed = 1; seed <= INTERLEAVINGS; seed++) {
      const sent = await interleave(seed, model(), { moment, faults });
      expect(sent, `seed ${seed}`).toBeLessThanOrEqual(1);
    }
  },
);

test.for(Object.keys(ATTACKS) as AttackName[])(
  'every promise holds in the attack: %s',
  async (name) => {
    for (let seed = 1; seed <= ATTACK_SEEDS; seed++) {
      expect(await attack(name, seed, model()), `seed ${seed}`).toEqual([]);
    }
  },
);

test.for(Object.entries(MUTANTS) as [Rule, Mutant][])(
  'the model breaks a promise without the rule %s',
  async ([rule, { place, seed, breaks, behind }]) => {
    expect(await brokenWithout([], place, seed)).toEqual([]);
    if (!behind) {
      expect(await brokenWithout([rule], place, seed)).toContain(breaks);
      return;
    }
    // Either rule is enough there.
    expect(await brokenWithout([rule], place, seed)).toEqual([]);
    expect(await brokenWithout([behind], place, seed)).toEqual([]);
    expect(await brokenWithout([rule, behind], place, seed)).toContain(breaks);
  },
);

test('every attack finds a mutant', () => {
  const places = new Set(Object.values(MUTANTS).map(({ place }) => place));
  const unused = Object.keys(ATTACKS).filter(
    (name) => !places.has(`attack: ${name as AttackName}`),
  );
  expect(unused).toEqual([]);
});

// The control: the oracle must find what the first idea of the design does wrong.
test('a version on an edited card sends twice after rollbacks', { timeout: 0 }, async () => {
  let twice = 0;
  for (let seed = 101; seed < 101 + CONTROL_WALKS; seed++) {
    const { broken } = await walk(seed, model(FIRST_IDEA), ROLLBACKS);
    if (broken.some(({ promise }) => promise === 'sent twice')) twice++;
  }
  if (LONG) process.stdout.write(`control: sent twice in ${twice} of ${CONTROL_WALKS} walks\n`);
  expect(twice).toBeGreaterThanOrEqual(CONTROL_WALKS / 10);
});

test('a version on an edited card sends twice on two primaries', { timeout: 0 }, async () => {
  let twice = 0;
  for (let seed = 1; seed <= INTERLEAVINGS; seed++) {
    if ((await interleave(seed, model(FIRST_IDEA))) > 1) twice++;
  }
  if (LONG) process.stdout.write(`control: sent twice in ${twice} interleavings\n`);
  expect(twice).toBeGreaterThan(INTERLEAVINGS / 2);
});

function trace(line: string): void {
  if (process.env.TRACE) process.stdout.write(`${line}\n`);
}

function add(sums: Record<string, number>, walked: Walked): void {
  for (const [name, value] of Object.entries(walked)) {
    if (typeof value === 'number') sums[name] = (sums[name] ?? 0) + value;
  }
}
