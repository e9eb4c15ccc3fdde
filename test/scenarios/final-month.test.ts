import { expect, test } from 'vitest';
import { ORGANIZATION } from '../../sandbox/seed/organization.ts';
import { readClosing } from '../../src/digests/closed-months/closing-record.ts';
import { textOf } from '../harness/messages.ts';
import { waitUntilIdle } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA } from '../harness/users.ts';
import { freshUrl, openForTest } from '../storage/engines.ts';

const DAILY = { channel: '#db-costs', at: '09:30', timezone: 'Europe/Berlin', days: 'weekdays' };
const WEEKLY = { channel: '#db-costs', period: 'week', days: ['mon'] };
const MONTHLY = { channel: '#db-costs', period: 'month', at: '09:30' };

function posts({ slack }: TestSandbox): readonly string[] {
  return slack.messages('db-costs').map(textOf);
}

function announced(sandbox: TestSandbox): readonly string[] {
  return posts(sandbox).filter((text) => text.startsWith('November 2026 is final: '));
}

/** A sandbox with these digests, and the first report of November stored on 1 December. */
async function inDecember(...digests: readonly object[]) {
  const databaseUrl = await freshUrl('postgres');
  const yaml = (file: Record<string, unknown>) => ({ ...file, digests });
  const sandbox = await startTestSandbox({ databaseUrl, yaml });
  const replica = await sandbox.replica();
  const { db } = await openForTest(databaseUrl);
  const key = { month: '2026-11', organizationId: ORGANIZATION.id };
  const record = async () => (await readClosing(db, key)).record;
  const at = (time: string) => {
    sandbox.clock.now = new Date(time);
    sandbox.wake();
    replica.wake();
  };
  at('2026-12-01T07:00Z');
  await expect.poll(async () => (await record())?.first.at).toEqual(new Date('2026-12-01T07:00Z'));
  return { sandbox, record, at };
}

const SINCE =
  /is final: ([\d,.]+) credits\n\+([\d.]+) since the first report: ([\d,.]+) credits on 2026-12-01 07:00 UTC\./;
const credits = (text: string | undefined) => Number(text?.replaceAll(',', ''));

test('a final month is announced once by two replicas and after a restart, with what changed', async () => {
  const { sandbox, record, at } = await inDecember(DAILY, WEEKLY);
  at('2026-12-09T12:00Z');
  await waitUntilIdle(sandbox);
  expect(announced(sandbox)).toEqual([]);
  at('2026-12-13T12:00Z');
  await expect.poll(() => announced(sandbox).length).toBe(1);
  expect(await record()).toMatchObject({ done: true });
  const [text = ''] = announced(sandbox);
  const [, end, delta, first] = SINCE.exec(text) ?? [];
  expect(credits(first) + credits(delta)).toBeCloseTo(credits(end), 6);
  const steps = [...text.matchAll(/^• .* ([+−][\d,.]+)(?: \(new\))?$/gm)].map(([, step = '']) =>
    credits(step.replace('−', '-')),
  );
  expect(steps.length).toBeGreaterThan(1);
  expect(steps.reduce((sum, step) => sum + step, 0)).toBeCloseTo(credits(delta), 6);

  await sandbox.restart();
  at('2026-12-14T12:00Z');
  await waitUntilIdle(sandbox);
  expect(announced(sandbox)).toHaveLength(1);

  // The sum of the rows in the file is the announced total.
  await sandbox.slack.command(ANA, 'ops', '/cost csv 2026-11');
  const name = 'costs-2026-11-01-2026-11-30.csv';
  const file = () =>
    sandbox.slack
      .clientState(ANA)
      .messages.flatMap(({ files }) => files)
      .find((each) => each.name === name);
  await expect.poll(() => file()?.name).toBe(name);
  const rows = (await (await fetch(file()?.url ?? '')).text()).split('\r\n').slice(1);
  const total = rows.reduce((sum, row) => sum + Number(row.split(',')[7]), 0);
  expect(total.toFixed(1)).toBe(credits(end).toFixed(1));
});

test('a monthly digest with final figures announces the month itself', async () => {
  const { sandbox, record, at } = await inDecember(DAILY, MONTHLY);
  at('2026-12-13T09:31Z');
  await expect.poll(() => posts(sandbox).join()).toContain('November 2026 is final.');
  // The post is recorded after the reply of Slack.
  await waitUntilIdle(sandbox);
  at('2026-12-13T12:00Z');
  await expect.poll(async () => (await record())?.done).toBe(true);
  await waitUntilIdle(sandbox);
  const digest = posts(sandbox).find((text) => text.includes('November 2026 is final.'));
  expect(digest).toMatch(
    /^\+[\d.]+ since the first report: [\d,.]+ credits on 2026-12-01 07:00 UTC\.$/m,
  );
  expect(announced(sandbox)).toEqual([]);
});
