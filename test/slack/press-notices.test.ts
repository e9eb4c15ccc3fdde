import { expect, test } from 'vitest';
import manifest from '../../manifest.json' with { type: 'json' };
import { createLog } from '../../src/base/log.ts';
import type { UserId } from '../../src/domain/change.ts';
import { createPressNotices } from '../../src/slack/press-answers.ts';
import { testClock } from '../base/loopback.ts';
import { startSlack } from '../sandbox/slack/bolt-app.ts';
import { clientOf } from '../sandbox/slack/client.ts';

const AT = new Date('2026-11-20T12:00:00.000Z');
const REPLY_TO = { url: null, channel: null, ts: null, thread: null, replaces: false, home: false };

/** The notices of one process, which answers `ageMs` after a press was received. */
async function notices(ageMs = 0) {
  const slack = await startSlack({ manifest });
  const clock = testClock();
  const created = createPressNotices({
    drawing: { isLost: () => false },
    posts: clientOf(slack),
    respond: () => Promise.reject(new Error('no response URL')),
    clock,
    now: () => new Date(AT.getTime() + ageMs),
    log: createLog({ level: 'silent' }),
  });
  const shown = () => slack.calls('chat.postMessage').length;
  const press = (key: string, isHandled = async () => false) =>
    created.expect(key, { ...REPLY_TO, user: 'U0BEN00001' as UserId }, isHandled);
  const end = (key: string) => created.end({ key, at: AT });
  return { clock, shown, press, end };
}

test('a press that is not handled after 2 s gets one notice, which its answer can replace', async () => {
  const { clock, shown, press, end } = await notices();
  press('key 1');
  clock.expire();
  const ended = await end('key 1');
  expect(ended).toMatchObject({ isLate: true, notice: { channel: expect.stringMatching(/^D/) } });
  expect(shown()).toBe(1);
});

test('a press that is handled in time gets no notice', async () => {
  const { clock, shown, press, end } = await notices();
  press('key 1');
  expect(await end('key 1')).toMatchObject({ isLate: false, notice: null });
  clock.expire();
  expect(shown()).toBe(0);
});

test.for<[string, () => Promise<boolean>, number]>([
  ['that another process has handled gets no notice', async () => true, 0],
  ['gets its notice while no database answers', () => Promise.reject(new Error('no database')), 1],
])('a press %s', async ([, isHandled, count]) => {
  const { clock, shown, press, end } = await notices();
  press('key 1', isHandled);
  clock.expire();
  await end('key 1');
  expect(shown()).toBe(count);
});

test.for([
  [1_999, false],
  [2_000, true],
])('a press of another process, %s ms old, is late: %s', async ([ageMs = 0, isLate]) => {
  const { end } = await notices(ageMs as number);
  expect(await end('key 1')).toEqual({ isLate, notice: null });
});

test('at most 1,000 presses are kept, and the oldest is dropped', async () => {
  const { clock, press, end } = await notices();
  const checked: string[] = [];
  for (let n = 0; n <= 1_000; n += 1) {
    const key = `key ${n}`;
    press(key, async () => checked.push(key) > 0);
  }
  await end('key 0');
  await end('key 1');
  clock.expire();
  expect([checked.includes('key 0'), checked.includes('key 1')]).toEqual([true, false]);
});
