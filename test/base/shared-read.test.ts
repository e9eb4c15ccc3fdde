import { expect, test } from 'vitest';
import { type Repeat, sharedRead } from '../../src/base/cache.ts';

const KEEP_MS = 60_000;

/** A read whose fetches the test resolves, and a clock that the test sets. */
function reading(repeat?: Repeat) {
  const questions: { key: string; answer: (value: string) => void; fail: () => void }[] = [];
  const clock = { now: 0 };
  const fetch = (key: string) =>
    new Promise<string>((answer, reject) => {
      questions.push({ key, answer, fail: () => reject(new Error('no answer')) });
    });
  return { ...sharedRead(fetch, KEEP_MS, () => clock.now, repeat), clock, questions };
}

async function questionAt(
  { questions }: Pick<ReturnType<typeof reading>, 'questions'>,
  index: number,
) {
  await expect.poll(() => questions.length, { interval: 2 }).toBeGreaterThan(index);
  const question = questions[index];
  if (!question) throw new Error('There is no such question');
  return question;
}

/** What the read gets, whose fetch is the one with this index and finds this value. */
async function fetched(
  shared: ReturnType<typeof reading>,
  [how, index, value]: readonly [Parameters<typeof shared.read>[1], number, string],
) {
  const read = shared.read('g', how);
  (await questionAt(shared, index)).answer(value);
  return read;
}

const fresh = { fresh: true };
const kept = { fresh: false };

test('concurrent reads share one fetch', async () => {
  const shared = reading();
  const answers = [shared.read('g', kept), shared.read('g', kept)];
  (await questionAt(shared, 0)).answer('Ben');
  expect(await Promise.all(answers)).toEqual(['Ben', 'Ben']);
  expect(shared.questions).toHaveLength(1);
});

test('different keys have different fetches', async () => {
  const shared = reading();
  const answers = [shared.read('g', kept), shared.read('h', kept)];
  (await questionAt(shared, 0)).answer('Ben');
  (await questionAt(shared, 1)).answer('Cleo');
  expect(await Promise.all(answers)).toEqual(['Ben', 'Cleo']);
});

test('a result is cached for a minute, then fetched again', async () => {
  const shared = reading();
  await fetched(shared, [kept, 0, 'Ben']);
  shared.clock.now = KEEP_MS - 1;
  expect(await shared.read('g', kept)).toBe('Ben');
  shared.clock.now = KEEP_MS;
  expect(await fetched(shared, [kept, 1, 'Cleo'])).toBe('Cleo');
});

test('a failure reaches all callers that shared the fetch, and is not cached', async () => {
  const shared = reading();
  const failed = Promise.allSettled([shared.read('g', kept), shared.read('g', kept)]);
  (await questionAt(shared, 0)).fail();
  expect((await failed).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await fetched(shared, [kept, 1, 'Ben'])).toBe('Ben');
});

test('a fresh read ignores the cached result and replaces it', async () => {
  const shared = reading();
  await fetched(shared, [kept, 0, 'Ben']);
  expect(await fetched(shared, [fresh, 1, 'Cleo'])).toBe('Cleo');
  expect(await shared.read('g', kept)).toBe('Cleo');
});

test('a fresh read does not use a fetch that started before it', async () => {
  const shared = reading();
  const early = shared.read('g', kept);
  const old = await questionAt(shared, 0);
  expect(await fetched(shared, [fresh, 1, 'Cleo'])).toBe('Cleo');
  old.answer('Ben');
  expect(await early).toBe('Ben');
  expect(await shared.read('g', kept)).toBe('Cleo');
});

test('simultaneous fresh reads share one fetch', async () => {
  const shared = reading();
  const answers = [shared.read('g', fresh), shared.read('g', fresh), shared.read('g', kept)];
  (await questionAt(shared, 0)).answer('Ben');
  expect(await Promise.all(answers)).toEqual(['Ben', 'Ben', 'Ben']);
  expect(shared.questions).toHaveLength(1);
});

test('a fresh read after the start of a fresh fetch starts another one', async () => {
  const shared = reading();
  const first = shared.read('g', fresh);
  const left = await questionAt(shared, 0);
  const second = shared.read('g', fresh);
  (await questionAt(shared, 1)).answer('Cleo');
  left.answer('Ben');
  expect(await Promise.all([first, second])).toEqual(['Ben', 'Cleo']);
});

test('after forget neither a cached result nor a running fetch is used', async () => {
  const shared = reading();
  const first = shared.read('g', kept);
  const onItsWay = await questionAt(shared, 0);
  shared.forget('g');
  onItsWay.answer('Ben');
  await first;
  await fetched(shared, [kept, 1, 'Cleo']);
  shared.forget('g');
  expect(await fetched(shared, [kept, 2, 'Gus'])).toBe('Gus');
});

const since = (ms: number) => ({ fresh: true, since: new Date(ms) });

test('a fetch that began after a time serves every fresh read that needs one since then', async () => {
  const shared = reading();
  shared.clock.now = 1_000;
  const first = shared.read('g', since(999));
  const question = await questionAt(shared, 0);
  const joined = shared.read('g', since(999));
  question.answer('Ben');
  expect(await Promise.all([first, joined])).toEqual(['Ben', 'Ben']);
  shared.clock.now = 2_000;
  expect(await shared.read('g', since(999))).toBe('Ben');
  expect(shared.questions).toHaveLength(1);
  expect(await fetched(shared, [since(1_000), 1, 'Cleo'])).toBe('Cleo');
});

test('a result from before the clock was put back serves no fresh read', async () => {
  const shared = reading();
  shared.clock.now = 5_000;
  await fetched(shared, [fresh, 0, 'Ben']);
  shared.clock.now = 1_000;
  expect(await fetched(shared, [since(900), 1, 'Cleo'])).toBe('Cleo');
});

test('a fetch drops the results that are out of date, and no other', () => {
  const shared = reading();
  for (const key of ['old', 'renewed']) shared.keep(key, 'Ben');
  shared.clock.now = 1;
  shared.keep('renewed', 'Cleo');
  shared.clock.now = 10 * KEEP_MS;
  shared.read('g', kept);
  // What was dropped does not come back with a clock that was put back.
  shared.clock.now = 1;
  expect([shared.cached('old'), shared.cached('renewed')]).toEqual([null, 'Cleo']);
});

test('a cached result is used while a fresh fetch runs', async () => {
  const shared = reading();
  await fetched(shared, [kept, 0, 'Ben']);
  const second = shared.read('g', fresh);
  const slow = await questionAt(shared, 1);
  expect(await shared.read('g', kept)).toBe('Ben');
  slow.answer('Cleo');
  expect(await second).toBe('Cleo');
});

/** A read whose first fetch is refused by a rate limit that ends with `resume`. */
function limited() {
  const limit = Promise.withResolvers<void>();
  const repeat: Repeat = async (once, onWait) => {
    onWait();
    await limit.promise;
    return once();
  };
  return { ...reading(repeat), resume: limit.resolve };
}

test('reads share the fetch that waits for the end of a rate limit', async () => {
  const shared = limited();
  const answers = [shared.read('g', fresh), shared.read('g', since(5)), shared.read('g', kept)];
  shared.forget('g');
  answers.push(shared.read('g', fresh));
  shared.resume();
  (await questionAt(shared, 0)).answer('Ben');
  expect(await Promise.all(answers)).toEqual(answers.map(() => 'Ben'));
  expect(shared.questions).toHaveLength(1);
});

test('during a rate limit a cached read gets the last result, for ten minutes', async () => {
  const shared = limited();
  shared.keep('g', 'Ben');
  const waiting = shared.read('g', fresh);
  shared.clock.now = 10 * KEEP_MS - 1;
  expect(await shared.read('g', kept)).toBe('Ben');
  shared.clock.now = 10 * KEEP_MS;
  const late = shared.read('g', kept);
  shared.resume();
  (await questionAt(shared, 0)).answer('Cleo');
  expect(await Promise.all([waiting, late])).toEqual(['Cleo', 'Cleo']);
});
