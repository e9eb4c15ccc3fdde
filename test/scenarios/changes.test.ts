import { expect, test } from 'vitest';
import { buttonsOf, textOf } from '../harness/messages.ts';
import { changeIdOf, requestChange } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, DORA, FINN } from '../harness/users.ts';

/** The private answer to a command line that a user types. */
async function said(
  sandbox: TestSandbox,
  as: string,
  line: string,
  words: string,
): Promise<string> {
  await sandbox.slack.command(as, 'ops', line);
  return textOf(await sandbox.privateMessage(as, words));
}

async function requestAndReadId(sandbox: TestSandbox, as = ANA, line?: string): Promise<string> {
  const card = await requestChange(sandbox, as, line);
  return changeIdOf(card);
}

test('a change is shown with its history and only the buttons that its reader may press', async () => {
  const sandbox = await startTestSandbox();
  const id = await requestAndReadId(sandbox);

  // Ids are case-insensitive and accept a leading #.
  const own = await sandbox.ask(ANA, `/change show #${id.toLowerCase()}`, 'History');
  expect(textOf(own)).toContain('requests: stop staging');
  expect(textOf(own)).toContain('requested it');
  expect(buttonsOf(own)).toContain('change.cancel');
  expect(buttonsOf(own)).not.toContain('change.approve');

  const bens = await sandbox.ask(BEN, `/change show ${id}`, 'History');
  expect(buttonsOf(bens)).toEqual([
    'change.approve',
    'change.reject',
    'change.narrow',
    'change.details',
    'command.0',
  ]);
  await sandbox.press(BEN, bens, 'change.approve');
  await sandbox.card('staging is stopping');

  await said(sandbox, DORA, `/change show ${id}`, 'sent it, and the server accepted it');
  const after = await said(
    sandbox,
    DORA,
    `/change show ${id} details`,
    'sent; the server accepted',
  );
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
  await sandbox.card('requests: stop staging');
});

test('only the requester can cancel a change with a command', async () => {
  const sandbox = await startTestSandbox();
  const id = await requestAndReadId(sandbox);
  const refused = await said(sandbox, FINN, `/change cancel ${id}`, 'can do this');
  expect(refused).toContain(ANA);
  await said(sandbox, ANA, `/change cancel ${id.toLowerCase()}`, 'Cancelled');
  await sandbox.card('Stop staging: cancelled');
  await said(sandbox, ANA, `/change cancel ${id}`, 'Already cancelled');

  const log = await said(sandbox, DORA, '/change log', 'Newest first');
  expect(log).toContain('was refused (not requester): cancel service stop staging');
  expect(log).toContain('cancelled service stop staging → cancelled');
  expect(sandbox.cloud.count('set state')).toBe(0);
});

test('an empty list says so', async () => {
  const sandbox = await startTestSandbox();
  await said(sandbox, BEN, '/change list mine', 'You have requested no changes.');
  await said(sandbox, BEN, '/change list review', 'No emergency change needs a review.');
});

test('the list of changes has filters, and each row leads to its change', async () => {
  const sandbox = await startTestSandbox();
  const id = await requestAndReadId(sandbox);
  const list = (filter: string, words: string) =>
    said(sandbox, DORA, `/change list ${filter}`, words);

  const found = await list('service=STAGING state=pending since=yesterday', '· since yesterday');
  expect(found).toContain('1 change · staging · waiting · since yesterday');
  expect(found).toContain(id);
  for (const named of ['by=@ana', 'by=Ana', `by=${ANA}`]) {
    expect(await list(`${named} since=1d`, '1 change · since 1d')).toContain(id);
  }
  expect(await list('mine since=2h', 'No matching changes.')).not.toContain(id);
  expect(await list('by=ben', 'No matching changes.')).not.toContain(id);
  expect(await list('service=analytics-prod', 'No matching changes.')).not.toContain(id);
  expect(await list('since=2026-11-21', 'No matching changes.')).not.toContain(id);

  expect(await list('state=Waiting since=1d', '1 change · waiting · since 1d')).toContain(id);
  await list('state=foo', 'state must be draft, waiting, approved, running, accepted');
  expect(await list('state=foo since=2d', 'state must be draft')).not.toMatch(/pending|executing/);
  await list('service=stagign', "There's no service called “stagign”. Did you mean:");
  await list('by=@nobody', "There's no user called “@nobody”");
  await list('since=soon', 'since must be today, yesterday, a day (for example 2026-11-01)');
  await list('mine by=ben', 'by cannot be used with “mine”');
  await list('pending state=failed', 'state cannot be used with “pending”');
  await list('before=999999', 'no change “999999”');

  const shown = await sandbox.privateMessage(DORA, '· since yesterday');
  await sandbox.press(DORA, shown, 'command.show');
  expect(textOf(await sandbox.privateMessage(DORA, 'History'))).toContain(id);
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
    'change log by=me since=7d until=1d',
  ],
  ['one hour at both ends', 'since=1h until=1h', 'both are the same time', null],
])('a log with %s is rejected with the reason', async ([, words, why, offered]) => {
  const sandbox = await startTestSandbox();
  const answer = await said(sandbox, DORA, `/change log by=me ${words}`, ' is empty: ');
  expect(answer).toContain(why);
  expect(/"value":"(change log [^"]*)"/.exec(answer)?.[1] ?? null).toBe(offered);
});
