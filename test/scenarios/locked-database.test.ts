import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { createLog } from '../../src/base/log.ts';
import { textOf } from '../harness/messages.ts';
import { requestChange } from '../harness/requests.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, NOON } from '../harness/users.ts';
import { emptyUrl } from '../storage/engines.ts';

test('while another program locks the database file nothing is lost, and Signalbox recovers afterwards', async () => {
  const databaseUrl = await emptyUrl('sqlite');
  const lines: string[] = [];
  const log = createLog({ level: 'warn' }, { write: (line) => lines.push(line) });
  const sandbox = await startTestSandbox({ databaseUrl, log });
  const card = (await requestChange(sandbox)) ?? { channel: '', ts: '' };
  const place = { in: 'message', channel: card.channel, ts: card.ts } as const;
  const ready = async () => {
    const answer = await fetch(`${sandbox.url}/readyz`);
    return { status: answer.status, says: (await answer.text()).trim() };
  };
  const other = new DatabaseSync(databaseUrl.slice('file:'.length));
  other.exec('begin immediate');

  expect(await ready()).toEqual({
    status: 503,
    says: 'Another program locks the database. Stop that program, then try again.',
  });
  expect((await fetch(`${sandbox.url}/healthz`)).status).toBe(200);
  await sandbox.ask(ANA, '/service start staging', 'Signalbox cannot use its database');
  expect(lines.filter((line) => line.includes('nothing could be stored'))).toHaveLength(1);
  expect((await sandbox.slack.click(BEN, place, 'change.approve')).error).toBeTruthy();
  await sandbox.privateMessage(BEN, 'your press was not recorded');

  other.exec('rollback');
  other.close();
  await expect.poll(ready).toEqual({ status: 200, says: 'ready' });
  // What failed under the lock is retried: the card may have been posted and not yet recorded.
  sandbox.clock.now = new Date(NOON.getTime() + 5 * 60_000);
  sandbox.wake();
  expect(textOf(await sandbox.card('requests: '))).toContain('0 of 1');
  expect((await sandbox.slack.click(BEN, place, 'change.approve')).error).toBeNull();
  await sandbox.card('staging is stopping');
  expect(sandbox.cloud.count('set state')).toBe(1);
});

test('the reason of a rejection stays in its form while it cannot be stored', async () => {
  const databaseUrl = await emptyUrl('sqlite');
  const sandbox = await startTestSandbox({ databaseUrl });
  const card = await requestChange(sandbox);
  await sandbox.press(BEN, card, 'change.reject');
  const form = await sandbox.modal(BEN, 'change.reject');
  const other = new DatabaseSync(databaseUrl.slice('file:'.length));
  other.exec('begin immediate');
  const value = 'Not during the sale';
  const words = { reason: { reason: { type: 'plain_text_input', value } } };
  await sandbox.slack.submit(BEN, form, words);
  const still = sandbox.slack.clientState(BEN).views.find(({ id }) => id === form);
  expect(still?.errors.reason).toContain('cannot use its database');
  other.exec('rollback');
  other.close();
  await sandbox.slack.submit(BEN, form, words);
  await sandbox.card('Stop staging: rejected');
});
