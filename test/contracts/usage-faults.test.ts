import { expect, onTestFinished, test } from 'vitest';
import { openBooth } from './booth.ts';
import { until } from './counter.ts';

/** A bot whose first look at the usage report goes wrong, and that knows staging from nowhere else. */
async function learning(fault: string | null, times = 1) {
  const booth = await openBooth({
    file: (file) => ({ ...file, services: withoutStaging(file.services) }),
    prepare: ({ cloud }) => {
      if (fault) cloud.injectFault({ operation: 'usage cost', fault, times });
    },
  });
  onTestFinished(() => booth.close());
  await until(() => (booth.cloud.count('usage cost') > 0 ? true : null), 'the usage report');
  return booth;
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
] as const)('names are learned from the usage report during %s', async ([, fault]) => {
  const booth = await learning(fault);
  const look = () => booth.said('/service list');
  await expect.poll(async () => (await look()).join('\n')).toMatch(/staging · \w{8} · not listed/);
});

test.for(['costs-null', 'costs-object', '403', 'reset', 'html-200'])(
  'the bot starts, and says what it knows, during %s',
  async (fault) => {
    const booth = await learning(fault, 9);
    expect((await booth.said('/service list'))[0]).toMatch(/^1[12] services$/);
  },
);

test('5,000 rows of costs fit into what Slack takes', async () => {
  const booth = await learning(null);
  booth.cloud.injectFault({ operation: 'usage cost', fault: 'costs-5000-rows', times: 9 });
  booth.time.pass(61_000);
  const lines = await booth.said('/cost mtd by service');
  expect(lines[0]).toMatch(/credits/);
  expect(lines.length).toBeLessThan(250);
});
