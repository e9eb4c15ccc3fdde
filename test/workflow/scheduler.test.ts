import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { dueClaims } from '../../src/log/old/change-due.ts';
import type { WorkflowContext } from '../../src/workflow/old/ports.ts';
import { type BackgroundLoop, createScheduler } from '../../src/workflow/old/scheduler.ts';
import { workflowLoops } from '../../src/workflow/old/workflow-loops.ts';
import { aChange, ana, cleo, minutes, stored } from '../storage/example-change.ts';
import { createTestContext } from './context.ts';

const AT_ONCE = 40;

function startLoops(context: WorkflowContext, more: Readonly<Record<string, BackgroundLoop>> = {}) {
  const scheduler = createScheduler(context.log);
  const { loops, drain } = workflowLoops(context);
  scheduler.start({ ...loops, timed: { ...loops.timed, ...more } }, 3_600_000);
  const stop = async () => {
    await scheduler.stop();
    await drain();
  };
  return { wake: scheduler.wakeAll, stop };
}

test('changes that cannot be claimed now do not delay the next change', async () => {
  const { context } = await createTestContext();
  const asked = new Set<string>();
  const people: WorkflowContext['people'] = {
    ...context.people,
    identify: async (user) => {
      asked.add(user);
      throw new Error('Slack is down');
    },
  };
  const approved = { state: 'approved', approvals: [], expiresAt: minutes(600) } as const;
  const stuck = Array.from({ length: AT_ONCE }, (_, n) =>
    aChange({ ...approved, requester: ana, createdAt: minutes(n - 60) }),
  );
  const next = aChange({ ...approved, requester: cleo });
  await stored(context.database, ...stuck, next);

  const loops = startLoops({ ...context, people });
  onTestFinished(() => loops.stop());
  await expect.poll(() => [...asked]).toEqual([ana]);
  const wake = () => {
    loops.wake();
    return [...asked];
  };
  await expect.poll(wake).toEqual([ana, cleo]);
});

test('of a thousand due changes at most 40 run at once', async () => {
  const { context } = await createTestContext();
  const slack = Promise.withResolvers<never>();
  let asked = 0;
  const people: WorkflowContext['people'] = {
    ...context.people,
    identify: () => {
      asked += 1;
      return slack.promise;
    },
  };
  const approved = { state: 'approved', approvals: [], expiresAt: minutes(600) } as const;
  await stored(context.database, ...Array.from({ length: 1_000 }, () => aChange(approved)));

  let looks = 0;
  const look = async () => {
    looks += 1;
    return 0;
  };
  const loops = startLoops({ ...context, people }, { look });
  await expect.poll(() => asked).toBe(AT_ONCE);
  // They are sent by now, and the API does not answer: nothing of them is due any more.
  const sent = await dueClaims(context.database.db, context.now(), { limit: AT_ONCE });
  await context.database.transaction(async (tx) => {
    await tx.updateTable('change').set({ state: 'executing' }).where('id', 'in', sent).execute();
  });
  const wake = () => {
    loops.wake();
    return looks;
  };
  await expect.poll(wake).toBeGreaterThan(20);
  expect(asked).toBe(AT_ONCE);
  slack.reject(new Error('Slack is down'));
  await loops.stop();
});

test('a repeated error of a background loop is logged once, and its recovery once', async () => {
  const { context } = await createTestContext();
  const said: string[] = [];
  const log = pino({ level: 'info' }, { write: (line) => void said.push(JSON.parse(line).msg) });
  let passes = 0;
  const away = async () => {
    passes += 1;
    if (passes < 10) throw new Error('the database is away');
    return 0;
  };
  const loops = startLoops({ ...context, log }, { away });
  onTestFinished(() => loops.stop());
  const wake = () => {
    loops.wake();
    return passes;
  };
  await expect.poll(wake, { interval: 2 }).toBeGreaterThan(10);
  expect(said).toEqual(['background loop failed; it runs again', 'background loop recovered']);
});

/** A loop that handles this many items, one in each pass. */
function counting(items: number) {
  const seen = { passes: 0, left: items };
  const loop: BackgroundLoop = async () => {
    seen.passes += 1;
    if (seen.left === 0) return 0;
    seen.left -= 1;
    return 1;
  };
  return { seen, loop };
}

test('work of one loop wakes those whose work comes from others, and not those by time', async () => {
  const scheduler = createScheduler(pino({ level: 'silent' }));
  const [other, woken, timed] = [counting(0), counting(3), counting(0)];
  scheduler.start(
    { woken: { other: other.loop, woken: woken.loop }, timed: { timed: timed.loop } },
    3_600_000,
  );
  await expect.poll(() => woken.seen.passes).toBe(4);
  await scheduler.stop();
  expect(other.seen.passes).toBeGreaterThan(1);
  expect(timed.seen.passes).toBe(1);
});

test('a loop by time runs until nothing is due, and then when all are woken', async () => {
  const scheduler = createScheduler(pino({ level: 'silent' }));
  const [woken, timed] = [counting(0), counting(3)];
  scheduler.start({ woken: { woken: woken.loop }, timed: { timed: timed.loop } }, 3_600_000);
  await expect.poll(() => timed.seen.passes).toBe(4);
  scheduler.wake();
  await expect.poll(() => woken.seen.passes).toBeGreaterThan(1);
  expect(timed.seen.passes).toBe(4);
  scheduler.wakeAll();
  await expect.poll(() => timed.seen.passes).toBe(5);
  await scheduler.stop();
});
