import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { figureOrNaN, MaybeSwitch, MaybeText } from '../../src/base/http-rows.ts';
import { API_METRICS, readUsageCost } from '../../src/servers/cloud-replies.ts';
import { serviceRow, warehouseRow } from './cloud-replies.ts';

const Credits = z.unknown().optional().transform(figureOrNaN);
const Metrics = z
  .object(Object.fromEntries(API_METRICS.map((name) => [name, Credits])))
  .catchall(Credits);
/** A row, as a schema reads it. */
const UsageCost = z.looseObject({
  ...{ dataWarehouseId: MaybeText, serviceId: MaybeText, date: MaybeText },
  ...{ entityId: MaybeText, entityName: MaybeText, entityType: MaybeText },
  metrics: z.preprocess((value) => value ?? {}, Metrics).catch(Metrics.parse({})),
  totalCredits: Credits,
  locked: MaybeSwitch,
});

const ODD = [
  ...['', ' ', '5', ' -1.5e-7 ', '1e999', '1,5', '0x10', 'Infinity', 'NaN', '12\n', 'true'],
  ...[0, -0, -3, 1e21, Number.NaN, Number.POSITIVE_INFINITY, Number.MIN_VALUE],
  ...[true, false, null, undefined, [], [1], {}, { value: 1 }, new Date(0)],
];
const anything = fc.oneof(fc.constantFrom(...ODD), fc.double(), fc.string(), fc.anything());

const FIELDS = [...Object.keys(UsageCost.shape), 'tags', '__proto__'];
const metrics = fc.oneof(
  anything,
  fc.dictionary(fc.constantFrom(...API_METRICS, 'tomorrowCredits', '__proto__'), anything),
);
const changes = fc.dictionary(fc.constantFrom(...FIELDS), anything);

/** A valid row, with some fields replaced, added or omitted. */
const rows = fc
  .record({
    base: fc.constantFrom<object>(serviceRow, warehouseRow, {}),
    changes,
    metrics: fc.option(metrics, { nil: undefined }),
    without: fc.subarray(FIELDS),
  })
  .map(({ base, changes: over, metrics: told, without }) => {
    const all = Object.entries({
      ...base,
      ...over,
      ...(told === undefined ? {} : { metrics: told }),
    });
    return Object.fromEntries(all.filter(([field]) => !without.includes(field)));
  });

test('the fast reader and the schema give the same row for any field values', () => {
  fc.assert(
    fc.property(rows, (row) => {
      expect(readUsageCost(row)).toStrictEqual(UsageCost.parse(row));
    }),
    { numRuns: 2_000 },
  );
});

test('a __proto__ key is dropped from a row', () => {
  const row = readUsageCost(JSON.parse('{"__proto__":{"totalCredits":5},"entityId":"s-1"}'));
  expect(row).toMatchObject({ entityId: 's-1', totalCredits: null });
  expect(Object.hasOwn(row, '__proto__')).toBe(false);
});
