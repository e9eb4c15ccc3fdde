import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { createRowStream } from '../../src/base/http-rows.ts';

const PATH = ['result', 'costs'] as const;
/** Small, so that a short body has many batches. */
const BATCH_BYTES = 24;

/** The rows that are taken, and the parsed rest; null if the body is not valid JSON. */
function readInChunks(bytes: Buffer, chunkBytes: number) {
  const taken: unknown[] = [];
  const open = () => (rows: readonly unknown[]) => {
    taken.push(...rows);
    return true;
  };
  const stream = createRowStream({ path: PATH, open }, BATCH_BYTES);
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    stream.push(bytes.subarray(at, at + chunkBytes));
  }
  return { taken, rest: parsed(stream.rest()) };
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return null;
  }
}

/** The whole value again: the taken rows before those that stayed in the array. */
function readWhole(bytes: Buffer, chunkBytes: number): unknown {
  const { taken, rest } = readInChunks(bytes, chunkBytes);
  if (taken.length === 0 || rest === null) return rest;
  // Rows are only taken from an array at this path.
  const { result } = rest as { result: { costs: unknown[] } };
  result.costs.unshift(...taken);
  return rest;
}

const texts = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('},{', '{"id":1},', ']}', '\\', '"', '\\"},{\\"id', 'ü€𝄞', '\u2028', 'costs":[{'),
);
// JSON.parse of Node.js 26 can confuse two keys that are one escaped character, such as `"\\"` and
// `"\""`, so keys have no escapes here.
const keys = fc.constantFrom('id', 'costs', '},{', '[{', 'ü€𝄞', '');
const values = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    texts,
    fc.double({ noNaN: true }),
    fc.constantFrom(null, true, false),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('object'),
  ),
  object: fc
    .tuple(texts, tie('value'), fc.dictionary(keys, tie('value'), { maxKeys: 3 }))
    .map(([id, more, others]) => ({ id, more, nested: [{ id }, { id }], ...others })),
}));
const rows = fc.oneof(
  { weight: 9, arbitrary: fc.array(values.object, { maxLength: 12 }) },
  { weight: 1, arbitrary: values.value },
);
const bodies = fc
  .tuple(rows, values.value, fc.boolean(), fc.constantFrom(0, 1, '\t'))
  .map(([costs, other, isFirst, indent]) => {
    const result = isFirst ? { costs, grandTotal: other } : { grandTotal: other, costs };
    return Buffer.from(JSON.stringify({ status: 200, result, requestId: other }, null, indent));
  });
const chunkSizes = fc.integer({ min: 1, max: 200 });

describe('a body that is read in batches', () => {
  test('has the value of the whole body, whatever its strings and chunks', () => {
    fc.assert(
      fc.property(bodies, chunkSizes, (bytes, chunkBytes) => {
        expect(readWhole(bytes, chunkBytes)).toEqual(parsed(bytes));
      }),
      { numRuns: 500 },
    );
  });

  test('is invalid exactly where the whole body is', () => {
    const edits = fc.tuple(
      fc.nat(),
      fc.constantFrom('', '{', '}', '[', ']', ',', '"', ' ', '\\', '0'),
    );
    fc.assert(
      fc.property(bodies, edits, chunkSizes, (bytes, [at, character], chunkBytes) => {
        const place = at % bytes.length;
        const before = bytes.subarray(0, place);
        const edited = Buffer.concat([before, Buffer.from(character), bytes.subarray(place + 1)]);
        expect(readWhole(edited, chunkBytes)).toEqual(parsed(edited));
      }),
      { numRuns: 500 },
    );
  });
});

const body = (costs: readonly unknown[], more: object = {}) =>
  Buffer.from(JSON.stringify({ result: { costs, ...more } }));
const SIMPLE = Array.from({ length: 200 }, (_, id) => ({ id, name: 'analytics-prod' }));

test('most rows are taken while the body arrives', () => {
  const { taken, rest } = readInChunks(body(SIMPLE, { total: 5 }), 64);
  expect(taken.length).toBeGreaterThan(190);
  expect(rest).toMatchObject({ result: { total: 5 } });
});

test.for<[string, Buffer]>([
  ['another path', Buffer.from(JSON.stringify({ data: { costs: SIMPLE } }))],
  ['a deeper path', Buffer.from(JSON.stringify({ result: { of: { costs: SIMPLE } } }))],
  ['a root that is an array', Buffer.from(JSON.stringify([{ result: { costs: SIMPLE } }]))],
])('rows of %s are not taken', ([, bytes]) => {
  const { taken, rest } = readInChunks(bytes, 64);
  expect(taken).toEqual([]);
  expect(rest).toEqual(parsed(bytes));
});

test('rows that contain objects like themselves are taken as well', () => {
  // The last `{"id"` of most batches is inside a row.
  const nested = SIMPLE.map(({ id }) => ({ id, list: [{ id }, { id }, { id }] }));
  const bytes = body(nested);
  const { taken } = readInChunks(bytes, 16);
  expect(taken.length).toBeGreaterThan(190);
  expect(readWhole(bytes, 16)).toEqual(parsed(bytes));
});

test('a row with thousands of possible ends is parsed a few times only', () => {
  const bytes = body([{ id: 0, list: Array.from({ length: 2_000 }, () => ({ id: 1 })) }]);
  const parse = vi.spyOn(JSON, 'parse');
  readInChunks(bytes, 16);
  const attempts = parse.mock.calls.length;
  parse.mockRestore();
  // From 24 bytes on twice as many each time: ten times eight guesses, and the path.
  expect(bytes.length).toBeGreaterThan(16_000);
  expect(attempts).toBeLessThan(100);
});

test('after wrong guesses only, it waits for twice as many bytes', () => {
  const nested = SIMPLE.map(({ id }) => ({ id, list: Array.from({ length: 20 }, () => ({ id })) }));
  const bytes = body(nested);
  expect(readWhole(bytes, 16)).toEqual(parsed(bytes));
  expect(readInChunks(bytes, 16).taken.length).toBeGreaterThan(100);
});
