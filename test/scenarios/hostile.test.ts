import { expect, test } from 'vitest';
import { ORGANIZATION } from '../../sandbox/seed/organization.ts';
import { empty } from './request.ts';
import { ANA, BEN, openStage, textOf } from './stage.ts';

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
  const stage = await openStage({ organization, yaml });
  await expect
    .poll(async () => {
      await stage.slack.command(ANA, 'ops', '/service list');
      return stage.slack
        .clientState(ANA)
        .messages.some((message) => textOf(message).includes('<!channel> & '));
    })
    .toBe(true);

  await stage.slack.command(ANA, 'ops', `/service stop ${ID} <!here> & *bold* \`code\``);
  await stage.press(ANA, await stage.privateWord(ANA, 'Stop '), 'change.confirm');
  const card = await stage.card('waiting for approval');
  const blocks = JSON.stringify(card?.blocks);
  expect(blocks).toContain(NAME);
  expect(card?.text).not.toMatch(/<!(?!date)/);
  await stage.press(BEN, card, 'change.approve');
  await stage.card('accepted');
  const posted = stage.slack.mentions().filter(({ via }) => via === 'post');
  expect(posted.map(({ kind }) => kind)).not.toContain('channel');
  expect(posted.map(({ kind }) => kind)).not.toContain('here');
  expect(posted.map(({ target }) => target)).not.toContain(BEN);
  expect(textOf(card ?? empty)).toContain('*bold*');
});

function openPolicy() {
  return [
    { allow: ['service list', 'service show'], to: 'viewer' },
    { allow: ['service stop'], to: 'operator', approvals: { from: 'approver', count: 1 } },
  ];
}
