import { expect, test } from 'vitest';
import { crashesOf, rehearse } from './sim/rehearse.ts';
import { STORIES } from './sim/stories.ts';

const LONG = process.env.CHAOS === 'long';
/** Every place in the long mode, else every so-many-th; odd, so that both sides of calls come. */
const STEP = LONG ? 1 : 7;

test.for(STORIES)(
  'every promise holds after any crash: $name',
  { timeout: 300_000 },
  async (story) => {
    const whole = await rehearse(story, null);
    expect(whole.wrong, whole.wrong.join()).toEqual([]);
    const crashes = (await crashesOf(story)).filter((_, index) => index % STEP === 0);
    for (const crash of crashes) {
      const { wrong } = await rehearse(story, crash);
      const where = `${crash.when} call ${crash.at}`;
      expect(wrong, `${where}: ${wrong.join()}`).toEqual([]);
    }
    if (LONG) process.stdout.write(`${crashes.length} crashes: ${story.name}\n`);
  },
);
