import { expect, test } from 'vitest';
import { changeIdFrom } from '../../src/domain/change.ts';
import { openBot } from '../chaos/sim/bot.ts';
import { ANA, MEMBERS, policyWhen } from '../chaos/sim/people.ts';
import { openServer } from '../chaos/sim/server.ts';
import { openSlack } from '../chaos/sim/slack.ts';
import { ENGINES, freshDatabase } from '../storage/engines.ts';
import { NOON } from '../storage/example-change.ts';

/** More than one person may request in ten minutes. */
const TIMES = 25;

test.for(ENGINES)('a request that arrives again counts once on %s', async (engine) => {
  const now = () => NOON;
  const database = await freshDatabase(engine, { now });
  const policy = policyWhen({ frozen: false });
  let ids = 0;
  const newId = () => {
    ids += 1;
    return changeIdFrom(new Uint8Array([0, 0, 0, 0, 0, ids]));
  };
  const outside = { server: openServer(now), slack: openSlack(now, MEMBERS), now, newId };
  const around = { ...outside, database, auditKey: Buffer.alloc(32, 7), policy: () => policy };
  const bot = openBot(around, 'tests');
  const ask = (key: string) =>
    bot.ask({ by: ANA, kind: 'service scale', thing: 'staging', mark: 'm', key, inMs: 0 });

  expect(await ask('first')).toMatchObject({ ok: true });
  for (let times = 0; times < TIMES; times += 1) {
    const again = await ask('first');
    expect(again).toMatchObject({ ok: false, denial: { refusal: 'already-received' } });
  }
  const counts = await database.db.selectFrom('tally').select(['person', 'count']).execute();
  expect(new Map(counts.map(({ person, count }) => [person as string, count]))).toEqual(
    new Map([
      ['*', 1],
      [ANA, 1],
    ]),
  );
  expect(await database.db.selectFrom('change').select('id').execute()).toHaveLength(1);
  const refused = database.db.selectFrom('audit_event').select('seq').where('kind', '=', 'refused');
  expect(await refused.execute()).toHaveLength(TIMES);
  expect(await ask('second')).toMatchObject({ ok: true });
});
