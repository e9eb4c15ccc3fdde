import { expect, test } from 'vitest';
import { crashesOf, rehearse } from './sim/rehearse.ts';
import { STORIES } from './sim/stories.ts';

/** Every so-many-th place in `npm test`, every one in the long mode. */
const STEP = process.env.CHAOS === 'long' ? 1 : 4;

test.for(STORIES)('whatever dies, every promise holds: $name', async (story) => {
  const whole = await rehearse(story, null);
  expect(whole.wrong, whole.wrong.join()).toEqual([]);
  const crashes = await crashesOf(story);
  for (const crash of crashes.filter((_, index) => index % STEP === 0)) {
    const { wrong } = await rehearse(story, crash);
    const where = `${crash.when} call ${crash.at}`;
    expect(wrong, `${where}: ${wrong.join()}`).toEqual([]);
  }
});
