import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { dueClaims } from '../../../src/storage/tables/changes/change-due.ts';
import {
  type BackgroundLoop,
  createScheduler,
} from '../../../src/workflow/background/scheduler.ts';
import { workflowLoops } from '../../../src/workflow/background/workflow-loops.ts';
import type { WorkflowContext } from '../../../src/workflow/ports.ts';
import { aChange, ana, cleo, minutes, stored } from '../../storage/example-change.ts';
import { createTestContext } from '../context.ts';

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
