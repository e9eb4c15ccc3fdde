import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { dueToClaim } from '../../../src/storage/tables/changes/change-due.ts';
import { startLanes } from '../../../src/workflow/background/lanes.ts';
import type { WorkflowContext } from '../../../src/workflow/ports.ts';
import { aChange, ana, cleo, minutes, stored } from '../../storage/example-change.ts';
import { aWorld } from '../context.ts';

const AT_ONCE = 40;

test('where as many as run at once cannot be claimed, the next one is looked at all the same', async () => {
  const { context } = await aWorld();
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

  const lanes = startLanes({ ...context, people }, 3_600_000);
  onTestFinished(() => lanes.stop());
  await expect.poll(() => [...asked]).toEqual([ana]);
  const wake = () => {
    lanes.wake();
    return [...asked];
  };
  await expect.poll(wake).toEqual([ana, cleo]);
});

test('of a thousand changes that are due only so many are under way at once', async () => {
  const { context } = await aWorld();
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
  const lanes = startLanes({ ...context, people }, 3_600_000, { look });
  await expect.poll(() => asked).toBe(AT_ONCE);
  // They are sent by now, and the API does not answer: nothing of them is due any more.
  const sent = await dueToClaim(context.database.db, context.now(), { limit: AT_ONCE });
  await context.database.transaction(async (tx) => {
    await tx.updateTable('change').set({ state: 'executing' }).where('id', 'in', sent).execute();
  });
  const wake = () => {
    lanes.wake();
    return looks;
  };
  await expect.poll(wake).toBeGreaterThan(20);
  expect(asked).toBe(AT_ONCE);
  slack.reject(new Error('Slack is down'));
  await lanes.stop();
});

test('a lane that fails time and again says so once, and once that it goes on', async () => {
  const { context } = await aWorld();
  const said: string[] = [];
  const log = pino({ level: 'info' }, { write: (line) => void said.push(JSON.parse(line).msg) });
  let passes = 0;
  const away = async () => {
    passes += 1;
    if (passes < 10) throw new Error('the database is away');
    return 0;
  };
  const lanes = startLanes({ ...context, log }, 3_600_000, { away });
  onTestFinished(() => lanes.stop());
  const wake = () => {
    lanes.wake();
    return passes;
  };
  await expect.poll(wake, { interval: 2 }).toBeGreaterThan(10);
  expect(said).toEqual(['a pass failed and is tried again', 'passes go on']);
});
