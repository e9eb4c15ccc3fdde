import { expect, test } from 'vitest';
import { sharedRead } from '../../src/http/shared-read.ts';

const KEEP_MS = 60_000;

/** A read whose questions are answered by hand, and a clock that is set by hand. */
function reading() {
  const questions: { key: string; answer: (value: string) => void; fail: () => void }[] = [];
  const clock = { now: 0 };
  const fetch = (key: string) =>
    new Promise<string>((answer, reject) => {
      questions.push({ key, answer, fail: () => reject(new Error('no answer')) });
    });
  return { ...sharedRead(fetch, KEEP_MS, () => clock.now), clock, questions };
}

async function questionAt({ questions }: ReturnType<typeof reading>, index: number) {
  await expect.poll(() => questions.length, { interval: 2 }).toBeGreaterThan(index);
  const question = questions[index];
  if (!question) throw new Error('There is no such question');
  return question;
}

const fresh = { fresh: true };
const kept = { fresh: false };

test('whoever asks while a question is under way shares its answer', async () => {
  const shared = reading();
  const answers = [shared.read('g', kept), shared.read('g', kept)];
  (await questionAt(shared, 0)).answer('Ben');
  expect(await Promise.all(answers)).toEqual(['Ben', 'Ben']);
  expect(shared.questions).toHaveLength(1);
});

test('different groups are different questions', async () => {
  const shared = reading();
  const answers = [shared.read('g', kept), shared.read('h', kept)];
  (await questionAt(shared, 0)).answer('Ben');
  (await questionAt(shared, 1)).answer('Cleo');
  expect(await Promise.all(answers)).toEqual(['Ben', 'Cleo']);
});

test('an answer serves for a minute, then it is asked for anew', async () => {
  const shared = reading();
  const first = shared.read('g', kept);
  (await questionAt(shared, 0)).answer('Ben');
  await first;
  shared.clock.now = KEEP_MS - 1;
  expect(await shared.read('g', kept)).toBe('Ben');
  shared.clock.now = KEEP_MS;
  const second = shared.read('g', kept);
  (await questionAt(shared, 1)).answer('Cleo');
  expect(await second).toBe('Cleo');
});

test('a failure is told to all who shared it, and kept for nobody', async () => {
  const shared = reading();
  const failed = Promise.allSettled([shared.read('g', kept), shared.read('g', kept)]);
  (await questionAt(shared, 0)).fail();
  expect((await failed).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  const again = shared.read('g', kept);
  (await questionAt(shared, 1)).answer('Ben');
  expect(await again).toBe('Ben');
});

test('a fresh question takes no kept answer, and its own is kept instead', async () => {
  const shared = reading();
  const first = shared.read('g', kept);
  (await questionAt(shared, 0)).answer('Ben');
  await first;
  const second = shared.read('g', fresh);
  (await questionAt(shared, 1)).answer('Cleo');
  expect(await second).toBe('Cleo');
  expect(await shared.read('g', kept)).toBe('Cleo');
});

test('a fresh question takes no answer to one that left before, however late that comes', async () => {
  const shared = reading();
  const early = shared.read('g', kept);
  const old = await questionAt(shared, 0);
  const late = shared.read('g', fresh);
  (await questionAt(shared, 1)).answer('Cleo');
  expect(await late).toBe('Cleo');
  old.answer('Ben');
  expect(await early).toBe('Ben');
  expect(await shared.read('g', kept)).toBe('Cleo');
});

test('those who ask afresh at the same moment share one question', async () => {
  const shared = reading();
  const answers = [shared.read('g', fresh), shared.read('g', fresh), shared.read('g', kept)];
  (await questionAt(shared, 0)).answer('Ben');
  expect(await Promise.all(answers)).toEqual(['Ben', 'Ben', 'Ben']);
  expect(shared.questions).toHaveLength(1);
});

test('who asks afresh when such a question has left asks one of their own', async () => {
  const shared = reading();
  const first = shared.read('g', fresh);
  const left = await questionAt(shared, 0);
  const second = shared.read('g', fresh);
  (await questionAt(shared, 1)).answer('Cleo');
  left.answer('Ben');
  expect(await Promise.all([first, second])).toEqual(['Ben', 'Cleo']);
});

test('after news of a change neither a kept answer nor one on its way is believed', async () => {
  const shared = reading();
  const first = shared.read('g', kept);
  const onItsWay = await questionAt(shared, 0);
  shared.forget('g');
  onItsWay.answer('Ben');
  await first;
  const second = shared.read('g', kept);
  (await questionAt(shared, 1)).answer('Cleo');
  await second;
  shared.forget('g');
  const third = shared.read('g', kept);
  (await questionAt(shared, 2)).answer('Gus');
  expect(await third).toBe('Gus');
});
