import { expect, test } from 'vitest';
import { textOf } from '../harness/messages.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, CLEO, DORA, FINN, GUS } from '../harness/users.ts';

async function who(sandbox: TestSandbox, as: string, about: string) {
  await sandbox.slack.command(as, 'ops', `/change who ${about}`);
  const title = `Who may use /${about.split(' ').slice(0, 2).join(' ')}`;
  return (await sandbox.privateMessage(as, title)).text;
}

const mention = (...people: string[]) => people.map((id) => `<@${id}>`).join(', ');

test('for a service, the deciding rule and the current members of its roles are shown', async () => {
  const sandbox = await startTestSandbox();
  const text = await who(sandbox, ANA, 'service stop analytics-prod');
  expect(text).toContain('Applies to: everything tagged prod');
  expect(text).toContain(`@db-operators (2 now: ${mention(ANA, FINN)}). A reason`);
  expect(text).toContain(`2 of @db-leads (3 now: ${mention(BEN, CLEO, GUS)}), within 4 h`);
  expect(text).toContain('After 2 h: also @db-operators');
  expect(text).toContain(`the role oncall (1 now: ${mention(ANA)})`);
  expect(text).toContain('You: you may request it, and it needs these approvals.');
  expect(text).not.toMatch(/Applies to: everything$/m);
});

test.for<[string, string]>([
  ['a typed tag', 'service stop tag=prod'],
  ['a tag by its id', 'service stop tag:prod'],
  ['a typed warehouse', 'service stop warehouse=main'],
])('for %s, the rule of each of its services is shown', async ([, about]) => {
  const sandbox = await startTestSandbox();
  const text = await who(sandbox, ANA, about);
  expect(text).toContain('analytics-prod is tagged prod');
  expect(text).not.toContain('staging');
  expect(text).toContain('Applies to: everything tagged prod');
  expect(text).not.toMatch(/Applies to: everything$/m);
});

test('for a warehouse with different rules, each group of services is shown separately', async () => {
  const sale = { from: '2026-11-20T00:00Z', until: '2026-11-21T00:00Z', reason: 'sale' };
  const sandbox = await startTestSandbox({
    yaml: (file) => ({ ...(file as object), freezes: [{ ...sale, on: { tags: ['staging'] } }] }),
  });
  const text = await who(sandbox, ANA, 'service stop warehouse=lab');
  const [first = '', second = ''] = text.split(/^staging$/m);
  expect(first).toMatch(/^analytics-dev, archive, ci, lab-core, load-test$/m);
  expect(first).toContain('You: you may request it');
  expect(second).toContain('You: refused now: it is frozen.');
  expect(second).toContain('Frozen: Everything tagged staging between');
});

test('without a service, each rule that can decide is shown', async () => {
  const sandbox = await startTestSandbox();
  const text = await who(sandbox, DORA, 'service stop');
  expect(text).toContain('everything tagged prod');
  expect(text).toContain('Applies to: everything');
  expect(text).toContain('You: refused: this rule does not admit you.');
});

test('freezes and forbidden commands are shown with their reasons', async () => {
  const sandbox = await startTestSandbox({
    yaml: (file) => ({
      ...(file as object),
      never: [
        { commands: ['service stop'], on: { tags: ['prod'] }, reason: 'The shop runs on it' },
      ],
      freezes: [{ from: '2026-11-20T00:00Z', until: '2026-11-21T00:00Z', reason: 'sale' }],
    }),
  });
  const stop = await who(sandbox, ANA, 'service stop analytics-prod');
  expect(stop).toContain('Never (not even with break-glass): The shop runs on it');
  expect(stop).toContain('You: refused, like everyone.');
  const start = await who(sandbox, ANA, 'service start analytics-prod');
  expect(start).toContain('Frozen: Everything between');
  expect(start).toContain('You: refused now: it is frozen.');

  await sandbox.slack.command(ANA, 'ops', '/service stop analytics-prod because');
  const refused = textOf(await sandbox.privateMessage(ANA, 'The policy never allows'));
  expect(refused).toContain('The shop runs on it');
});

test.for<[string, string]>([
  ['service stp analytics-prod', "There's no command called “service stp”"],
  ['service stop analytic-prod', "There's no service called “analytic-prod”"],
  ['service stop staging tag=prod', 'Name exactly one of'],
])('%s is rejected with an explanation', async ([about, words]) => {
  const sandbox = await startTestSandbox();
  await sandbox.ask(ANA, `/change who ${about}`, words);
});

test('the rules for a freeze of a tag and for its end are shown', async () => {
  const sandbox = await startTestSandbox();
  expect(await who(sandbox, ANA, 'change unfreeze analytics-prod')).toContain('1 of @db-leads');
  const text = await who(sandbox, ANA, 'change freeze tag=staging');
  expect(text).toContain('Who may use /change freeze on everything tagged staging');
  expect(text).toContain('Applies to: everything');
});
