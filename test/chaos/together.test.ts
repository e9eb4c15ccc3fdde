import { expect, test } from 'vitest';
import { ENGINES, freshUrl } from '../storage/engines.ts';
import { ANA, BEN, CLEO, FINN, GUS } from './sim/people.ts';
import { openTheatre } from './sim/theatre.ts';
import type { Theatre } from './sim/theatre-types.ts';

const LONG = process.env.CHAOS === 'long';
const ROUNDS = LONG ? 100 : 8;
const MINUTE_MS = 60_000;

/** Three people press at once, on two changes at once, and two processes work at once. */
async function round(theatre: Theatre, thing: string): Promise<void> {
  const asked = [
    await theatre.ask(ANA, 'service scale', thing),
    await theatre.ask(FINN, 'service create', thing),
  ];
  for (const { id, by } of asked) if (id) await theatre.press(by, 'confirm', id);
  await theatre.workTogether();
  for (const { id } of asked) {
    for (const by of [BEN, CLEO, GUS]) if (id) await theatre.press(by, 'approve', id, 2);
  }
  await theatre.workTogether();
}

test.for(ENGINES)(
  'two processes at once send each change once (%s)',
  {
    timeout: LONG ? 600_000 : 30_000,
  },
  async (engine) => {
    const theatre = await openTheatre(await freshUrl(engine));
    for (let each = 0; each < ROUNDS; each += 1) {
      await round(theatre, `thing-${each}`);
      // Faster than people can press, their presses are refused.
      theatre.pass(MINUTE_MS);
    }
    await theatre.workTogether();
    await theatre.calm();
    const wrong = await theatre.wrong();
    expect(wrong, wrong.join()).toEqual([]);
    expect(theatre.server.deliveries()).toHaveLength(2 * ROUNDS);
    await theatre.close();
  },
);
