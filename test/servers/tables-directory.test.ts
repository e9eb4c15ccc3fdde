import { type PluginTransformQueryArgs, type PluginTransformResultArgs, sql } from 'kysely';
import { expect, test } from 'vitest';
import type { LearnedService } from '../../src/domain/targets.ts';
import { knownServices, learnServices } from '../../src/servers/facts.ts';
import { type Store, transaction } from '../../src/storage/index.ts';
import { minutes, NOON } from '../domain/changes-fixtures.ts';
import { ENGINES, onEngines } from '../storage/engines.ts';
import { freshStore } from '../storage/stores.ts';

const SCALED: LearnedService = {
  ...{ id: 's1', organizationId: 'o1', name: 'staging', seenAt: minutes(10) },
  ...{ fields: { state: 'running', memory: 16 }, source: 'reply to a scale' },
};
const { name: _, ...FACTS } = SCALED;

const ms = (count: number) => minutes(count).getTime();

async function learned(database: Store, ...facts: Partial<LearnedService>[]) {
  for (const over of facts) {
    await transaction(database, (tx) => learnServices(tx, [{ ...SCALED, ...over }]));
  }
  return (await knownServices(database.root))[0];
}

const stop = { fields: { state: 'stopping' }, source: 'reply to a stop', seenAt: minutes(20) };
const old = { fields: { state: 'stopped', region: 'eu' }, source: 'reply to a stop' };
const late = { ...old, name: 'old name', seenAt: NOON };
const scale = { fields: { memory: 32 }, seenAt: minutes(30) };
const report = { name: 'staging 2', fields: {}, source: 'usage report', seenAt: minutes(60) };
const BOTH = { state: ms(10), memory: ms(10) };

const LEARNED: readonly (readonly [string, readonly Partial<LearnedService>[], object])[] = [
  ['facts of a service are stored', [{}], { ...SCALED, fieldSeenAt: BOTH }],
  [
    'newer facts are merged with the others',
    [{}, stop],
    { ...stop, fields: { state: 'stopping', memory: 16 }, fieldSeenAt: { ...BOTH, state: ms(20) } },
  ],
  [
    'a late, older reply overwrites nothing',
    [{}, late],
    {
      ...{ ...SCALED, fields: { state: 'running', memory: 16, region: 'eu' } },
      fieldSeenAt: { ...BOTH, region: ms(0) },
    },
  ],
  [
    'each fact has the time of its own reply',
    [{}, scale, { fields: { state: 'stopping' }, seenAt: minutes(20) }],
    { fields: { state: 'stopping', memory: 32 }, seenAt: minutes(30) },
  ],
  ['a report renews no facts', [{}, report], { ...FACTS, name: 'staging 2' }],
  ['a report alone names a service', [report], report],
  ['facts before a report get its name', [report, {}], { ...FACTS, name: 'staging 2' }],
];

for (const [name, facts, expected] of LEARNED) {
  onEngines(name, async (engine) => {
    expect(await learned(await freshStore(engine), ...facts)).toMatchObject(expected);
  });
}

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
  const stopped = { ...named(7), fields: { state: 'stopping' }, seenAt: minutes(20) };
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
  await learn([stopped]);
  // Two replicas read the same list, and sort it in their own way.
  await Promise.all([learn([...list, stopped]), learn(list.toReversed())]);
  expect(statements).toBeLessThan(20);
  const known = await knownServices(database.root);
  expect(known).toHaveLength(list.length);
  const fields = { state: 'stopping', memory: 16 };
  expect(known.find(({ id }) => id === 's7')).toMatchObject({ ...stopped, fields });
});

const DAMAGES = [
  ...["fields = '{half'", "fields = '[]'", "field_seen_at = '{half'"],
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
