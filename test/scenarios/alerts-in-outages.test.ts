import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { expectOnlyAlert, type Stage, scrape } from '../deploy/promtool.ts';
import { textOf } from '../harness/messages.ts';
import { startNetwork } from '../harness/network.ts';
import { asTimePasses } from '../harness/passing-time.ts';
import { requestChange } from '../harness/requests.ts';
import { startTcpProxy } from '../harness/tcp-proxy.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN } from '../harness/users.ts';
import { emptyUrl } from '../storage/engines.ts';
import { AWAY, read, readUntil, recordEach } from './alert-faults.ts';

// Outages around a write: what the card, the thread and the operators read, and which alert fires.

const SLACK = 'SignalboxSlackDisconnected';

/** A write is in flight when the way to PostgreSQL changes; the cloud answers meanwhile. */
async function writeInFlight() {
  const direct = await emptyUrl('postgres');
  const wire = await startTcpProxy(Number(new URL(direct).port));
  const answer = Promise.withResolvers<void>();
  onTestFinished(() => answer.resolve());
  const databaseUrl = wire.through(direct);
  const sandbox = await startTestSandbox({ databaseUrl, wait: () => answer.promise });
  const { cloud } = sandbox;
  const card = await requestChange(sandbox);
  cloud.injectFault({ operation: 'set state', fault: 'delay-2s', times: 1 });
  await sandbox.press(BEN, card, 'change.approve');
  await expect.poll(() => cloud.count('set state')).toBe(1);
  const pass = (minutes: number) => {
    sandbox.clock.now = new Date(sandbox.clock.now.getTime() + minutes * 60_000);
  };
  return { sandbox, card, wire, direct, answer: answer.resolve, pass };
}

test('a database that is away for ten minutes around a write: its process still knows the answer', async () => {
  const { sandbox, card, wire, answer, pass } = await writeInFlight();
  const before = await read(sandbox);
  wire.refuse();
  answer();
  const during = await readUntil(sandbox, 'signalbox_database_readable', 0);
  pass(10);
  wire.forwardAgain();
  sandbox.wake();
  await expect.poll(() => textOf(card)).toContain('staging is stopping');
  expect(sandbox.cloud.count('set state')).toBe(1);
  const after = await readUntil(sandbox, 'signalbox_database_readable', 1);
  expectOnlyAlert('SignalboxDatabaseUnreadable', [
    [before, 30],
    [during, 10],
    [after, 60],
  ]);
});

test('a partition around a write: the other replica names it unknown, and its late answer settles it', async () => {
  const { sandbox, card, wire, direct, answer, pass } = await writeInFlight();
  sandbox.setEnv({ DATABASE_URL: direct });
  const replica = await sandbox.replica();
  const targets = { a: sandbox.url, b: `http://127.0.0.1:${replica.port}` };
  const before = await scrape(targets);
  wire.dropPackets();
  answer();
  pass(10);
  replica.wake();
  const thread = () => sandbox.slack.messages('db-approvals').map(textOf).join('\n');
  await sandbox.card('outcome unknown');
  expect(textOf(card)).toContain('No answer was recorded in time.');
  await expect.poll(thread).toContain('is unknown. Check the console');
  // Prometheus is on the side of the database.
  const during = await scrape({ b: targets.b });
  const cut = new Map([...during, ['up{instance="a",job="signalbox"}', 0] as const]);

  // The firewall has forgotten the connections that it kept silent.
  wire.refuse();
  expect((await fetch(`${targets.a}/readyz`)).status).toBe(503);
  wire.forwardAgain();
  sandbox.wake();
  await expect.poll(() => textOf(card)).toContain('Late answer  the server accepted it');
  await expect.poll(thread).toContain('Its answer came late: the server accepted it');
  await sandbox.press(BEN, card, 'change.happened');
  const view = await sandbox.modal(BEN, 'change.happened');
  const shown = JSON.stringify(sandbox.slack.clientState(BEN).views);
  expect(shown).toContain('"initial_value":"Late answer: the server accepted it');
  await sandbox.slack.submit(BEN, view);
  await expect.poll(thread).toContain('it was stopped');
  expect(sandbox.cloud.count('set state')).toBe(1);
  expectOnlyAlert('SignalboxReplicasDown', [
    [before, 60],
    [cut, 15],
    [await scrape(targets), 60],
  ]);
});

test.for<[string, 'html-200' | 'reset-after-effect', string]>([
  ['a sign-in page in between', 'html-200', 'The answer was not of the API'],
  ['a connection that breaks', 'reset-after-effect', 'The connection broke'],
])('%s leaves the outcome unknown, with what was seen', async ([, fault, seen]) => {
  const sandbox = await startTestSandbox();
  const card = await requestChange(sandbox);
  const before = await scrape({ a: sandbox.url });
  sandbox.cloud.injectFault({ operation: 'set state', fault, times: 1 });
  await sandbox.press(BEN, card, 'change.approve');
  await expect.poll(() => textOf(card)).toContain(seen);
  const thread = () => sandbox.slack.messages('db-approvals').map(textOf).join('\n');
  await expect.poll(thread).toContain('is unknown. Check the console');
  const during = await readUntil(sandbox, 'signalbox_open_changes{state="unknown"', 1);
  expectOnlyAlert('SignalboxOutcomeUnknown', [
    [before, 30],
    [during, 60],
  ]);
});

/** Ben approves, and Ana asks, in a network that has changed: Slack still delivers, and nothing gets out. */
async function networkAway(how: 'loseNames' | 'signIn', minutes: number) {
  const network = startNetwork();
  const lines: string[] = [];
  const log = pino({}, { write: (line) => void lines.push(line) });
  const sandbox = await startTestSandbox({ network, log });
  const card = await requestChange(sandbox);
  const targets = { a: sandbox.url };
  const stages: Stage[] = [[await scrape(targets), 60]];
  network[how]();
  await sandbox.slack.command(ANA, 'ops', '/service list');
  await sandbox.press(BEN, card, 'change.approve');
  await recordEach(sandbox, minutes, stages, AWAY);
  expect(textOf(card)).toContain('requests: stop staging');
  network.pass();
  // The press of Ben counts, once: it was acknowledged, and waited for its lookups. What a claim was decided from is valid
  // for 30 s: longer steps could make it too old on a slow machine, and a second note would come before the next attempt.
  const text = asTimePasses(sandbox, 5_000, () => textOf(card));
  await expect.poll(text).toContain('staging is stopping');
  await recordEach(sandbox, 12, stages);
  const replies = sandbox.slack.messages('db-approvals').filter(({ threadTs }) => threadTs);
  expect(replies.map(({ text }) => text.replace(/ \([0-9A-Z]{6}\)…| <.*$/g, ''))).toEqual([
    'Sending “stop staging”',
    `<@${ANA}> staging is stopping.`,
  ]);
  expect(sandbox.cloud.count('set state')).toBe(1);
  const logged = (words: string) => lines.filter((line) => line.includes(words)).length;
  return { logged, stages };
}

test.for<[string, 'loseNames' | 'signIn', number, string | null]>([
  ['12 minutes without DNS ring the alert of Slack alone', 'loseNames', 12, SLACK],
  ['4 minutes behind a captive portal ring nothing', 'signIn', 4, null],
  ['12 minutes behind a captive portal ring the alert of Slack alone', 'signIn', 12, SLACK],
])('%s, and a press in them counts', async ([, how, minutes, alert]) => {
  const { logged, stages } = await networkAway(how, minutes);
  expectOnlyAlert(alert, stages);
  expect(logged('lookups of people in Slack fail')).toBe(1);
  expect(logged('lookups of people in Slack succeed again')).toBe(1);
  // What Ana asked cannot be answered: the log says so.
  expect(logged('the response URL failed')).toBe(1);
});
