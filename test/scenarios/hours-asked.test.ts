import { expect, test } from 'vitest';
import { sandboxWorkspace } from '../../sandbox/slack/workspace/sandbox-workspace.ts';
import { buttonsOf } from '../harness/messages.ts';
import { requestAndApprove, STAGING } from '../harness/requests.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN } from '../harness/users.ts';

/** The sandbox with everyone in this time zone. */
function startIn(timezone: string) {
  const members = sandboxWorkspace.members.map((member) => ({ ...member, timezone }));
  return startTestSandbox({ workspace: { ...sandboxWorkspace, members } });
}

test("a time of day uses the requester's time zone", async () => {
  const sandbox = await startIn('Asia/Tokyo');
  const preview = await sandbox.ask(ANA, '/service stop staging at=22:00', 'Stop staging?');
  expect(preview.text).toContain('2026-11-20T13:00:00');
});

test('a user with an unknown time zone must give a date with its zone', async () => {
  const sandbox = await startIn('Mars/Olympus');
  await sandbox.slack.command(ANA, 'ops', '/service stop staging at=22:00');
  await sandbox.modal(ANA, 'service.stop');
  expect(JSON.stringify(sandbox.slack.clientState(ANA).views.at(-1))).toContain('your time zone');
  const preview = await sandbox.ask(
    ANA,
    '/service stop staging at=2026-11-20T22:00Z',
    'Stop staging?',
  );
  expect(preview.text).toContain('2026-11-20T22:00:00');
});

test('a form accepts the same times and keeps an invalid one for correction', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.slack.command(ANA, 'ops', '/service stop');
  const view = await sandbox.modal(ANA, 'service.stop');
  const service = {
    service: { type: 'external_select', selected_option: { value: STAGING, text: TEXT } },
  };
  const input = (value: string) => ({ type: 'plain_text_input', value });
  const fields = (at: string) => ({ service, at: { at: input(at) }, for: { for: input('4h') } });
  await sandbox.slack.submit(ANA, view, fields('soon'));
  const form = () => JSON.stringify(sandbox.slack.clientState(ANA).views.at(-1));
  await expect.poll(form).toContain('must be a time');
  await sandbox.slack.submit(ANA, view, fields('today 8pm'));
  const preview = await sandbox.privateMessage(ANA, 'Stop staging?');
  expect(preview?.text).toContain('Runs  <!date^');
  expect(preview?.text).toContain('Reverts  4 h later (Start it again)');
});

const TEXT = { type: 'plain_text', text: 'staging' } as const;

test('the form for a past time keeps the other arguments', async () => {
  const sandbox = await startTestSandbox();
  const line = '/service stop staging at=2026-11-19T20:00 for the night';
  await sandbox.slack.command(ANA, 'ops', line);
  await sandbox.modal(ANA, 'service.stop');
  const form = JSON.stringify(sandbox.slack.clientState(ANA).views.at(-1));
  // What is wrong stands above the fields alone.
  expect(form.match(/is in the past; 20:00 without a date/g)).toHaveLength(1);
  expect(form).toMatch(/"hint":\{[^}]*"text":"Correct this value\. /);
  expect(form).toContain('"initial_value":"for the night"');
});

test('a user who may not run the revert cannot request a temporary change', async () => {
  const forApprovers = { allow: ['service start'], to: 'approver' };
  const yaml = (file: { readonly policy?: readonly object[] }) => {
    const [first, ...rest] = file.policy ?? [];
    return { ...file, policy: [first, forApprovers, ...rest] };
  };
  const sandbox = await startTestSandbox({ yaml });
  await sandbox.ask(ANA, '/service stop staging for=4h', "You can't start staging: ");
  expect(sandbox.slack.messages('db-approvals')).toEqual([]);
});

test.for<[string, string, ReturnType<typeof freeze>, string]>([
  ['start after a freeze', 'at=20:00', freeze('20T11:00Z', '20T18:00Z'), 'Stop staging?'],
  ['start during a freeze', 'in=1h', freeze('20T12:30Z', '20T18:00Z'), 'is frozen until'],
  [
    'revert during a freeze',
    'at=16:00 for=23h',
    freeze('21T12:00Z', '21T18:00Z'),
    'is frozen until',
  ],
])('a change that would %s is checked for that time', async ([, words, yaml, answer]) => {
  const sandbox = await startTestSandbox({ yaml });
  await sandbox.ask(ANA, `/service stop staging ${words}`, answer);
});

test('the Home tab shows scheduled changes and pending reverts', async () => {
  const sandbox = await startTestSandbox();
  const home = () => JSON.stringify(sandbox.slack.clientState(BEN).home ?? []);
  await requestAndApprove(sandbox, '/service stop staging for=4h');
  const planned = await sandbox.card('Start staging: planned');
  expect(buttonsOf(planned)).toEqual(['change.cancel', 'change.details']);
  await sandbox.slack.openHome({ as: BEN });
  await expect.poll(home).toContain('In progress (1)');
  expect(home()).toContain('Reverts');
  await sandbox.slack.openHome({ as: ANA });
  const own = () => JSON.stringify(sandbox.slack.clientState(ANA).home ?? []);
  await expect.poll(own).toContain('In progress (1)');
  expect(own()).not.toContain('Your requests');
});

function freeze(from: string, until: string) {
  const span = { from: `2026-11-${from}`, until: `2026-11-${until}` };
  const freezes = [{ ...span, on: { tags: ['staging'] }, reason: 'sale' }];
  return (file: Readonly<Record<string, unknown>>) => ({ ...file, freezes });
}
