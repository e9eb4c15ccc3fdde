import { expect, test } from 'vitest';
import { crashesOf, runScenario } from './sim/run-scenario.ts';
import { SCENARIOS } from './sim/scenarios.ts';

const LONG = process.env.CHAOS === 'long';
/**
 * All crashes in the long mode, otherwise every seventh; odd, so that it covers both sides of calls. With every
 * thirteenth, `npm run controls` misses two defects.
 */
const STEP = LONG ? 1 : 7;

test.for(SCENARIOS)(
  'every promise holds after any crash: $name',
  { timeout: 300_000 },
  async (story) => {
    const whole = await runScenario(story, null);
    expect(whole.wrong, whole.wrong.join()).toEqual([]);
    expect(whole.sent).toBe(story.sends ?? whole.sent);
    const crashes = crashesOf(whole).filter((_, index) => index % STEP === 0);
    for (const crash of crashes) {
      const { wrong } = await runScenario(story, crash);
      const where = `${crash.when} call ${crash.at}`;
      expect(wrong, `${where}: ${wrong.join()}`).toEqual([]);
    }
    if (LONG) process.stdout.write(`${crashes.length} crashes: ${story.name}\n`);
  },
);
