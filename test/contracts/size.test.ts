import { afterAll, beforeAll, expect, test } from 'vitest';
import { ANA } from '../harness/users.ts';
import type { ContractBot } from './contract-bot.ts';
import { openLargeOrganization } from './large-organization.ts';

let bot: ContractBot;
beforeAll(async () => {
  bot = await openLargeOrganization({ services: 300, alerts: 5_000 });
});
afterAll(() => bot.close());

test('all 300 services are listed, or the list shows how many are missing', async () => {
  const lines = await bot.run('/service list');
  expect(lines[0]).toBe('312 services');
  const rows = lines.filter((line) => line.includes(' · ')).length - 1;
  const left = lines.flatMap((line) => /^(\d+) more rows/.exec(line)?.[1] ?? []);
  expect(rows + Number(left[0] ?? 0)).toBe(312);
});

test('5,000 alerts are listed in pages', async () => {
  const lines = await bot.run('/alert list');
  expect(lines[0]).toBe('3 of 5014 alerts firing · page 1 of 51');
  expect(lines.join('\n')).toContain('[Next page]');
  const last = await bot.run('/alert list page=51');
  expect(last.filter((line) => / · \d+[mhd] · /.test(line))).toHaveLength(14);
  expect(last.join('\n')).not.toContain('[Next page]');
});

test('a search finds one of 5,000 alerts by a word in the middle of its name', async () => {
  const view = await bot.form('/alert edit', 'alert.edit');
  const found = await bot.slack.suggest({
    as: ANA,
    place: { in: 'view', viewId: view.id },
    blockId: 'alert',
    actionId: 'alert',
    value: 'latency',
  });
  expect(found.error).toBeNull();
  expect(found.options).toMatchObject([{ text: { text: 'Checkout latency p95' } }]);
  await bot.slack.close(ANA, view.id);
});

test('a search finds one of 300 services by a word in the middle of its name', async () => {
  const view = await bot.form('/service stop', 'service.stop');
  const place = { in: 'view', viewId: view.id } as const;
  const search = { as: ANA, place, blockId: 'service', actionId: 'service' };
  const one = await bot.slack.suggest({ ...search, value: 'team-217' });
  expect(one.options).toMatchObject([{ text: { text: 'shard-of-team-217' } }]);
  // The first 100 are offered, which is Slack's limit.
  const many = await bot.slack.suggest({ ...search, value: 'shard' });
  expect([many.error, many.options.length]).toEqual([null, 100]);
  await bot.slack.close(ANA, view.id);
});
