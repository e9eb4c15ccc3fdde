import { expect, test } from 'vitest';
import { createLog } from '../../src/base/log.ts';
import type { ChannelId, Position } from '../../src/domain/change.ts';
import { withProgress } from '../../src/slack/private-answers.ts';
import { testClock } from '../base/loopback.ts';

const AT: Position = { channel: 'D0ANA00001' as ChannelId, ts: '1795372240.856000' };

/** A piece of work that the test ends, and how often its notice was shown meanwhile. */
function slowWork(showing = async (): Promise<Position | null> => AT, late?: AbortSignal) {
  const clock = testClock();
  const work = Promise.withResolvers<string>();
  const shown = { count: 0 };
  const show = () => {
    shown.count += 1;
    return showing();
  };
  const options = { clock, log: createLog({ level: 'silent' }), show, late };
  const finished = withProgress(options, () => work.promise);
  return { clock, work, shown, finished };
}

test('work that takes longer is announced once', async () => {
  const { clock, work, shown, finished } = slowWork();
  clock.expire();
  work.resolve('done');
  expect(await finished).toEqual({ result: 'done', isLate: true, notice: AT });
  expect(shown.count).toBe(1);
});

test('work that begins late is announced at once', async () => {
  const { work, shown, finished } = slowWork(undefined, AbortSignal.abort());
  expect(shown.count).toBe(1);
  work.resolve('done');
  expect(await finished).toMatchObject({ isLate: true });
});

test('work that ends in time is not announced', async () => {
  const { clock, work, shown, finished } = slowWork();
  work.resolve('done');
  expect(await finished).toEqual({ result: 'done', isLate: false, notice: null });
  clock.expire();
  expect(shown.count).toBe(0);
});

test('work that fails in time is not announced', async () => {
  const { clock, work, shown, finished } = slowWork();
  work.reject(new Error('no costs'));
  await expect(finished).rejects.toThrow('no costs');
  clock.expire();
  expect(shown.count).toBe(0);
});

test('a notice that cannot be shown does not change the result', async () => {
  const failing = () => Promise.reject(new Error('no Slack'));
  const { clock, work, shown, finished } = slowWork(failing);
  clock.expire();
  work.resolve('done');
  expect(await finished).toEqual({ result: 'done', isLate: true, notice: null });
  expect(shown.count).toBe(1);
});
