import { expect, test } from 'vitest';
import { createLog, createOutageLog } from '../../src/base/log.ts';

test('an outage adds one line per kind of failure and one at its end', () => {
  const lines: string[] = [];
  const log = createLog({ level: 'info' }, { write: (line) => lines.push(line) });
  const outage = createOutageLog(log, { began: 'lost', ended: 'restored' });
  const logged = () => lines.splice(0).map((line) => JSON.parse(line));
  outage.ended();
  for (let n = 0; n < 100; n += 1) outage.failed('refused', { problem: 'refused' });
  outage.failed('timeout', { problem: 'timeout' });
  expect(logged()).toMatchObject([
    { msg: 'lost', problem: 'refused' },
    { msg: 'lost', problem: 'timeout' },
  ]);
  outage.ended();
  outage.ended();
  expect(logged()).toMatchObject([{ msg: 'restored', failures: 101 }]);
  outage.failed('refused', {});
  expect(logged()).toMatchObject([{ msg: 'lost' }]);
});
