import { expect, test } from 'vitest';
import { readResponseBody } from '../../src/base/http-answer.ts';

const MIB = 1024 * 1024;
const HEAD = '{"result":{"costs":[';
const ROW = `{"id":"${'x'.repeat(MIB)}"}`;

/** A body with so many rows of one MiB. */
async function* bodyOf(rows: number, end = ']}}'): AsyncGenerator<Buffer> {
  yield Buffer.from(HEAD);
  for (let row = 0; row < rows; row += 1) yield Buffer.from(row === 0 ? ROW : `,${ROW}`);
  yield Buffer.from(end);
}

async function read(body: AsyncGenerator<Buffer>) {
  const seen = { rows: 0 };
  const open = () => (rows: readonly unknown[]) => {
    seen.rows += rows.length;
    return true;
  };
  const { kind } = await readResponseBody(body, { path: ['result', 'costs'], open });
  return { kind, ...seen };
}

test('a streamed array may have 128 MiB', async () => {
  expect(await read(bodyOf(120))).toMatchObject({ kind: 'json', rows: 119 });
  expect(await read(bodyOf(129))).toMatchObject({ kind: 'unreadable' });
});

test('the parts of a body outside of the streamed array may have 16 MiB', async () => {
  const other = (mib: number) => `],"more":"${'x'.repeat(mib * MIB)}"}}`;
  expect(await read(bodyOf(20, other(12)))).toMatchObject({ kind: 'json' });
  expect(await read(bodyOf(20, other(16)))).toMatchObject({ kind: 'unreadable' });
});

test('another body may have 16 MiB', async () => {
  expect(await readResponseBody(bodyOf(15))).toMatchObject({ kind: 'json' });
  expect(await readResponseBody(bodyOf(16))).toEqual({ kind: 'unreadable' });
});
