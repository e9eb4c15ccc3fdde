import { expect, test } from 'vitest';
import { during, traced } from '../../src/base/log.ts';
import type { UserId } from '../../src/domain/change.ts';
import { claimDueClicks } from '../../src/log/old/inbox.ts';
import { enqueueClick } from '../../src/workflow/old/click-intake.ts';
import type { WorkflowContext } from '../../src/workflow/old/ports.ts';
import { ana, ben, NOON } from '../storage/example-change.ts';
import { createTestContext } from './context.ts';
import { recordSpans } from './recorded-spans.ts';

/** An inbox whose transactions are counted, and fail on demand. */
async function intake() {
  const { context: base } = await createTestContext();
  const commits = { count: 0, fail: false };
  const transaction: WorkflowContext['database']['transaction'] = (work) => {
    commits.count += 1;
    if (commits.fail) return Promise.reject(new Error('the database is unavailable'));
    return base.database.transaction(work);
  };
  const context: WorkflowContext = { ...base, database: { ...base.database, transaction } };
  const receive = (key: string, by: UserId = ben) =>
    enqueueClick(context, { key, kind: 'click', body: { n: 1 }, by, at: NOON });
  const due = () =>
    base.database.transaction((tx) =>
      claimDueClicks(tx, null, { owner: 'tests', now: NOON, leaseMs: 1, limit: 99 }),
    );
  return { receive, commits, due };
}

test('clicks that arrive during a commit share the next one', async () => {
  const { receive, commits, due } = await intake();
  const keys = Array.from({ length: 10 }, (_, n) => `key ${n}`);
  const receipts = await Promise.all(keys.map((key) => receive(key)));
  expect(receipts).toEqual(keys.map(() => 'ok'));
  expect(commits.count).toBe(2);
  expect((await due()).map(({ key }) => key)).toEqual(keys);
  await receive('later');
  expect(commits.count).toBe(3);
});

test('a repeated click is reported as received, also within one commit', async () => {
  const { receive, due } = await intake();
  expect(await receive('key 1')).toBe('ok');
  const receipts = await Promise.all(['key 1', 'key 2', 'key 2'].map((key) => receive(key)));
  expect(receipts).toEqual(['again', 'ok', 'again']);
  expect(await due()).toHaveLength(2);
});

test('clicks above the rate limit are stored as handled', async () => {
  const { receive, due } = await intake();
  const receipts: string[] = [];
  for (let n = 0; n < 32; n += 1) receipts.push(await receive(`key ${n}`));
  expect(receipts.slice(29)).toEqual(['ok', 'limited', 'muted']);
  expect(await receive('of another user', ana)).toBe('ok');
  expect(await due()).toHaveLength(31);
});

test('a failed commit is reported to each of its clicks, and the next commit stores', async () => {
  const { receive, commits, due } = await intake();
  commits.fail = true;
  const failed = await Promise.allSettled(['key 1', 'key 2'].map((key) => receive(key)));
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  commits.fail = false;
  expect(await receive('key 1')).toBe('ok');
  expect(await due()).toHaveLength(1);
});

test('a click is stored with the request id and the trace in which it arrived', async () => {
  const { receive, due } = await intake();
  await receive('without');
  const { named } = recordSpans();
  await during({ request: 'req-1' }, () => traced({ name: 'press' }, () => receive('with')));
  const [stored] = named('store click');
  const bodies = (await due()).map(({ key, body }) => [key, body]);
  expect(bodies).toEqual([
    ['with', { n: 1, request: 'req-1', trace: stored?.here }],
    ['without', { n: 1 }],
  ]);
});
