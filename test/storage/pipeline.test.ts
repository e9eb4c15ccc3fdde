import { Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import type pg from 'pg';
import { expect, test } from 'vitest';
import { pipelineStatements } from '../../src/storage/old/pipeline.ts';

const BEGIN = 'start transaction isolation level read committed';

/** A connection whose server answers when the test says so. */
function connection() {
  const packets: string[] = [];
  const replies = new Map<string, PromiseWithResolvers<unknown>>();
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      packets.push(String(chunk));
      done();
    },
    writev: (chunks, done) => {
      packets.push(chunks.map(({ chunk }) => String(chunk)).join(' | '));
      done();
    },
  });
  stream.on('error', () => undefined);
  const client = {
    connection: { stream },
    query: (text: string) => {
      stream.write(text);
      const reply = Promise.withResolvers<unknown>();
      replies.set(text, reply);
      return reply.promise;
    },
  };
  pipelineStatements(client as unknown as pg.ClientBase);
  const answer = (text: string, error?: Error) => {
    const reply = replies.get(text);
    return error ? reply?.reject(error) : reply?.resolve({ rows: [] });
  };
  return { client, packets, stream, answer };
}

test('a transaction begins together with its first reads', async () => {
  const { client, packets } = connection();
  await client.query(BEGIN);
  void client.query('select 1');
  void client.query('select 2 for update');
  await turn();
  expect(packets).toEqual([`${BEGIN} | select 1 | select 2 for update`]);
});

test('a write waits until the transaction has begun, and later statements wait for it', async () => {
  const { client, packets, answer } = connection();
  await client.query(BEGIN);
  for (const text of ['select 1', 'insert 2', 'select 3']) void client.query(text);
  await turn();
  expect(packets).toEqual([`${BEGIN} | select 1`]);
  answer(BEGIN);
  await turn();
  expect(packets.slice(1)).toEqual(['insert 2 | select 3']);
  void client.query('update 4');
  await turn();
  expect(packets.at(-1)).toBe('update 4');
});

test('a transaction that did not begin runs nothing, and its connection is closed', async () => {
  const { client, packets, stream, answer } = connection();
  await client.query(BEGIN);
  const write = client.query('insert 1');
  await turn();
  const canceled = new Error('canceled');
  answer(BEGIN, canceled);
  await expect(write).rejects.toBe(canceled);
  expect(packets).toEqual([BEGIN]);
  expect(stream.destroyed).toBe(true);
});
