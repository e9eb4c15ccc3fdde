import { expect, test } from 'vitest';
import { buttonsOf, textOf } from '../harness/messages.ts';
import { changeIdOf, requestChange } from '../harness/requests.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, DORA } from '../harness/users.ts';

test('a change is shown with its history and only the buttons that its reader may press', async () => {
  const sandbox = await startTestSandbox();
  const id = changeIdOf(await requestChange(sandbox));

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

  await sandbox.answer(DORA, `/change show ${id}`, 'sent it, and the server accepted it');
  const after = await sandbox.answer(
    DORA,
    `/change show ${id} details`,
    'sent; the server accepted',
  );
  expect(after).toContain('members, read ');
  expect(after).toContain(BEN);
});

test('for an unknown id the nearest ones are offered, and an empty list says so', async () => {
  const sandbox = await startTestSandbox();
  const id = changeIdOf(await requestChange(sandbox));
  const wrong = `${id.slice(0, 5)}0`;
  const near = await sandbox.answer(ANA, `/change cancel ${wrong}`, `There's no change “${wrong}”`);
  expect(near).toContain(`change show ${id}`);
  expect(near).toContain('Did you mean');

  const own = await sandbox.answer(ANA, '/change show 999999', 'no change “999999”');
  expect(own).toContain('Your newest requests');
  const none = await sandbox.answer(DORA, '/change show 999999', 'no change “999999”');
  expect(none).toContain('You have no requests');
  await sandbox.answer(BEN, '/change list mine', 'You have requested no changes.');
  await sandbox.answer(BEN, '/change list review', 'No emergency change needs a review.');
});

test('the list of changes has filters, and each row leads to its change', async () => {
  const sandbox = await startTestSandbox();
  const id = changeIdOf(await requestChange(sandbox));
  const list = (filter: string, words: string) =>
    sandbox.nextAnswer(DORA, `/change list ${filter}`, words);

  const found = await list('service=STAGING state=pending since=yesterday', '· since yesterday');
  expect(found).toContain('1 change · staging · waiting · since yesterday');
  expect(found).toContain(id);
  for (const named of ['by=@ana', 'by=Ana', `by=${ANA}`]) {
    expect(await list(`${named} since=1d`, '1 change · since 1d')).toContain(id);
  }
  expect(await list('mine since=2h', 'No matching changes.')).not.toContain(id);
  expect(await list('by=ben', 'No matching changes.')).not.toContain(id);

  const states = await list(
    'state=foo since=2d',
    'state must be draft, waiting, approved, running',
  );
  expect(states).not.toMatch(/pending|executing/);
  await list('service=stagign', "There's no service called “stagign”. Did you mean:");
  await list('by=@nobody', "There's no user called “@nobody”");
  await list('mine by=ben', 'by cannot be used with “mine”');
  await list('before=999999', 'no change “999999”');

  const shown = await sandbox.privateMessage(DORA, '· since yesterday');
  await sandbox.press(DORA, shown, 'command.show');
  expect(textOf(await sandbox.privateMessage(DORA, 'History'))).toContain(id);
});

const EMPTY: readonly (readonly [words: string, why: string, offered: string | null])[] = [
  [
    'since=2026-11-20 until=2026-11-01',
    'until is before since',
    'change log by=me since=2026-11-01 until=2026-11-20',
  ],
  ['since=1d until=7d', 'until is before since', 'change log by=me since=7d until=1d'],
  ['since=1h until=1h', 'both are the same time', null],
];

test('a log of a time that is empty is refused with the reason', async () => {
  const sandbox = await startTestSandbox();
  for (const [words, why, offered] of EMPTY) {
    const answer = await sandbox.nextAnswer(DORA, `/change log by=me ${words}`, ' is empty: ');
    expect(answer).toContain(why);
    expect(/"value":"(change log [^"]*)"/.exec(answer)?.[1] ?? null).toBe(offered);
  }
});
