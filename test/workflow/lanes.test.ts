import { expect, onTestFinished, test } from 'vitest';
import { startLanes } from '../../src/workflow/lanes.ts';
import type { World } from '../../src/workflow/world.ts';
import { aChange, ana, cleo, minutes, stored } from '../storage/example-change.ts';
import { aWorld } from './world.ts';

test('where as many as run at once cannot be claimed, the next one is looked at all the same', async () => {
  const { world } = await aWorld();
  const asked = new Set<string>();
  const people: World['people'] = {
    ...world.people,
    identify: async (user) => {
      asked.add(user);
      throw new Error('Slack is down');
    },
  };
  const approved = { state: 'approved', approvals: [], expiresAt: minutes(600) } as const;
  const stuck = Array.from({ length: 20 }, (_, n) =>
    aChange({ ...approved, requester: ana, createdAt: minutes(n - 60) }),
  );
  const next = aChange({ ...approved, requester: cleo });
  await stored(world.database, ...stuck, next);

  const lanes = startLanes({ ...world, people }, 3_600_000);
  onTestFinished(() => lanes.stop());
  await expect.poll(() => [...asked]).toEqual([ana]);
  const wake = () => {
    lanes.wake();
    return [...asked];
  };
  await expect.poll(wake).toEqual([ana, cleo]);
});
