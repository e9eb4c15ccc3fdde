import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ContractBot, openContractBot } from './contract-bot.ts';
import { type Recorder, startRecorder } from './recorder.ts';
import { BACKUP, CONTRACT, TILE_ALERT } from './replies.ts';

// Replies with nulls, unknown values and damaged elements are shown in words, and nothing is claimed about what they lack.

let recorder: Recorder;
let bot: ContractBot;
beforeAll(async () => {
  recorder = await startRecorder();
  recorder.answer(CONTRACT);
  bot = await openContractBot({ urls: { cloud: recorder.url, alerts: recorder.url } });
});
afterAll(async () => {
  await bot.close();
  await recorder.stop();
});

const ALERTS = 'GET /api/v2/alerts';
const BACKUPS = Object.keys(CONTRACT).find((route) => route.includes('/backups/')) ?? '';

/** The answer while these fields of the reply, or of its only element, have other values. */
async function answer(route: string, line: string, fields: object, more: readonly unknown[] = []) {
  const whole = JSON.parse(JSON.stringify(CONTRACT[route]));
  if (Array.isArray(whole.data)) whole.data = [{ ...whole.data[0], ...fields }, ...more];
  else Object.assign(whole.data ?? whole.result, fields);
  recorder.answer({ ...CONTRACT, [route]: whole });
  bot.time.pass(16 * 60_000);
  return (await bot.run(line)).join('\n');
}

const show = (fields: object) =>
  answer(`${ALERTS}/${TILE_ALERT}`, `/alert show ${TILE_ALERT}`, fields);

test.for<[string, object, RegExp]>([
  [
    'several channels with a null',
    { channels: [{ type: 'webhook', webhookId: 'w1' }, null, { type: 'pager' }] },
    /^Notifies {2}webhook w1, pager$/m,
  ],
  [
    'an unknown type, state and source',
    { thresholdType: 'rate_of_change', state: 'HIBERNATING', source: 'metric' },
    /^hibernating · rate of change 100, every 5m\nWatches {2}metric$/m,
  ],
  [
    'null in every field',
    {
      ...{ channels: [null], channel: null, threshold: null },
      interval: null,
      thresholdType: null,
    },
    /^broken: no channel · threshold unknown$/m,
  ],
  ['only null as its errors', { executionErrors: [null] }, /^active · above 100, every 5m$/m],
  [
    'null among its errors',
    { executionErrors: [null, { message: 'no data' }] },
    /^broken: its last run failed · above/m,
  ],
])('an alert with %s', async ([, fields, words]) => {
  const text = await show(fields);
  expect(text).toMatch(words);
  expect(text).not.toMatch(/undefined|\[object|\bnull\b/);
});

test('an alert without an id in the list is shown, and offers nothing', async () => {
  const text = await answer(ALERTS, '/alert list', { id: null, channel: null }, [null, 5, {}]);
  expect(text).toMatch(/^5xx rate · ⚠ broken: no channel · above 100, every 5m$/m);
  expect(text).toMatch(/^Unnamed alert · ⚠ broken: no channel · threshold unknown$/m);
  expect(text).not.toMatch(/undefined|null|Edit…/);
});

test.for<[string, object, RegExp]>([
  ['an unknown status', { status: 'archived_cold', type: 'delta' }, /: archived cold$/m],
  [
    'null for its status and end',
    { status: null, finishedAt: null, sizeInBytes: null },
    /^Unless it is finished, size and duration are the values so far\.$/m,
  ],
])('a backup with %s', async ([, fields, words]) => {
  const text = await answer(BACKUPS, `/backup show analytics-prod ${BACKUP}`, fields);
  expect(text).toMatch(words);
  expect(text).not.toMatch(/undefined|null|Not finished/);
});
