import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { ChangeId } from '../../src/domain/change.ts';
import { freezeFor } from '../../src/domain/policy.ts';
import { eventsOf } from '../../src/log/old/append.ts';
import { insertFreeze } from '../../src/log/old/freezes.ts';
import { checkFreezes } from '../../src/workflow/old/check-freezes.ts';
import { currentPolicy } from '../../src/workflow/old/current-policy.ts';
import { createFreezeService } from '../../src/workflow/old/freeze-service.ts';
import type { WorkflowContext } from '../../src/workflow/old/ports.ts';
import { ENGINES, type Engine, freshDatabase } from '../storage/engines.ts';
import { ana, minutes, NOON } from '../storage/example-change.ts';
import { operatorsNotices } from '../storage/notices.ts';
import { createTestContext } from './context.ts';

const ID = 'FREEZE' as ChangeId;
const DEV = { kind: 'service', id: 's1', name: 'dev', tags: ['dev'], warehouse: null } as const;

/** A freeze of `prod`, whose row an SQL statement changes. */
async function damaged(engine: Engine, set: string) {
  const { context: base } = await createTestContext();
  const database = await freshDatabase(engine);
  const context: WorkflowContext = { ...base, database, auditKey: Buffer.alloc(32, 7) };
  const freeze = { id: ID, reason: 'launch', createdBy: ana, from: NOON, until: minutes(60) };
  await database.transaction(async (tx) => {
    await insertFreeze(tx, { ...freeze, scope: { tag: 'prod' } });
    await sql.raw(`update change_freeze set ${set}`).execute(tx);
  });
  const frozen = async () => {
    const { freezes } = await currentPolicy(database.db, context);
    return freezeFor(freezes, DEV, NOON)?.reason ?? null;
  };
  return { context, database, frozen };
}

const DAMAGES = [
  "scope = '{half'",
  "scope = '[]'",
  `scope = '{"region":"eu"}'`,
  "until_at = 'no time'",
  "from_at = 'no time'",
];
test.for(ENGINES.flatMap((engine) => DAMAGES.map((set) => [set, engine] as const)))(
  'a freeze that cannot be read (%s) covers everything until it is lifted on %s',
  async ([set, engine]) => {
    const { context, database, frozen } = await damaged(engine, set);
    expect(await frozen()).toBe(
      'launch (Signalbox cannot read the scope of this freeze, so it covers everything)',
    );
    await checkFreezes(context);
    await checkFreezes(context);
    expect(await operatorsNotices(database)).toEqual([
      expect.stringContaining(`The scope of freeze ${ID} cannot be read, so it covers everything.`),
    ]);
    const kinds = (await eventsOf(database.db, ID)).map(({ kind }) => kind);
    expect(kinds).toEqual(['freeze-unreadable']);

    const freezes = createFreezeService(context);
    expect(await freezes.madeInSlack()).toMatchObject([{ id: ID, scope: { everything: true } }]);
    await freezes.lift({ id: ID, by: ana, reason: null }, ID);
    expect(await frozen()).toBeNull();
  },
);

test.for(ENGINES)(
  'a key of a newer release in the scope of a freeze is ignored on %s',
  async (engine) => {
    const set = `scope = '{"tag":"dev","note":"new"}'`;
    const { context, database, frozen } = await damaged(engine, set);
    expect(await frozen()).toBe('launch');
    expect(await createFreezeService(context).madeInSlack()).toMatchObject([
      { scope: { tag: 'dev' }, aliases: ['tag:dev'] },
    ]);
    await checkFreezes(context);
    await checkFreezes(context);
    expect(await operatorsNotices(database)).toEqual([]);
  },
);
