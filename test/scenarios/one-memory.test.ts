import { expect, test } from 'vitest';
import { textOf } from '../harness/messages.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA } from '../harness/users.ts';
import { emptyUrl } from '../storage/engines.ts';

const READS = ['get service', 'list services'];

/** A sandbox in which a service was shown once; then no read of the server is answered any more. */
async function afterwards(line: string, words: string) {
  const sandbox = await startTestSandbox({
    databaseUrl: await emptyUrl('sqlite'),
    yaml: (file) => ({ ...file, cloud: { reads: 'extended' } }),
  });
  const { pass } = sandbox;
  const answer = async (typed: string, about: string) => {
    pass(11_000);
    await sandbox.slack.command(ANA, 'ops', typed);
    return textOf(await sandbox.privateMessage(ANA, about));
  };
  const shown = await answer(line, words);
  for (const operation of READS) {
    sandbox.cloud.injectFault({ operation, fault: '504', times: 999 });
  }
  // The list of services was cached for a minute.
  pass(61_000);
  return { ...sandbox, answer, shown };
}

test('a service that was shown as running is never “never seen” afterwards', async () => {
  const { answer, shown, restart } = await afterwards('/service show finance', 'checked just now');
  expect(shown).toContain('running (checked just now)');
  const later = await answer('/service show finance', 'when last seen');
  expect(later).toContain('running when last seen');
  expect(later).not.toContain('never');
  const list = await answer('/service list', 'services');
  expect(list).toMatch(/finance[^\n]* running/);
  const preview = await answer('/service stop finance "month end"', 'Stop finance?');
  expect(preview).toContain('last seen running');
  expect(preview).not.toContain('never seen');
  await restart((file) => ({ ...file, cloud: { reads: 'extended' } }));
  expect(await answer('/service show finance details', 'Seen in')).toContain('running');
});

test('a service that was only listed is known as well, and its form has the values of the list', async () => {
  const sandbox = await afterwards('/service list', 'services');
  expect(await sandbox.answer('/service show finance', 'when last seen')).toContain('running');
  await sandbox.slack.command(ANA, 'ops', '/service scale finance');
  const view = await sandbox.modal(ANA, 'service.scale');
  const form = () => sandbox.slack.clientState(ANA).views.find(({ id }) => id === view);
  await expect.poll(() => JSON.stringify(form())).toContain('Last seen ');
  const sizes = { minReplicaMemoryGb: '8', idleScaling: 'on' };
  for (const [field, value] of Object.entries(sizes)) {
    const block = form()?.blocks.find(({ block_id: id }) => id === field);
    expect(JSON.stringify(block), field).toMatch(
      new RegExp(`"initial_(option|value)":[^[]*"${value}"`),
    );
  }
  // What nobody changed is not requested.
  const text = (value: string) => ({ type: 'plain_text_input', value });
  await sandbox.slack.submit(ANA, view, {
    service: { service: { type: 'static_select', selected_option: { value: 'finance' } } },
    minReplicaMemoryGb: {
      minReplicaMemoryGb: { type: 'static_select', selected_option: { value: '8' } },
    },
    numReplicas: { numReplicas: text('3') },
    reason: { reason: text('load') },
  });
  const preview = await sandbox.privateMessage(ANA, 'Scale finance?');
  expect(preview?.text).not.toContain('memory per replica');
});
