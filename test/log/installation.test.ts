import { expect, test } from 'vitest';
import {
  activateConfiguration,
  activeConfiguration,
  inForce,
  recordedIds,
  recordIds,
} from '../../src/log/installation.ts';
import { append } from '../../src/log/log.ts';
import { prune } from '../../src/log/upkeep.ts';
import { onEngines } from '../storage/engines.ts';
import { freshLog, idOf, installation, rowsIn, tamper, user, write } from './logs.ts';

const created = {
  change: idOf('A'),
  by: user('UANA'),
  reason: 'release',
  scope: { tag: 'prod' },
  from: new Date(1),
  until: new Date(5_000),
};
const freeze = { type: 'created', ...created } as const;
const schedule = {
  type: 'created',
  change: idOf('A'),
  by: user('UANA'),
  service: { id: 'S1', name: 'ci' },
  stop: 'weekdays 20:00',
  start: null,
  zone: 'Europe/Berlin',
  until: new Date(5_000),
} as const;

onEngines('the last configuration that was activated is the active one', async (engine) => {
  const { open } = await installation(engine);
  const [log, other] = [await open(), await open()];
  expect(await activeConfiguration(log)).toBeNull();
  await activateConfiguration(log, { configuration: 'one', release: '2.0.0' });
  await activateConfiguration(other, { configuration: 'one', release: '2.0.0' });
  expect(await rowsIn(log.store)).toHaveLength(1);
  await activateConfiguration(other, { configuration: 'two', release: '2.0.0' });
  expect(await activeConfiguration(log)).toMatchObject({
    configuration: 'two',
    release: '2.0.0',
  });
  await activateConfiguration(log, { configuration: 'two', release: '2.0.1' });
  expect(await rowsIn(log.store)).toHaveLength(3);
});

onEngines('an earlier configuration that was put into the database is refused', async (engine) => {
  const log = await freshLog(engine);
  await activateConfiguration(log, { configuration: 'one', release: '2.0.0' });
  await activateConfiguration(log, { configuration: 'two', release: '2.0.0' });
  await tamper(log.store, 'delete from event where seq = 2');
  await expect(activeConfiguration(log)).rejects.toThrow();
});

onEngines('the first id of a name stays', async (engine) => {
  const log = await freshLog(engine);
  const first = new Map([
    ['#db-costs', 'C1'],
    ['@db-leads', 'S1'],
  ]);
  expect(await recordIds(log, first)).toEqual(first);
  const later = new Map([
    ['@db-leads', 'S9'],
    ['@ops', 'S2'],
  ]);
  expect((await recordIds(log, later)).get('@db-leads')).toBe('S1');
  expect(await recordedIds(log)).toEqual(new Map([...first, ['@ops', 'S2']]));
  await recordIds(log, later);
  expect(await rowsIn(log.store)).toHaveLength(2);
  await write(log, 'installation/names', { type: 'named', ids: { '@db-leads': 'S9' } });
  expect((await recordedIds(log)).get('@db-leads')).toBe('S1');
});

onEngines('a freeze is in force until it is lifted or over', async (engine) => {
  const log = await freshLog(engine);
  await write(log, 'freeze/A', freeze);
  await write(log, 'freeze/B', { ...freeze, change: idOf('B'), until: new Date(100) });
  await write(
    log,
    'freeze/C',
    { ...freeze, change: idOf('C') },
    { type: 'lifted', change: null, by: user('UBEN') },
  );
  const standing = await inForce(log, 'freeze', new Date(1_000));
  expect([...standing.keys()]).toEqual(['A']);
  expect(standing.get('A')).toMatchObject({ ...created, lost: null });
  expect(await inForce(log, 'freeze', new Date(5_000))).toEqual(new Map());
});

onEngines('the freezes under the lock are those that the transaction sees', async (engine) => {
  const { open } = await installation(engine);
  const [log, other] = [await open(), await open()];
  await write(other, 'freeze/A', freeze);
  const { result } = await append(log, async (locked) => ({
    events: [],
    result: [...(await inForce(locked, 'freeze', new Date(1))).keys()],
  }));
  expect(result).toEqual(['A']);
});

onEngines('a freeze whose rows were deleted is not lifted by that', async (engine) => {
  const log = await freshLog(engine);
  await write(log, 'freeze/A', freeze);
  await write(log, 'freeze/B', { ...freeze, change: idOf('B') });
  await tamper(log.store, 'delete from event where seq = 1');
  await expect(inForce(log, 'freeze', new Date(1))).rejects.toThrow('freeze/A lost its version 1');
});

onEngines('a freeze that was pruned is not in force', async (engine) => {
  const log = await freshLog(engine);
  await write(log, 'freeze/A', freeze, { type: 'lifted', change: null, by: user('UBEN') });
  await prune(log, { before: 9_999_999_999_999, export: 'digest' });
  expect(await inForce(log, 'freeze', new Date(1))).toEqual(new Map());
});

onEngines(
  'a schedule is in force until it is removed or expires, also while it is paused',
  async (engine) => {
    const log = await freshLog(engine);
    await write(log, 'schedule/A', schedule, { type: 'paused', by: user('UANA'), why: 'holiday' });
    await write(
      log,
      'schedule/B',
      { ...schedule, change: idOf('B') },
      { type: 'removed', by: user('UANA'), why: 'replaced' },
    );
    const standing = await inForce(log, 'schedule', new Date(1_000));
    expect([...standing.keys()]).toEqual(['A']);
    expect(standing.get('A')).toMatchObject({ zone: 'Europe/Berlin', isPaused: true, last: null });
    expect(await inForce(log, 'schedule', new Date(5_000))).toEqual(new Map());
  },
);

test('a subscribed digest is in force until it is removed, whatever the time', async () => {
  const log = await freshLog('sqlite');
  const added = { type: 'added', channel: 'C1', options: {}, by: user('UANA') } as const;
  await write(log, 'subscription/A', added);
  await write(log, 'subscription/B', added, { type: 'removed', by: user('UANA') });
  expect([...(await inForce(log, 'subscription', new Date(9e12))).keys()]).toEqual(['A']);
});
