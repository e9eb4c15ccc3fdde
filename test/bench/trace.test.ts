import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { runCommand } from '../harness/run-command.ts';

const TRACE = fileURLToPath(new URL('../../bench/trace.ts', import.meta.url));

test('of the way of /cost, functions and statements are counted until the answer', async () => {
  const { out, err } = await runCommand([TRACE, 'cost', '--json', '--no-chains']);
  expect(err).toBe('');
  const { points, functions } = JSON.parse(out);
  expect(points[0]).toMatchObject({ until: 'private answer' });
  expect(points[0].functions).toBeGreaterThan(50);
  expect(points[0].functions).toBe(functions.length);
  expect(points[0].statements).toBeGreaterThan(0);
});

test('from the last Approve to the request, no stream is folded again by each question', async () => {
  const { out } = await runCommand([TRACE, 'approve', '--json', '--no-chains']);
  const [first] = JSON.parse(out).points;
  expect(first).toMatchObject({ until: 'request at the cloud' });
  // 82 and 163 when each comparison and each round of a drawing loaded the change again; 49 and 116 when each wake asked
  // lane by lane, each look at the thread read the change again, and what surrounds it was read for what was drawn; 26 and
  // 54 when a press and its job drew the card both, and each transaction read what the log does not have.
  // Two are of the look whether another process has drawn something newer, over which a late update came.
  expect(first.decoded).toBeLessThan(18);
  expect(first.statements).toBeLessThan(46);
});

test('an unknown way is refused with the ways that there are', async () => {
  const { err, code } = await runCommand([TRACE, 'click']);
  expect(err).toContain('npm run trace -- command|approve|cost');
  expect(code).toBe(1);
});
