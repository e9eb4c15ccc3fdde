import { expect, test } from 'vitest';
import { textOf } from '../harness/messages.ts';
import { requestChange, STAGING, setTime } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, CLEO } from '../harness/users.ts';

interface File {
  readonly services: readonly { readonly id: string; readonly tags: readonly string[] }[];
}

/** The configuration file, in which staging has the tag `prod`, with these additional keys. */
const retagged = (more: object = {}) =>
  ((file: File) => ({
    ...file,
    services: file.services.map((one) => (one.id === STAGING ? { ...one, tags: ['prod'] } : one)),
    ...more,
  })) as never;

const NEVER = { never: [{ commands: ['service stop'], on: { tags: ['prod'] }, reason: 'orders' }] };
const FREEZE = {
  from: '2026-11-20T00:00Z',
  until: '2026-11-22T00:00Z',
  on: { tags: ['prod'] },
  reason: 'sale',
};
const withoutStaging = ((file: File) => ({
  ...file,
  services: file.services.filter(({ id }) => id !== STAGING),
})) as never;

const WHY = 'The tags or the warehouse of staging changed or are unknown now';

async function isNotRun(sandbox: TestSandbox, title: string, why: string) {
  const card = await sandbox.card(title);
  expect(textOf(card)).toContain(why);
  expect(sandbox.cloud.effectCount('set state', STAGING)).toBe(0);
  return card;
}

/** An approved stop of staging that is due in an hour. */
async function scheduled(sandbox: TestSandbox, line = '/service stop staging in=1h for the night') {
  await sandbox.press(BEN, await requestChange(sandbox, ANA, line), 'change.approve');
  await sandbox.card('Stop staging: approved');
}

test('a change scheduled 30 days ahead is not sent with one approval after a re-tag', async () => {
  const sandbox = await startTestSandbox();
  await scheduled(sandbox, '/service stop staging in=30d for the night');
  expect(await sandbox.reload(retagged())).toEqual({ ok: true });
  sandbox.pass(30 * 86_400_000);
  await isNotRun(sandbox, 'Stop staging: not run', WHY);
});

test('a scheduled change with enough approvals for its new tags runs', async () => {
  const sandbox = await startTestSandbox();
  const two = (file: object) =>
    JSON.parse(JSON.stringify(file).replaceAll('"count":1', '"count":2'));
  expect(await sandbox.reload(two)).toEqual({ ok: true });
  const card = await requestChange(sandbox, ANA, '/service stop staging in=1h for the night');
  await sandbox.press(BEN, card, 'change.approve');
  await sandbox.card('1 of 2');
  await sandbox.press(CLEO, await sandbox.card('requests: '), 'change.approve');
  await sandbox.card('Stop staging: approved');
  expect(await sandbox.reload(retagged())).toEqual({ ok: true });
  setTime(sandbox, '13:00');
  await sandbox.card('staging is stopping');
});

test.for<[string, object, string]>([
  ['a freeze', { freezes: [FREEZE] }, 'staging was frozen until '],
  ['an entry of `never`', NEVER, WHY],
])('%s for the new tag stops an approved change', async ([, more, why]) => {
  const sandbox = await startTestSandbox();
  await scheduled(sandbox);
  expect(await sandbox.reload(retagged(more))).toEqual({ ok: true });
  setTime(sandbox, '13:00');
  await isNotRun(sandbox, 'Stop staging: not run', why);
});

test('a service that is gone from the directory counts as one with unknown tags', async () => {
  const sandbox = await startTestSandbox();
  await scheduled(sandbox);
  expect(await sandbox.reload(withoutStaging)).toEqual({ ok: true });
  setTime(sandbox, '13:00');
  await isNotRun(sandbox, 'Stop staging: not run', WHY);
});

test('the approval of a change whose target was re-tagged is refused, and its card says so', async () => {
  const sandbox = await startTestSandbox();
  const card = await requestChange(sandbox);
  expect(await sandbox.reload(retagged())).toEqual({ ok: true });
  await sandbox.press(BEN, card, 'change.approve');
  await sandbox.privateMessage(BEN, WHY);
  const stale = await isNotRun(sandbox, 'Stop staging: not run', WHY);
  expect(textOf(stale)).not.toContain('1 of 1');
});

test('a draft whose target was re-tagged cannot be confirmed', async () => {
  const sandbox = await startTestSandbox();
  const preview = await sandbox.ask(ANA, '/service stop staging for the night', 'Stop staging?');
  expect(await sandbox.reload(retagged())).toEqual({ ok: true });
  await sandbox.press(ANA, preview, 'change.confirm');
  await sandbox.privateMessage(ANA, WHY);
  expect(sandbox.slack.messages('db-approvals')).toHaveLength(0);
});

test('a change that was re-tagged to a rule with the same approvals runs', async () => {
  const sandbox = await startTestSandbox();
  const card = await requestChange(sandbox);
  const renamed = (file: object) =>
    JSON.parse(JSON.stringify(file).replaceAll('"staging"]', '"lab"]'));
  expect(await sandbox.reload(renamed)).toEqual({ ok: true });
  await sandbox.press(BEN, card, 'change.approve');
  await sandbox.card('staging is stopping');
});
