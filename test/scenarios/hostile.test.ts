import { expect, test } from 'vitest';
import { ORGANIZATION } from '../../sandbox/seed/organization.ts';
import { textOf } from '../harness/messages.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN } from '../harness/users.ts';

const NAME = '<!channel> & <@U0BEN00001> *x*';
const ID = 'e9549d7a-e406-489d-aabe-f8aaea52111d';

const organization = {
  ...ORGANIZATION,
  services: ORGANIZATION.services.map((service) =>
    service.id === ID ? { ...service, name: NAME } : service,
  ),
};

test('a service name with markup is shown literally and mentions nobody', async () => {
  // The configuration accepts plain names only, so this name comes from the usage report.
  const yaml = (file: object) => ({ ...file, services: [], policy: openPolicy() });
  const sandbox = await startTestSandbox({ organization, yaml });
  await expect
    .poll(async () => {
      await sandbox.slack.command(ANA, 'ops', '/service list');
      return sandbox.slack
        .clientState(ANA)
        .messages.some((message) => textOf(message).includes('<!channel> & '));
    })
    .toBe(true);

  await sandbox.confirm(ANA, `/service stop ${ID} <!here> & *bold* \`code\``, 'Stop ');
  const card = await sandbox.card('requests: ');
  const blocks = JSON.stringify(card?.blocks);
  expect(blocks).toContain(NAME);
  expect(card?.text).not.toMatch(/<!(?!date)/);
  await sandbox.press(BEN, card, 'change.approve');
  await sandbox.card(' is stopping');
  const posted = sandbox.slack.mentions().filter(({ via }) => via === 'post');
  expect(posted.map(({ kind }) => kind)).not.toContain('channel');
  expect(posted.map(({ kind }) => kind)).not.toContain('here');
  expect(posted.map(({ target }) => target)).not.toContain(BEN);
  expect(textOf(card)).toContain('*bold*');
});

function openPolicy() {
  return [
    { allow: ['service list', 'service show'], to: 'viewer' },
    { allow: ['service stop'], to: 'operator', approvals: { from: 'approver', count: 1 } },
  ];
}
