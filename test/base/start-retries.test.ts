import { expect, test } from 'vitest';
import { createStartRetries, RefusedStart } from '../../src/app-start.ts';
import { createLog } from '../../src/base/log.ts';
import { systemClock } from '../../src/base/time.ts';

const AWAY = refused('Slack was not reached (ECONNREFUSED)', false);
const LIMITED = refused('Slack limits the rate of requests', false);
const REVOKED = refused('the token was revoked', true);
const DONE = 'done';

function refused(problem: string, lasting: boolean): RefusedStart {
  return new RefusedStart([{ where: 'SLACK_BOT_TOKEN', problem, hint: null }], lasting);
}

/** Repeats a step with these results in turn. `cancelAt` is the number of the wait that ends it. */
async function repeat(results: readonly ('done' | RefusedStart)[], cancelAt = 0) {
  const lines: string[] = [];
  const waits: number[] = [];
  const cancel = new AbortController();
  const sleep = async (ms: number) => {
    waits.push(ms);
    if (waits.length === cancelAt) cancel.abort();
  };
  const retries = createStartRetries({
    log: createLog({ level: 'info' }, { write: (line) => lines.push(line) }),
    clock: { ...systemClock, sleep, random: () => 1 },
    cancel: cancel.signal,
  });
  let step = 0;
  const result = await retries
    .repeat(async () => {
      const next = results[step];
      step += 1;
      if (next === undefined) throw new Error('one step too many');
      if (next !== DONE) throw next;
      return next;
    })
    .catch((error: unknown) => error);
  const logged = lines.map((line) => JSON.parse(line));
  const texts = logged.map(({ msg, problem, failures }) => problem ?? `${msg}, ${failures}`);
  return { result, waits, texts, problems: retries.problems() };
}

test('a step is repeated after 1 s to 30 s until it succeeds, with a line for each problem', async () => {
  const failures = [AWAY, AWAY, LIMITED, AWAY, LIMITED, AWAY, AWAY];
  expect(await repeat([...failures, DONE])).toEqual({
    result: DONE,
    waits: [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000],
    texts: [
      'Slack was not reached (ECONNREFUSED)',
      'Slack limits the rate of requests',
      'the start proceeds after a temporary problem, 7',
    ],
    problems: [],
  });
});

test('a step that succeeds at once is neither delayed nor logged', async () => {
  expect(await repeat([DONE])).toEqual({ result: DONE, waits: [], texts: [], problems: [] });
});

test('a problem that only a person can fix ends the retries', async () => {
  const result = { problems: REVOKED.problems };
  expect(await repeat([AWAY, REVOKED])).toMatchObject({ result, waits: [1_000] });
});

test('a cancelled start is not attempted again', async () => {
  const result = { problems: AWAY.problems };
  expect(await repeat([AWAY, AWAY], 2)).toMatchObject({ result, waits: [1_000, 2_000] });
});
