import { type PluginTransformQueryArgs, type PluginTransformResultArgs, sql } from 'kysely';
import { expect, test } from 'vitest';
import type { LearnedService } from '../../src/domain/targets.ts';
import { knownServices, learnServices } from '../../src/servers/facts.ts';
import { type Store, transaction } from '../../src/storage/index.ts';
import { minutes, NOON } from '../domain/changes-fixtures.ts';
import { ENGINES, onEngines } from '../storage/engines.ts';
import { freshStore } from '../storage/stores.ts';

const SCALED: LearnedService = {
  id: 's1',
  organizationId: 'o1',
  name: 'staging',
  fields: { state: 'running', memory: 16 },
  source: 'reply to a scale',
  seenAt: minutes(10),
};

const ms = (count: number) => minutes(count).getTime();

async function learned(database: Store, ...facts: Partial<LearnedService>[]) {
  for (const over of facts) {
    await transaction(database, (tx) => learnServices(tx, [{ ...SCALED, ...over }]));
  }
  return (await knownServices(database.root))[0];
}

onEngines('facts of a service are stored', async (engine) => {
  const database = await freshStore(engine);
  const fieldSeenAt = { state: ms(10), memory: ms(10) };
  expect(await learned(database, {})).toEqual({ ...SCALED, fieldSeenAt });
});

onEngines('newer facts are merged with the others', async (engine) => {
  const database = await freshStore(engine);
  const stop = { fields: { state: 'stopping' }, source: 'reply to a stop', seenAt: minutes(20) };
  expect(await learned(database, {}, stop)).toMatchObject({
    ...stop,
    fields: { state: 'stopping', memory: 16 },
    fieldSeenAt: { state: ms(20), memory: ms(10) },
  });
});

onEngines('a late, older reply overwrites nothing', async (engine) => {
  const database = await freshStore(engine);
  const late = { name: 'old name', fields: { state: 'stopped', region: 'eu' }, seenAt: NOON };
  expect(await learned(database, {}, { ...late, source: 'reply to a stop' })).toEqual({
    ...SCALED,
    fields: { state: 'running', memory: 16, region: 'eu' },
    fieldSeenAt: { state: ms(10), memory: ms(10), region: ms(0) },
  });
});

onEngines('each fact has the time of its own reply', async (engine) => {
  const database = await freshStore(engine);
  const scale = { fields: { memory: 32 }, seenAt: minutes(30) };
  const lateStop = { fields: { state: 'stopping' }, seenAt: minutes(20) };
  expect(await learned(database, {}, scale, lateStop)).toMatchObject({
    fields: { state: 'stopping', memory: 32 },
    seenAt: minutes(30),
  });
});

onEngines('a report that only names a service does not renew its facts', async (engine) => {
  const database = await freshStore(engine);
  const report = { name: 'staging 2', fields: {}, source: 'usage report', seenAt: minutes(60) };
  const { name, ...facts } = SCALED;
  expect(await learned(database, {}, report)).toMatchObject({ ...facts, name: 'staging 2' });

  const fresh = await freshStore(engine);
  expect(await learned(fresh, report)).toMatchObject(report);
  expect(await learned(fresh, {})).toMatchObject({ ...facts, name: 'staging 2' });
});

onEngines('concurrent replies are all stored', async (engine) => {
  const database = await freshStore(engine);
  const names = Array.from({ length: 8 }, (_, n) => `f${n}`);
  await Promise.all(names.map((field) => learned(database, { fields: { [field]: 1 } })));
  const [known] = await knownServices(database.root);
  expect(Object.keys(known?.fields ?? {}).sort()).toEqual(names);
});

onEngines('the outcome of a change waits for no long list of services', async (engine) => {
  const database = await freshStore(engine);
  const named = (id: number) => ({ ...SCALED, id: `s${id}`, name: `s${id}` });
  const list = Array.from({ length: 1_200 }, (_, id) => named(id));
  const stop = { ...named(7), fields: { state: 'stopping' }, seenAt: minutes(20) };
  let statements = 0;
  const counting = {
    transformQuery: ({ node }: PluginTransformQueryArgs) => {
      statements += 1;
      return node;
    },
    transformResult: async ({ result }: PluginTransformResultArgs) => result,
  };
  const learn = (all: readonly LearnedService[]) =>
    transaction(database, (tx) => learnServices(tx.withPlugin(counting), all));
  await learn([stop]);
  // Two replicas read the same list, and sort it in their own way.
  await Promise.all([learn([...list, stop]), learn(list.toReversed())]);
  expect(statements).toBeLessThan(20);
  const known = await knownServices(database.root);
  expect(known).toHaveLength(list.length);
  const fields = { state: 'stopping', memory: 16 };
  expect(known.find(({ id }) => id === 's7')).toMatchObject({ ...stop, fields });
});

const DAMAGES = [
  "fields = '{half'",
  "fields = '[]'",
  "field_seen_at = '{half'",
  `field_seen_at = '{"state":"no time"}'`,
];
test.for(ENGINES.flatMap((engine) => DAMAGES.map((damage) => [damage, engine] as const)))(
  'an unreadable row (%s) is left out, reported, and replaced by the next facts on %s',
  async ([damage, engine]) => {
    const database = await freshStore(engine);
    await learned(database, {}, { id: 's2', name: 'reports' });
    await transaction(database, (tx) =>
      sql.raw(`update known_service set ${damage} where id = 's1'`).execute(tx),
    );
    const reported: string[] = [];
    const read = async () =>
      (await knownServices(database.root, (id) => reported.push(id))).map(({ id }) => id);
    expect(await read()).toEqual(['s2']);
    expect(reported).toEqual(['s1']);

    const again = { ...SCALED, seenAt: minutes(20) };
    await transaction(database, (tx) => learnServices(tx, [again]));
    expect(await read()).toEqual(['s2', 's1']);
    expect((await knownServices(database.root))[1]).toMatchObject(again);
  },
);
