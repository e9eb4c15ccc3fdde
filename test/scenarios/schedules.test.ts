import { expect, test } from 'vitest';
import {
  changeIdOf,
  NO_MESSAGE,
  requested,
  setTime,
  threadText,
  waitUntilIdle,
} from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, DORA, FINN } from '../harness/users.ts';
import { emptyUrl } from '../storage/engines.ts';

const LINE =
  '/service schedule staging stop="weekdays 20:00" start="weekdays 07:00" zone=Europe/Berlin nights';

const sent = ({ cloud }: TestSandbox) =>
  cloud
    .requests()
    .filter(({ operation }) => operation === 'set state')
    .map(({ body }) => Object(body).command);

/** Requests a change and approves it as Ben; returns its card when it is done. */
async function approved(sandbox: TestSandbox, title: string, line: string, by = ANA) {
  await sandbox.confirm(by, line, `${title}?`);
  const waiting = await sandbox.card(requested(title));
  await sandbox.press(BEN, waiting, 'change.approve');
}

test('the preview shows the first stop and start, the saving and two different ends', async () => {
  const sandbox = await startTestSandbox({ databaseUrl: await emptyUrl('sqlite') });
  const preview = await sandbox.answer(ANA, LINE, 'Schedule staging?');
  // Friday, 20 November: the service stops at 20:00, and starts on Monday at 7:00.
  expect(preview).toMatch(/First stop {2}<!date\^\d+\^[^|]*\|2026-11-20T19:00/);
  expect(preview).toMatch(/First start {2}<!date\^\d+\^[^|]*\|2026-11-23T06:00/);
  expect(preview).toMatch(/Cost {2}−[\d.]+ credits per week · storage continues/);
  expect(preview).toContain('Runs until  18 Feb, then renew');
  const [shown = ''] = preview.split('[{');
  expect(shown.match(/expires/g)).toHaveLength(1);
});

test('the card of a schedule shows a run with an unknown outcome, and what became of it', async () => {
  const sandbox = await startTestSandbox({ databaseUrl: await emptyUrl('sqlite') });
  await approved(sandbox, 'Schedule staging', LINE);
  const card = (await sandbox.card('staging is scheduled')) ?? { ...NO_MESSAGE, ts: '' };
  sandbox.cloud.injectFault({ operation: 'set state', fault: '500', times: 1 });
  setTime(sandbox, '19:00');
  const run = 'stop of Fri 20 Nov, 20:00 (Europe/Berlin):';
  expect(await sandbox.card(`${run} outcome unknown`)).toMatchObject({ ts: card.ts });
  const unknown = await sandbox.card('Stop staging: outcome unknown');
  await sandbox.pressWithReason(BEN, unknown, 'change.happened', 'seen in the console');
  expect(await sandbox.card(`${run} accepted`)).toMatchObject({ ts: card.ts });
});

test('a schedule stops and starts a service, is paused and removed, and shows in every list', async () => {
  const sandbox = await startTestSandbox({ databaseUrl: await emptyUrl('sqlite') });
  await approved(sandbox, 'Schedule staging', LINE);
  const card = (await sandbox.card('staging is scheduled')) ?? { ...NO_MESSAGE, ts: '' };
  const id = changeIdOf(card);
  expect(card.text).toContain('Start  weekdays 07:00 (Europe/Berlin)');
  expect(card.text).toContain('Runs until  18 Feb, then renew');
  expect(sent(sandbox)).toEqual([]);

  setTime(sandbox, '19:00');
  // A run has no card of its own: the card of the schedule shows it.
  const ran = await sandbox.card('stop of Fri 20 Nov, 20:00 (Europe/Berlin): accepted');
  expect(ran?.ts).toBe(card.ts);
  // A success is no news: the thread has one quiet line, which mentions nobody.
  const thread = threadText(sandbox, card.ts);
  expect(thread.match(/“stop staging”/g)).toHaveLength(2);
  expect(thread).toContain('Sending “stop staging” (');
  const list = await sandbox.answer(DORA, '/service schedule list', '1 schedule');
  expect(list).toContain('staging · stop weekdays 20:00 · start weekdays 07:00 (Europe/Berlin)');
  expect(list).toMatch(/next start .*2026-11-23T06:00/);
  expect(await sandbox.answer(DORA, '/service show staging', 'Stops and starts')).toContain(id);
  await sandbox.slack.openHome({ as: DORA });
  const home = () => JSON.stringify(sandbox.slack.clientState(DORA).home ?? []);
  await expect.poll(home).toContain('Schedules (1)');

  await sandbox.down();
  sandbox.clock.now = new Date('2026-11-23T06:30:00.000Z');
  await sandbox.restart();
  await sandbox.card('start of Mon 23 Nov, 07:00 (Europe/Berlin): accepted');
  expect(sent(sandbox)).toEqual(['stop', 'start']);

  setTime(sandbox, '12:00', '2026-11-23');
  await approved(sandbox, 'Stop staging', '/service stop staging lunch', FINN);
  await expect.poll(() => sent(sandbox)).toEqual(['stop', 'start', 'stop']);
  // Its outcome is stored before the clock moves.
  await waitUntilIdle(sandbox);
  setTime(sandbox, '19:00', '2026-11-23');
  const skipped = 'Skipped the stop of Mon 23 Nov, 20:00 (Europe/Berlin): a person changed';
  await expect.poll(() => threadText(sandbox, card.ts)).toContain(skipped);

  await approved(sandbox, 'Pause schedule of staging', '/service schedule pause staging trip');
  await sandbox.card('Schedule of staging is paused');
  expect(await sandbox.answer(DORA, '/service schedule list', 'paused')).not.toContain('next');
  setTime(sandbox, '06:00', '2026-11-24');
  await approved(sandbox, 'Remove schedule of staging', '/service schedule remove staging');
  await sandbox.card('Schedule of staging is removed');
  await sandbox.answer(DORA, '/service schedule list', 'No service has a schedule');
  expect(sent(sandbox)).toEqual(['stop', 'start', 'stop']);
});
