import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Booth } from './booth.ts';
import { ANA } from './counter.ts';
import { openCrowd } from './crowd.ts';

let booth: Booth;
beforeAll(async () => {
  booth = await openCrowd({ services: 300, alerts: 5_000 });
});
afterAll(() => booth.close());

test('all 300 services are listed, or it says how many are not', async () => {
  const lines = await booth.said('/service list');
  expect(lines[0]).toBe('312 services');
  const rows = lines.filter((line) => line.includes(' · ')).length - 1;
  const left = lines.flatMap((line) => /^(\d+) more rows/.exec(line)?.[1] ?? []);
  expect(rows + Number(left[0] ?? 0)).toBe(312);
});

test('5,000 alerts are listed by pages, to the last one', async () => {
  const lines = await booth.said('/alert list');
  expect(lines[0]).toBe('5014 alerts · page 1 of 51');
  expect(lines.join('\n')).toContain('[Next page]');
  const last = await booth.said('/alert list page=51');
  expect(last.filter((line) => / · above \d+ · 5m · /.test(line))).toHaveLength(14);
  expect(last.join('\n')).not.toContain('[Next page]');
});

test('all are read, though the server hands out a thousand at a time', async () => {
  booth.time.pass(61_000);
  const before = booth.alerts.count('list alerts');
  expect((await booth.said('/alert list checkout latency'))[0]).toBe('1 alert');
  expect(booth.alerts.count('list alerts') - before).toBe(6);
});

test('a type-ahead finds one of 5,000 alerts by a word in the middle of its name', async () => {
  const view = await booth.form('/alert edit', 'alert.edit');
  const found = await booth.slack.suggest({
    as: ANA,
    place: { in: 'view', viewId: view.id },
    blockId: 'alert',
    actionId: 'alert',
    value: 'latency',
  });
  expect(found.error).toBeNull();
  expect(found.options).toMatchObject([{ text: { text: 'Checkout latency p95' } }]);
  await booth.slack.close(ANA, view.id);
});

test('a type-ahead finds one of 300 services by a word in the middle of its name', async () => {
  const view = await booth.form('/service stop', 'service.stop');
  const place = { in: 'view', viewId: view.id } as const;
  const search = { as: ANA, place, blockId: 'service', actionId: 'service' };
  const one = await booth.slack.suggest({ ...search, value: 'team-217' });
  expect(one.options).toMatchObject([{ text: { text: 'shard-of-team-217' } }]);
  // Of too many the first hundred are offered, which is all that Slack takes.
  const many = await booth.slack.suggest({ ...search, value: 'shard' });
  expect([many.error, many.options.length]).toEqual([null, 100]);
  await booth.slack.close(ANA, view.id);
});
