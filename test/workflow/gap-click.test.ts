import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { ChannelId } from '../../src/domain/change.ts';
import { appendEvent } from '../../src/log/old/append.ts';
import { receiveGapClick } from '../../src/workflow/old/gap-click.ts';
import { handleInbox } from '../../src/workflow/old/handle-inbox.ts';
import type { Messenger } from '../../src/workflow/old/messenger-port.ts';
import { ana, NOON } from '../storage/example-change.ts';
import { operatorsNotices } from '../storage/notices.ts';
import { createTestContext } from './context.ts';

const KEY = Buffer.alloc(32, 7);
const REPLY_TO = {
  ...{ url: null, channel: null, ts: null, thread: null, user: ana },
  ...{ replaces: false, home: false },
};
const PRESS = {
  key: 'gap:1',
  gap: 'ab'.repeat(32),
  by: ana,
  message: { channel: 'CAUDIT' as ChannelId, ts: '1.1' },
};

/** An intact trail, in which no press has an effect, and the answers to presses. */
async function intact({ fails = false } = {}) {
  const { context: base } = await createTestContext();
  const answers: unknown[] = [];
  const logged: { msg: string; [field: string]: unknown }[] = [];
  const answerIncidentClick: Messenger['answerIncidentClick'] = async (to, outcome) => {
    if (fails) throw new Error('expired');
    answers.push([to, outcome.ok]);
  };
  const log = pino({ level: 'warn' }, { write: (line) => void logged.push(JSON.parse(line)) });
  const messenger = { ...base.messenger, answerIncidentClick };
  const context = { ...base, auditKey: KEY, messenger, log };
  const { database } = context;
  await database.transaction((tx) => appendEvent(tx, KEY, { kind: 'refused', at: NOON, body: {} }));
  const isHandled = async (key: string) => {
    const query = database.db.selectFrom('inbox').select('handled_at').where('dedup_key', '=', key);
    return (await query.executeTakeFirstOrThrow()).handled_at !== null;
  };
  return { context, answers, logged, isHandled };
}

test('a press of “Accept gap…” is handled and answered once', async () => {
  const { context, answers, logged, isHandled } = await intact();
  expect(await receiveGapClick(context, PRESS, REPLY_TO)).toBe('ok');
  expect(await handleInbox(context)).toBe(1);
  await handleInbox(context);
  expect(answers).toEqual([[REPLY_TO, false]]);
  expect(logged).toEqual([]);
  expect(await isHandled(PRESS.key)).toBe(true);
  expect(await operatorsNotices(context.database)).toEqual([]);
});

test('an answer to a press that Slack refuses is logged', async () => {
  const { context, logged } = await intact({ fails: true });
  await receiveGapClick(context, PRESS, REPLY_TO);
  await handleInbox(context);
  const line = { msg: 'ephemeral answer was not delivered', gap: PRESS.gap };
  await expect.poll(() => logged).toMatchObject([{ ...line, err: { message: 'expired' } }]);
});
