import { expect, test } from 'vitest';
import { sandboxWorkspace } from '../../sandbox/slack/workspace/sandbox-workspace.ts';
import { buttonsOf, textOf } from '../harness/messages.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, DORA, FINN } from '../harness/users.ts';
import { emptyUrl } from '../storage/engines.ts';
import { storeAt } from '../storage/stores.ts';

const COSTS = 'C0DBCOSTS01';

function posted(sandbox: TestSandbox) {
  return sandbox.slack.messages('db-costs').filter(({ threadTs }) => threadTs === null);
}

/** The time in the zone of each reader, as Slack draws it. */
function nextDigestAt(instant: string): string {
  return `Next digest <!date^${Date.parse(instant) / 1000}^`;
}

const ADD = '/cost digest add #db-costs at=14:00 zone=Europe/Berlin days=daily';

test('an added digest is posted at its scheduled time for the chosen services', async () => {
  const sandbox = await startTestSandbox();
  const added = await sandbox.answer(ANA, `${ADD} tag=prod`, 'Digest added');
  expect(added).toContain('Posted in #db-costs daily 14:00 (Europe/Berlin)');
  sandbox.clock.now = new Date('2026-11-20T13:00:30Z');
  sandbox.wake();
  await expect.poll(() => posted(sandbox).length).toBe(1);
  const text = posted(sandbox).map(textOf).join();
  expect(text).toContain('tag prod: Yesterday, Thu 19 Nov: ');
  expect(text).toContain('Thu 19 Nov seen once');
});

test('an identical digest is refused, and a different one is added', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.answer(ANA, ADD, 'Digest added');
  const exists = await sandbox.answer(DORA, ADD, 'This digest exists already');
  expect(exists).toContain('cost digest list');
  await sandbox.answer(ANA, '/cost digest list', '1 cost digest');
  await sandbox.answer(DORA, `${ADD} tag=prod`, 'Digest added');
  await sandbox.answer(DORA, '/cost digest list', '2 cost digests');
});

test("a digest that is added after today's scheduled time starts tomorrow", async () => {
  const sandbox = await startTestSandbox();
  const line = '/cost digest add #db-costs at=09:00 days=daily zone=UTC';
  await sandbox.answer(ANA, line, 'Digest added');
  sandbox.clock.now = new Date('2026-11-20T12:01:00Z');
  sandbox.wake();
  await sandbox.answer(ANA, '/cost digest list', '1 cost digest');
  expect(posted(sandbox)).toEqual([]);
  sandbox.clock.now = new Date('2026-11-21T09:00:30Z');
  sandbox.wake();
  await expect.poll(() => posted(sandbox).length).toBe(1);
  expect(posted(sandbox).map(textOf).join()).toContain(nextDigestAt('2026-11-22T09:00:00Z'));
});

const REFUSED: readonly (readonly [line: string, words: string])[] = [
  ['/cost digest add #db-costs zone=Europe/Berln', 'did you mean “Europe/Berlin”?'],
  ['/cost digest add #db-costs at=9.30', 'at must be a time of day, for example 09:30'],
  ['/cost digest add #db-costs days=mun', 'must be daily, weekdays, or days of the week: mon'],
  ['/cost digest add #db-costs hue=red', 'Keys: channel, at, zone, days'],
  ['/cost digest add #db-costs every=fortnight', 'every must be day or week'],
  ['/cost digest add #db-costs quiet=maybe', 'quiet must be on or off'],
  [
    '/cost digest add #db-costs zone=Mars/Phobos',
    'must name a place or UTC, not “Mars/Phobos” (for example',
  ],
  ['/cost digest pause #db-costs at=09:00', 'at cannot be used with “pause”'],
  [
    '/cost digest add #db-costs tag=prd',
    'tag names no tag of a service: “prd” (did you mean “prod”?)',
  ],
  [
    '/cost digest add #db-costs team=analytic',
    'team names no team: “analytic” (did you mean “analytics”?)',
  ],
  ['/cost digest add #db-costs service=analytics-prd', 'names no service'],
  [
    '/cost digest add #nowhere at=09:00',
    '#nowhere gets no cost digest: the channel does not exist, or Signalbox is not in it.',
  ],
  [
    '/cost digest add channel=#general at=09:00',
    '#general gets no cost digest: Signalbox is not in the channel: /invite it there.',
  ],
  ['/cost digest add channel=C0NOWHERE99 at=09:00', 'This channel gets no cost digest'],
  ['/cost digest add #shared-partners at=09:00', 'shared with another workspace.'],
  ['/cost digest add #db-costs every=week days=daily', 'must be a single day, for example mon'],
  ['/cost digest remove K3M9QD', 'No digest has this id'],
  ['/cost digest ad #db-costs at=09:00', 'cost digest add #db-costs at=09:00'],
  ['/cost digest frob', 'It takes list, add, remove, pause, resume, now or preview'],
];

test('what is no digest gets an explanation and changes nothing', async () => {
  const sandbox = await startTestSandbox();
  for (const [line, words] of REFUSED) await sandbox.nextAnswer(ANA, line, words);
  await sandbox.answer(ANA, '/cost digest list', 'No cost digests yet');
});

test('the list shows each digest with its time and buttons to pause, resume and remove it', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.answer(ANA, `${ADD} quiet=on`, 'daily 14:00 (Europe/Berlin), quiet.');
  const list = await sandbox.ask(DORA, '/cost digest', '1 cost digest');
  expect(textOf(list)).toContain('daily 14:00 (Europe/Berlin), quiet');
  expect(textOf(list)).toContain('"format":"{date_short_pretty} {time}"');
  expect(buttonsOf(list)).toEqual(['command.0', 'command.menu']);
  const [, id = ''] = /cost digest now (\w+)/.exec(textOf(list)) ?? [];
  expect(textOf(list)).toContain(`cost digest pause ${id}`);
  expect(textOf(list)).toContain(`cost digest remove ${id}`);

  await sandbox.answer(DORA, `/cost digest pause ${id}`, 'Digest paused');
  sandbox.clock.now = new Date('2026-11-20T13:01:00Z');
  sandbox.wake();
  await sandbox.answer(FINN, '/cost digest resume #db-costs', 'Digest resumed');
  sandbox.clock.now = new Date('2026-11-20T13:03:00Z');
  sandbox.wake();
  const asked = 'Remove the digest #db-costs, 14:00?';
  const question = await sandbox.ask(FINN, `/cost digest remove ${id}`, asked);
  await sandbox.answer(DORA, '/cost digest list', '1 cost digest');
  await sandbox.press(FINN, question, 'command.0');
  await sandbox.privateMessage(FINN, 'Digest removed: #db-costs, 14:00');
  await sandbox.answer(DORA, '/cost digest list', 'No cost digests yet');
  expect(posted(sandbox)).toEqual([]);
});

test('two configured digests of one channel have names, are previewed, and are changed in the file only', async () => {
  const digests = [{ channel: '#db-costs' }, { channel: '#db-costs', period: 'week', days: 'mon' }];
  const sandbox = await startTestSandbox({ yaml: (file: object) => ({ ...file, digests }) });
  await sandbox.answer(ANA, '/cost digest pause #db-costs', 'This channel gets 2 digests.');
  const list = await sandbox.answer(ANA, '/cost digest list', '2 cost digests');
  expect(list).not.toMatch(/cost digest (pause|remove)/);
  const [line = ''] = /cost digest preview [^ ]*db-costs:week/.exec(list) ?? [];
  await sandbox.answer(ANA, `/${line}`, '13–19 Nov: ');
  const change = 'This digest is from signalbox.yaml. Change it there.';
  await sandbox.answer(ANA, '/cost digest pause #db-costs:day', change);
  await sandbox.answer(ANA, '/cost digest remove #db-costs:day', change);
});

test('a preview is private and shows what would be posted', async () => {
  const sandbox = await startTestSandbox();
  const line = '/cost digest preview service=staging';
  const text = await sandbox.answer(DORA, line, 'Preview, not scheduled: only visible to you');
  expect(text).toContain('staging: Yesterday, Thu 19 Nov: ');
  expect(text).toContain('data_visualization');
  expect(text).not.toContain('Next digest');
  await sandbox.answer(ANA, ADD, 'Digest added');
  const set = await sandbox.answer(DORA, '/cost digest preview #db-costs', 'Next digest ');
  expect(set).toContain(nextDigestAt('2026-11-20T13:00:00Z'));
  await sandbox.answer(ANA, '/cost digest pause #db-costs', 'Digest paused');
  const again = '/cost digest preview #db-costs';
  const paused = await sandbox.nextAnswer(DORA, again, 'Preview, not scheduled');
  expect(paused).not.toContain('Next digest');
  expect(posted(sandbox)).toEqual([]);
});

test('“now” posts at once, and only once for repeated requests', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.answer(ANA, ADD, 'Digest added');
  await sandbox.answer(ANA, '/cost digest now #db-costs', 'The scheduled one is still sent');
  await sandbox.answer(ANA, '/cost digest now #db-costs', 'less than a minute ago');
  expect(posted(sandbox)).toHaveLength(1);
});

test('the stored last post of a digest is deleted with the digest', async () => {
  const databaseUrl = await emptyUrl('postgres');
  const sandbox = await startTestSandbox({ databaseUrl });
  const { root } = await storeAt(databaseUrl);
  const storedPosts = async () => {
    const rows = await root.selectFrom('cost_state').select('key').execute();
    return rows.filter(({ key }) => key.startsWith('said:')).length;
  };
  await sandbox.answer(ANA, ADD, 'Digest added');
  sandbox.clock.now = new Date('2026-11-20T13:00:30Z');
  sandbox.wake();
  await expect.poll(storedPosts).toBe(1);
  await sandbox.answer(ANA, '/cost digest remove #db-costs confirm=yes', 'Digest removed');
  expect(await storedPosts()).toBe(0);
});

test('a digest whose service was removed is reported once and can be removed', async () => {
  const databaseUrl = await emptyUrl('sqlite');
  const sandbox = await startTestSandbox({ databaseUrl });
  await sandbox.answer(ANA, `${ADD} service=staging`, 'Digest added');
  await sandbox.restart((file: { services?: { name: string }[] }) => ({
    ...file,
    services: file.services?.filter(({ name }) => name !== 'staging'),
  }));
  const told = await sandbox.privateMessage(ANA, 'service names no service: “staging”');
  expect(told?.channel[0]).toBe('D');
  const list = await sandbox.answer(ANA, '/cost digest list', 'has invalid options');
  const [, id = ''] = /Digest (\w+) has invalid/.exec(list) ?? [];
  await sandbox.answer(ANA, `/cost digest preview ${id}`, 'No digest has this id');
  await sandbox.answer(ANA, `/cost digest remove ${id}`, 'Remove the digest #db-costs?');
  await sandbox.answer(ANA, `/cost digest remove ${id} confirm=yes`, 'Digest removed: #db-costs');
});

test('“add” without arguments opens a form with the current channel', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.slack.command(ANA, 'db-costs', '/cost digest add');
  const viewId = await sandbox.modal(ANA, 'cost.digest');
  const view = sandbox.slack.clientState(ANA).views.at(-1);
  expect(JSON.stringify(view?.blocks)).toContain('conversations_select');
  expect(view).toMatchObject({ title: 'Add a cost digest', submit: 'Add digest' });
  expect(view?.blocks.map(({ block_id }) => block_id)).not.toContain('what');
  expect(JSON.stringify(view?.blocks)).toContain(`"initial_conversation":"${COSTS}"`);
  await sandbox.slack.submit(ANA, viewId, {
    which: { which: { type: 'conversations_select', selected_conversation: COSTS } },
    at: { at: { type: 'plain_text_input', value: '14:00' } },
  });
  const added = await sandbox.privateMessage(ANA, 'Posted in #db-costs weekdays 14:00');
  const [note] = (added?.blocks ?? []).toReversed();
  expect(JSON.stringify(note)).toContain(`/cost digest add <#${COSTS}> at=14:00`);
});

test('a digest without zone= is refused where Slack does not return the zone of the user', async () => {
  const members = sandboxWorkspace.members.map((one) =>
    one.id === ANA ? { ...one, timezone: 'Mars/Phobos' } : one,
  );
  const sandbox = await startTestSandbox({ workspace: { ...sandboxWorkspace, members } });
  await sandbox.answer(ANA, '/cost digest add #db-costs at=09:00', 'Which time zone?');
  await sandbox.answer(ANA, ADD, 'Digest added');
});
