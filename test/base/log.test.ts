import { setImmediate as later } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Secret } from '../../src/base/errors.ts';
import { createLog, during, newRequest, requestNow, secretsIn } from '../../src/base/log.ts';

function openLog(hidden?: ReadonlySet<string>) {
  const written: string[] = [];
  const to = { write: (line: string) => void written.push(line) };
  const log = createLog({ level: 'debug', ...(hidden ? { hidden } : {}) }, to);
  return { log, written, lines: () => written.map((line) => JSON.parse(line)) };
}

test('a log line is JSON with the fields of its work', async () => {
  const { log, lines } = openLog();
  const work = async (said: string) => {
    await later();
    log.warn({ lane: 'deliver' }, said);
  };
  await Promise.all([
    during({ request: 'r1' }, () => work('one')),
    during({ request: 'r2', change: '7KQ2MX' }, () => work('two')),
    work('nobody asked'),
  ]);
  expect(lines()).toMatchObject([
    { level: 40, name: 'signalbox', lane: 'deliver', request: 'r1', msg: 'one' },
    { request: 'r2', change: '7KQ2MX', msg: 'two' },
    { msg: 'nobody asked' },
  ]);
  expect(lines()[2]).not.toHaveProperty('request');
});

test('nested work replaces the fields of the caller', () => {
  const { log, lines } = openLog();
  during({ request: 'r1' }, () => during({}, () => log.info('a lane')));
  expect(lines()[0]).not.toHaveProperty('request');
  expect(requestNow()).toBeUndefined();
});

test('request ids differ', () => {
  expect(new Set(Array.from({ length: 100 }, newRequest)).size).toBe(100);
});

test('values of sensitive keys are replaced, also in errors and their causes', () => {
  const { log, written } = openLog();
  const inner = Object.assign(new Error('refused'), {
    config: { headers: { Authorization: 'Bearer canary' } },
  });
  const outer = new Error('no answer', { cause: inner });
  log.error({ err: inner, password: 'canary' }, 'one');
  log.error(outer, 'two');
  log.warn({ problems: [Object.assign(new Error('x'), { token: 'canary' })] }, 'three');
  log.warn({ body: { response_url: 'https://hooks.slack.com/canary', user: 'U1' } }, 'four');
  expect(written.join()).not.toContain('canary');
  // And is still a log: who, what and where.
  expect(JSON.parse(written[0] ?? '')).toMatchObject({
    err: { type: 'Error', message: 'refused', stack: expect.stringContaining('log.test.ts') },
  });
  expect(JSON.parse(written[1] ?? '').err.message).toBe('no answer: refused');
  expect(JSON.parse(written[2] ?? '').problems[0].message).toBe('x');
  expect(JSON.parse(written[3] ?? '').body.user).toBe('U1');
});

test('no line contains a configured secret, even within other text', () => {
  const config = {
    slack: { botToken: new Secret('xoxb-canary') },
    databaseUrl: new Secret('postgres://bot:canary%2Fof@db/signalbox'),
    odd: [new Secret('canary"with\\marks')],
    alerts: null,
  };
  const hidden = new Set(secretsIn(config));
  const { log, written } = openLog(hidden);
  for (const said of ['xoxb-canary', 'canary/of', 'canary"with\\marks']) {
    log.warn({ said: `it sent ${said}` }, `it sent ${said}`);
  }
  hidden.add('canary of a reload');
  log.warn('canary of a reload');
  expect(written).toHaveLength(4);
  expect(written.join()).not.toContain('canary');
  expect(JSON.parse(written[2] ?? '')).toMatchObject({ msg: 'it sent [secret]' });
});
