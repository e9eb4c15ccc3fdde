import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { loadChange } from '../../../src/storage/tables/changes/changes.ts';
import { expireDue } from '../../../src/workflow/execute/recover.ts';
import { elsewhere, minutes, stored } from '../../storage/example-change.ts';
import { aWorld } from '../context.ts';

test('a change that cannot be read does not delay the next one', async () => {
  const { context, clock } = await aWorld();
  const { database } = context;
  const broken = elsewhere({ createdAt: minutes(-2), expiresAt: minutes(1) });
  const sound = elsewhere({ createdAt: minutes(-1), expiresAt: minutes(1) });
  await stored(database, broken, sound);
  await database.transaction((tx) =>
    sql`update change set plan = 'no plan' where id = ${broken.id}`.execute(tx),
  );
  clock.now = minutes(2);
  expect(await expireDue(context)).toBe(1);
  expect((await loadChange(database.db, sound.id))?.state).toBe('expired');
});
