import { expect, test } from 'vitest';
import { lastOutcomes } from '../../src/log/old/last-outcomes.ts';
import { ENGINES, freshDatabase } from '../storage/engines.ts';
import { aChange, minutes, stored } from '../storage/example-change.ts';

const CALL = { tookMs: 90, requestId: null };

const succeeded = (command: string, at: number) =>
  aChange({
    ...{ command, state: 'succeeded' },
    outcome: { ...CALL, how: 'succeeded', at: minutes(at), reported: [] },
  });
const failed = (command: string, at: number, status: number) =>
  aChange({
    ...{ command, state: 'failed' },
    outcome: { ...CALL, how: 'failed', at: minutes(at), status, text: 'Forbidden' },
  });
const unknown = (command: string, at: number) =>
  aChange({
    ...{ command, state: 'unknown' },
    outcome: { ...CALL, how: 'unknown', at: minutes(at), status: null, text: '' },
  });

test.for(ENGINES)('each command has its latest definite outcome on %s', async (engine) => {
  const database = await freshDatabase(engine);
  await stored(
    database,
    ...[failed('service stop', 1, 403), succeeded('service stop', 2)],
    ...[succeeded('service scale', 3), failed('service scale', 4, 403)],
    ...[failed('service start', 5, 403), unknown('service start', 6)],
    aChange({ command: 'service create' }),
  );
  const found = (await lastOutcomes(database.db)).map(({ command, outcome }) => [
    ...[command, outcome.how, outcome.at],
    outcome.how === 'failed' ? outcome.status : null,
  ]);
  expect(found.toSorted()).toEqual([
    ['service scale', 'failed', minutes(4), 403],
    ['service start', 'failed', minutes(5), 403],
    ['service stop', 'succeeded', minutes(2), null],
  ]);
});
