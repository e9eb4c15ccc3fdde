import { expect, test } from 'vitest';
import { activateConfiguration, append } from '../../src/log/index.ts';
import { readGauges } from '../../src/ops/telemetry.ts';
import { claimJobs, transaction } from '../../src/storage/index.ts';
import {
  approvedChange,
  confirmed,
  drafted,
  freshLog,
  rowsIn,
  tamper,
  write,
} from '../log/logs.ts';
import { onEngines } from '../storage/engines.ts';

onEngines('open entries are counted, with the age of the oldest', async (engine) => {
  const log = await freshLog(engine);
  const began = Date.now();
  await write(log, 'change/A', drafted(), confirmed);
  await write(log, 'change/B', drafted(), confirmed);
  await approvedChange(log, 'C');
  await write(log, 'change/D', drafted());
  const jobs = [
    { kind: 'card', key: 'A', dueAt: began - 60_000 },
    { kind: 'press', key: 'A/p1', dueAt: began - 5_000 },
    { kind: 'press', key: 'x/p2', dueAt: began - 9_000 },
    { kind: 'expire', key: 'A', dueAt: began + 600_000 },
  ];
  await append(log, async () => ({ events: [], jobs, result: null }));
  await write(log, 'digest/C1/2026-11-20', { type: 'missed', why: 'is_archived' });

  const gauges = await readGauges(log, new Date(began), 'c1');
  expect(gauges.changes.get('pending')).toEqual({ count: 2, since: expect.any(Date) });
  expect(gauges.changes.get('approved')?.count).toBe(1);
  expect(gauges.changes.get('unknown')).toEqual({ count: 0, since: null });
  expect(gauges.changes.has('draft')).toBe(false);
  expect(gauges.undeliveredCards).toEqual({ count: 0, since: null });
  expect(gauges.outbox).toEqual({ count: 1, since: new Date(began - 60_000) });
  expect(gauges.inbox).toEqual({ count: 2, since: new Date(began - 9_000) });
  expect([...gauges.digests]).toEqual([
    ['posted', 0],
    ['missed', 1],
    ['left-out', 0],
  ]);
  const { at } = (await rowsIn(log.store))[0] ?? {};
  expect(gauges).toMatchObject({
    logProblem: null,
    isOutdated: false,
    noBackup: new Date(Number(at)),
  });
});

onEngines('a card that could not be drawn is counted', async (engine) => {
  const log = await freshLog(engine);
  await write(log, 'change/A', drafted(), confirmed);
  const jobs = [{ kind: 'card', key: 'A', dueAt: 0 }];
  await append(log, async () => ({ events: [], jobs, result: null }));
  const claim = { owner: 'one', leaseMs: 0, lanes: [{ most: 9, kinds: ['card'] }] };
  const tried = async (now: number) => {
    await transaction(log.store, (tx) => claimJobs(tx, { ...claim, now }));
    return (await readGauges(log, new Date(), 'c1')).undeliveredCards;
  };
  expect(await tried(1)).toEqual({ count: 0, since: null });
  expect(await tried(2)).toEqual({ count: 1, since: expect.any(Date) });
});

test('another active configuration and a damaged log are shown', async () => {
  const log = await freshLog('sqlite');
  await activateConfiguration(log, { configuration: 'c2', release: '2.0.0' });
  const read = () => readGauges(log, new Date(), 'c1');
  expect((await read()).isOutdated).toBe(true);
  expect((await readGauges(log, new Date(), 'c2')).isOutdated).toBe(false);
  await write(log, 'change/A', drafted());
  await tamper(log.store, "update event set at = 1 where stream = 'change/A'");
  await expect(log.load('change/A', () => null)).rejects.toThrow('was modified');
  expect((await read()).logProblem).toContain('The log is damaged at event 2');
});
