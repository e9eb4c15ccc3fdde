import { expect, test } from 'vitest';
import type { Change } from '../../src/changes/change.ts';
import { buttonsOf, textOf } from '../harness/messages.ts';
import { NO_MESSAGE, requestChange, STAGING } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, DORA, FINN, NOON } from '../harness/users.ts';
import { freshUrl, openForTest } from '../storage/engines.ts';
import { aChange, channel, stored } from '../storage/example-change.ts';

/** The private answer to a command line that a user types. */
async function said(
  sandbox: TestSandbox,
  as: string,
  line: string,
  words: string,
): Promise<string> {
  await sandbox.slack.command(as, 'ops', line);
  return textOf((await sandbox.privateMessage(as, words)) ?? NO_MESSAGE);
}

function idIn(text: string): string {
  return / ([2-9A-HJKMNP-TV-Z]{6})\b/.exec(text)?.[1] ?? '';
}

async function requestAndReadId(sandbox: TestSandbox, as = ANA, line?: string): Promise<string> {
  const card = await requestChange(sandbox, as, line);
  return idIn(textOf(card ?? NO_MESSAGE).replace(/.*Requested by/s, ''));
}

test('a change is shown with its history and only the buttons that its reader may press', async () => {
  const sandbox = await startTestSandbox();
  const id = await requestAndReadId(sandbox);

  // Ids are case-insensitive and accept a leading #.
  await sandbox.slack.command(ANA, 'ops', `/change show #${id.toLowerCase()}`);
  const own = await sandbox.privateMessage(ANA, 'History');
  expect(textOf(own ?? NO_MESSAGE)).toContain('Stop staging: waiting for approval');
  expect(textOf(own ?? NO_MESSAGE)).toContain('requested service stop staging');
  expect(buttonsOf(own ?? NO_MESSAGE)).toContain('change.cancel');
  expect(buttonsOf(own ?? NO_MESSAGE)).not.toContain('change.approve');

  await sandbox.slack.command(BEN, 'ops', `/change show ${id}`);
  const bens = await sandbox.privateMessage(BEN, 'History');
  expect(buttonsOf(bens ?? NO_MESSAGE)).toEqual(['change.approve', 'change.reject']);
  await sandbox.press(BEN, bens, 'change.approve');
  await sandbox.card('Stop staging: accepted');

  const after = await said(sandbox, DORA, `/change show ${id}`, 'sent; the server accepted');
  expect(after).toContain('members, read ');
  expect(after).toContain(BEN);
});

test('for an unknown id the nearest ones are offered', async () => {
  const sandbox = await startTestSandbox();
  const id = await requestAndReadId(sandbox);
  const wrong = `${id.slice(0, 5)}0`;
  const near = await said(sandbox, ANA, `/change cancel ${wrong}`, `There's no change “${wrong}”`);
  expect(near).toContain(`change show ${id}`);
  expect(near).toContain('Did you mean');

  const own = await said(sandbox, ANA, '/change show 999999', 'no change “999999”');
  expect(own).toContain('Your newest requests');
  const none = await said(sandbox, DORA, '/change show 999999', 'no change “999999”');
  expect(none).toContain('You have no requests');
  await sandbox.card('Stop staging: waiting for approval');
});

test('only the requester can cancel a change with a command', async () => {
  const sandbox = await startTestSandbox();
  const id = await requestAndReadId(sandbox);
  const refused = await said(sandbox, FINN, `/change cancel ${id}`, 'can do this');
  expect(refused).toContain(ANA);
  await said(sandbox, ANA, `/change cancel ${id.toLowerCase()}`, 'Cancelled');
  await sandbox.card('Stop staging: cancelled');
  await said(sandbox, ANA, `/change cancel ${id}`, 'Too late: it was cancelled');

  const log = await said(sandbox, DORA, '/change log', 'Newest first');
  expect(log).toContain('was refused (not requester): cancel service stop staging');
  expect(log).toContain('cancelled service stop staging → cancelled');
  expect(sandbox.cloud.count('set state')).toBe(0);
});

test('a draft is visible only to its requester', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.slack.command(ANA, 'ops', '/service stop staging in secret');
  const preview = textOf((await sandbox.privateMessage(ANA, 'Stop staging?')) ?? NO_MESSAGE);
  const id = /"change\.confirm"[^}]*?"value":"(\w{6})"/.exec(preview)?.[1] ?? '';
  expect(id).toHaveLength(6);

  await said(sandbox, BEN, `/change show ${id}`, `There's no change “${id}”`);
  expect(await said(sandbox, BEN, '/change list all', 'There are no changes')).toContain(
    'There are no changes',
  );
  expect(await said(sandbox, BEN, '/change log', 'Newest first')).not.toContain(id);
  expect(await said(sandbox, ANA, '/change list mine', '1 change requested by you')).toContain(id);
  expect(await said(sandbox, ANA, `/change show ${id}`, 'History')).toContain('drafted');
});

test('lists show their total and have pages', async () => {
  const databaseUrl = await freshUrl('postgres');
  const sandbox = await startTestSandbox({ databaseUrl });
  await stored(await openForTest(databaseUrl), ...Array.from({ length: 21 }, waitingChange));
  const first = await said(sandbox, DORA, '/change list', '21 changes waiting for approval');
  expect(first).toContain('1 older change not shown');
  const older = /"value":"(change list pending before=\w{6})"/.exec(first)?.[1] ?? '';
  await said(sandbox, DORA, `/${older}`, '1 change waiting for approval before');
  await said(sandbox, BEN, '/change list mine', 'You have requested no changes.');
  await said(sandbox, BEN, '/change list review', 'No emergency change needs a review.');
});

// Each has its own creation time, and a card as if it had been posted.
function waitingChange(_: unknown, n: number): Change {
  const createdAt = new Date(NOON.getTime() + n * 1_000);
  const card = { channel: channel('C0APPROVALS'), ts: `1.${n}` };
  return aChange({ createdAt, card, expiresAt: new Date(NOON.getTime() + 86_400_000) });
}

test('the audit trail is searchable by user, command, target, state and time', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.press(BEN, await requestChange(sandbox), 'change.approve');
  await sandbox.card('Stop staging: accepted');
  await said(sandbox, DORA, '/service stop staging because', "You can't use");
  // Each answer repeats the filters as they were parsed, which distinguishes the answers.
  const log = (filter: string, words = `/change log ${filter}`) =>
    said(sandbox, DORA, `/change log ${filter}`, words);

  for (const named of ['by=@ben', 'by=Ben', `by=${BEN}`]) {
    const bens = await log(named);
    expect(bens).toContain('1 event');
    expect(bens).toContain('approved service stop staging → approved');
  }
  expect(await log('by=me')).toContain('was refused (not a requester): service stop staging');
  expect(await log('state=succeeded')).toContain('→ succeeded');
  const both = 'command="service stop" target=STAGING state=pending';
  expect(await log(both, 'requested service stop staging')).toContain('1 event');
  expect(await log('target=analytics-prod')).toContain('0 events');
  expect(await log('since=1h until=30m')).toContain('0 events');
  expect(await log('since=2026-11-21')).toContain('0 events');
  expect(await log('by=me since=2026-11-20')).toContain('1 event');
  await log('by=@nobody', 'no user called');
  await log('state=done', 'state must be');
  await log('since=yesterday', 'must be a day, for example 2026-11-01');
  expect(sandbox.cloud.effectCount('set state', STAGING)).toBe(1);
});

test.for<[string, string, string, string | null]>([
  [
    'the later date first',
    'since=2026-11-20 until=2026-11-01',
    'until is before since',
    'change log by=me since=2026-11-01 until=2026-11-20',
  ],
  [
    'time spans in reverse order',
    'since=1d until=7d',
    'until is before since',
    'change log by=me since=10080m until=1440m',
  ],
  [
    'one day at both ends',
    'since=2026-11-20 until=2026-11-20',
    'both are the same time',
    'change log by=me since=2026-11-20 until=2026-11-21',
  ],
  ['one hour at both ends', 'since=1h until=1h', 'both are the same time', null],
])('a log with %s is rejected with the reason', async ([, words, why, offered]) => {
  const sandbox = await startTestSandbox();
  const answer = await said(sandbox, DORA, `/change log by=me ${words}`, ' is empty: ');
  expect(answer).toContain(why);
  expect(/"value":"(change log [^"]*)"/.exec(answer)?.[1] ?? null).toBe(offered);
});

test('a long audit trail is shown in pages', async () => {
  const sandbox = await startTestSandbox();
  for (let n = 0; n < 22; n += 1)
    await said(sandbox, DORA, '/service stop staging why', "You can't");
  const first = await said(sandbox, DORA, '/change log by=me', '22 events');
  expect(first).toContain('2 older events');
  const older = /"value":"(change log by=me before=\d+)"/.exec(first)?.[1] ?? '';
  const second = await said(sandbox, DORA, `/${older}`, '2 events before');
  expect(second).toContain('Newest');
  expect(second).not.toContain('older event');
});
