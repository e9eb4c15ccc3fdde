import { expect, onTestFinished, test } from 'vitest';
import { openContractBot } from './contract-bot.ts';
import { until } from './typing-user.ts';

/** A bot whose first read of the usage report fails, and that knows staging only from that report. */
async function startWithFault(fault: string | null, times = 1) {
  const bot = await openContractBot({
    file: (file) => ({ ...file, services: withoutStaging(file.services) }),
    prepare: ({ cloud }) => {
      if (fault) cloud.injectFault({ operation: 'usage cost', fault, times });
    },
  });
  onTestFinished(() => bot.close());
  await until(() => (bot.cloud.count('usage cost') > 0 ? true : null), 'the usage report');
  return bot;
}

function withoutStaging(services: unknown): readonly unknown[] {
  const all = Array.isArray(services) ? services : [];
  return all.filter(({ name }) => name !== 'staging');
}

test.for([
  ['nothing', null],
  ['503', '503'],
  ['gzip', 'gzip'],
  ['number-as-string', 'number-as-string'],
  ['extra-field', 'extra-field'],
] as const)('service names are learned from the usage report during %s', async ([, fault]) => {
  const bot = await startWithFault(fault);
  const look = () => bot.run('/service list');
  await expect.poll(async () => (await look()).join('\n')).toMatch(/staging · .*not listed/);
});

test.for(['costs-null', 'costs-object', '403', 'reset', 'html-200'])(
  'the bot starts and lists the known services during %s',
  async (fault) => {
    const bot = await startWithFault(fault, 9);
    expect((await bot.run('/service list'))[0]).toMatch(/^1[12] services$/);
  },
);

test('a cost report with 5,000 rows fits into a message', async () => {
  const bot = await startWithFault(null);
  bot.cloud.injectFault({ operation: 'usage cost', fault: 'costs-5000-rows', times: 9 });
  bot.time.pass(61_000);
  const lines = await bot.run('/cost mtd by service');
  expect(lines[0]).toMatch(/credits/);
  expect(lines.length).toBeLessThan(250);
});

test('dates are refused at first, in reads that begin together, where the server knows another form', async () => {
  const bot = await startWithFault(null);
  await bot.run('/cost mtd');
  const seen = bot.cloud.requests().filter(({ operation }) => operation === 'usage cost');
  const refused = seen.filter(({ status }) => status === 400);
  expect(refused).toContain(seen[0]);
  expect(refused.every(({ path }) => path.includes('T00'))).toBe(true);
  expect(seen.at(-1)?.status).toBe(200);
});
