import { expect, test } from 'vitest';
import { crashesOf, runScenario } from './sim/run-scenario.ts';
import { SCENARIOS } from './sim/scenarios.ts';

const LONG = process.env.CHAOS === 'long';
/**
 * All crashes in the long mode, otherwise every twenty-fifth; odd, so that it covers both sides of calls. Most scenarios
 * begin with the same calls, so each one begins with another crash: together they cover these calls.
 */
const STEP = LONG ? 1 : 25;

test.for(SCENARIOS.map((story, number) => ({ ...story, number })))(
  'every promise holds after any crash: $name',
  { timeout: 300_000 },
  async (story) => {
    const whole = await runScenario(story, null);
    expect(whole.wrong, whole.wrong.join()).toEqual([]);
    expect(whole.sent).toBe(story.sends ?? whole.sent);
    const crashes = crashesOf(whole).filter((_, index) => (index + story.number) % STEP === 0);
    for (const crash of crashes) {
      const { wrong } = await runScenario(story, crash);
      const where = `${crash.when} call ${crash.at}`;
      expect(wrong, `${where}: ${wrong.join()}`).toEqual([]);
    }
    if (LONG) process.stdout.write(`${crashes.length} crashes: ${story.name}\n`);
  },
);
