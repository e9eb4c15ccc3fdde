import { expect, test } from 'vitest';
import type { Change } from '../../src/changes/change.ts';
import { freshUrl, openForTest } from '../storage/engines.ts';
import { aChange, channel, stored } from '../storage/example-change.ts';
import { ask, empty, STAGING } from './request.ts';
import { ANA, BEN, buttonsOf, DORA, FINN, NOON, openStage, type Stage, textOf } from './stage.ts';

/** The private answer to a command line that a user types. */
async function said(stage: Stage, as: string, line: string, words: string): Promise<string> {
  await stage.slack.command(as, 'ops', line);
  return textOf((await stage.privateWord(as, words)) ?? empty);
}

function idIn(text: string): string {
  return / ([2-9A-HJKMNP-TV-Z]{6})\b/.exec(text)?.[1] ?? '';
}

async function requestAndReadId(stage: Stage, as = ANA, line?: string): Promise<string> {
  const card = await ask(stage, as, line);
  return idIn(textOf(card ?? empty).replace(/.*Requested by/s, ''));
}

test('a change is shown with its history and only the buttons that its reader may press', async () => {
  const stage = await openStage();
  const id = await requestAndReadId(stage);

  // Ids are case-insensitive and accept a leading #.
  await stage.slack.command(ANA, 'ops', `/change show #${id.toLowerCase()}`);
  const own = await stage.privateWord(ANA, 'History');
  expect(textOf(own ?? empty)).toContain('Stop staging: waiting for approval');
  expect(textOf(own ?? empty)).toContain('requested service stop staging');
  expect(buttonsOf(own ?? empty)).toContain('change.cancel');
  expect(buttonsOf(own ?? empty)).not.toContain('change.approve');

  await stage.slack.command(BEN, 'ops', `/change show ${id}`);
  const bens = await stage.privateWord(BEN, 'History');
  expect(buttonsOf(bens ?? empty)).toEqual(['change.approve', 'change.reject']);
  await stage.press(BEN, bens, 'change.approve');
  await stage.card('Stop staging: accepted');

  const after = await said(stage, DORA, `/change show ${id}`, 'sent; the server accepted');
  expect(after).toContain('members, read ');
  expect(after).toContain(BEN);
});

test('for an unknown id the nearest ones are offered', async () => {
  const stage = await openStage();
  const id = await requestAndReadId(stage);
  const wrong = `${id.slice(0, 5)}0`;
  const near = await said(stage, ANA, `/change cancel ${wrong}`, `There's no change “${wrong}”`);
  expect(near).toContain(`change show ${id}`);
  expect(near).toContain('Did you mean');

  const own = await said(stage, ANA, '/change show 999999', 'no change “999999”');
  expect(own).toContain('Your newest requests');
  const none = await said(stage, DORA, '/change show 999999', 'no change “999999”');
  expect(none).toContain('You have no requests');
  await stage.card('Stop staging: waiting for approval');
});

test('only the requester can cancel a change with a command', async () => {
  const stage = await openStage();
  const id = await requestAndReadId(stage);
  const refused = await said(stage, FINN, `/change cancel ${id}`, 'can do that');
  expect(refused).toContain(ANA);
  await said(stage, ANA, `/change cancel ${id.toLowerCase()}`, 'Cancelled');
  await stage.card('Stop staging: cancelled');
  await said(stage, ANA, `/change cancel ${id}`, 'Too late. It is cancelled');

  const log = await said(stage, DORA, '/change log', 'Newest first');
  expect(log).toContain('was refused (not requester): cancel service stop staging');
  expect(log).toContain('cancelled service stop staging → cancelled');
  expect(stage.cloud.count('set state')).toBe(0);
});

test('a draft is visible only to its requester', async () => {
  const stage = await openStage();
  await stage.slack.command(ANA, 'ops', '/service stop staging in secret');
  const preview = textOf((await stage.privateWord(ANA, 'Stop staging?')) ?? empty);
  const id = /"change\.confirm"[^}]*?"value":"(\w{6})"/.exec(preview)?.[1] ?? '';
  expect(id).toHaveLength(6);

  await said(stage, BEN, `/change show ${id}`, `There's no change “${id}”`);
  expect(await said(stage, BEN, '/change list all', 'changes in total')).toContain(
    'There are no changes',
  );
  expect(await said(stage, BEN, '/change log', 'Newest first')).not.toContain(id);
  expect(await said(stage, ANA, '/change list mine', '1 change requested by you')).toContain(id);
  expect(await said(stage, ANA, `/change show ${id}`, 'History')).toContain('drafted');
});

test('lists show their total and have pages', async () => {
  const databaseUrl = await freshUrl('postgres');
  const stage = await openStage({ databaseUrl });
  await stored(await openForTest(databaseUrl), ...Array.from({ length: 21 }, waitingChange));
  const first = await said(stage, DORA, '/change list', '21 changes waiting for approval');
  expect(first).toContain('1 older change not shown');
  const older = /"value":"(change list pending before=\w{6})"/.exec(first)?.[1] ?? '';
  await said(stage, DORA, `/${older}`, '1 change waiting for approval before');
  await said(stage, BEN, '/change list mine', '0 changes requested by you');
  await said(stage, BEN, '/change list review', '0 changes with break-glass, not yet reviewed');
});

// Each has its own creation time, and a card as if it had been posted.
function waitingChange(_: unknown, n: number): Change {
  const createdAt = new Date(NOON.getTime() + n * 1_000);
  const card = { channel: channel('C0APPROVALS'), ts: `1.${n}` };
  return aChange({ createdAt, card, expiresAt: new Date(NOON.getTime() + 86_400_000) });
}

test('the audit trail is searchable by user, command, target, state and time', async () => {
  const stage = await openStage();
  await stage.press(BEN, await ask(stage), 'change.approve');
  await stage.card('Stop staging: accepted');
  await said(stage, DORA, '/service stop staging because', 'You can’t use');
  // Each answer repeats the filters as they were parsed, which distinguishes the answers.
  const log = (filter: string, words = `/change log ${filter}`) =>
    said(stage, DORA, `/change log ${filter}`, words);

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
  expect(stage.cloud.effectCount('set state', STAGING)).toBe(1);
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
  const stage = await openStage();
  const answer = await said(stage, DORA, `/change log by=me ${words}`, ' is empty: ');
  expect(answer).toContain(why);
  expect(/"value":"(change log [^"]*)"/.exec(answer)?.[1] ?? null).toBe(offered);
});

test('a long audit trail is shown in pages', async () => {
  const stage = await openStage();
  for (let n = 0; n < 22; n += 1) await said(stage, DORA, '/service stop staging why', 'You can’t');
  const first = await said(stage, DORA, '/change log by=me', '22 events');
  expect(first).toContain('2 older events');
  const older = /"value":"(change log by=me before=\d+)"/.exec(first)?.[1] ?? '';
  const second = await said(stage, DORA, `/${older}`, '2 events before');
  expect(second).toContain('Newest');
  expect(second).not.toContain('older event');
});
