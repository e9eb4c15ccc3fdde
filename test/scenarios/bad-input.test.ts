import { expect, test } from 'vitest';
import { STAGING } from './request.ts';
import { ANA, buttonsOf, openStage, textOf } from './stage.ts';

const empty = { text: '', blocks: [] };

test.for([
  ['/service stopp staging', 'no command /service stopp', 'service stop staging'],
  ['/service stop stagign', "There's no service called “stagign”", 'service stop staging'],
  [
    '/service show analytics',
    "There's no service called “analytics”",
    'service show analytics-prod',
  ],
])('for %s the nearest command is offered', async ([line = '', sentence = '', offer = '']) => {
  const stage = await openStage();
  await stage.slack.command(ANA, 'ops', line);
  const answer = (await stage.privateWord(ANA, sentence)) ?? empty;
  expect(textOf(answer)).toContain(`"value":"${offer}"`);
  expect(buttonsOf(answer)).toContain('command.0');
});

test('a button runs the offered command for the user who presses it', async () => {
  const stage = await openStage();
  await stage.slack.command(ANA, 'ops', '/service stop stagin at last');
  const offers = await stage.privateWord(ANA, "There's no service called “stagin”");
  await stage.press(ANA, offers, 'command.0');
  await stage.privateWord(ANA, 'Stop staging?');
});

test.for([
  `/service stop ${STAGING.toUpperCase()} by its id`,
  '/service stop STAGING in other case',
  '/service stop “staging” “with smart quotes”',
  '/service  stop   "staging"  for the night',
  '/service STOP staging for the night',
])('%s selects the service staging', async (line) => {
  const stage = await openStage();
  await stage.slack.command(ANA, 'ops', line);
  await stage.privateWord(ANA, 'Stop staging?');
});

test('a command with missing arguments opens a form, and submitting it shows a preview', async () => {
  const stage = await openStage();
  await stage.slack.command(ANA, 'ops', '/service stop');
  const view = await stage.modal(ANA, 'service.stop');
  const found = await stage.slack.suggest({
    as: ANA,
    place: { in: 'view', viewId: view },
    blockId: 'service',
    actionId: 'service',
    value: 'stag',
  });
  const [option] = found.options;
  expect(option).toMatchObject({ value: STAGING });
  await stage.slack.submit(ANA, view, {
    service: { service: { type: 'external_select', selected_option: option } },
    reason: { reason: { type: 'plain_text_input', value: 'by form' } },
  });
  const preview = (await stage.privateWord(ANA, 'Stop staging?')) ?? empty;
  expect(textOf(preview)).toContain('by form');
});

test('a change of a prod service without a reason opens a form that keeps the typed values', async () => {
  const stage = await openStage();
  await stage.slack.command(ANA, 'ops', '/service stop analytics-prod');
  const view = await stage.modal(ANA, 'service.stop');
  const shown = JSON.stringify(
    stage.slack.clientState(ANA).views.find(({ id }) => id === view)?.blocks,
  );
  expect(shown).toContain('Add a reason for the approvers');
  expect(shown).toContain('analytics-prod');
});

test('an edited preview replaces the first one, which can no longer be confirmed', async () => {
  const stage = await openStage();
  await stage.slack.command(ANA, 'ops', '/service stop staging for the night');
  const first = await stage.privateWord(ANA, 'Stop staging?');
  await stage.press(ANA, first, 'change.edit');
  const view = await stage.modal(ANA, 'service.stop');
  await stage.slack.submit(ANA, view, {
    service: {
      service: {
        type: 'external_select',
        selected_option: { text: { type: 'plain_text', text: 'staging' }, value: STAGING },
      },
    },
    reason: { reason: { type: 'plain_text_input', value: 'for the week' } },
  });
  await stage.privateWord(ANA, 'for the week');
  await stage.press(ANA, first, 'change.confirm');
  await stage.privateWord(ANA, 'Nothing was changed');
  expect(stage.slack.messages('db-approvals')).toEqual([]);
});

test('the edit form of a preview contains the typed values', async () => {
  const stage = await openStage();
  await stage.slack.command(ANA, 'ops', '/service stop staging for the night');
  await stage.press(ANA, await stage.privateWord(ANA, 'Stop staging?'), 'change.edit');
  const view = await stage.modal(ANA, 'service.stop');
  const shown = JSON.stringify(
    stage.slack.clientState(ANA).views.find(({ id }) => id === view)?.blocks,
  );
  expect(shown).toContain('for the night');
  expect(shown).toContain(STAGING);
});

test('a second click on confirm posts no second card', async () => {
  const stage = await openStage();
  await stage.slack.command(ANA, 'ops', '/service stop staging for the night');
  const preview = await stage.privateWord(ANA, 'Stop staging?');
  await Promise.all([
    stage.press(ANA, preview, 'change.confirm'),
    stage.press(ANA, preview, 'change.confirm'),
  ]);
  await stage.card('waiting for approval');
  await stage.privateWord(ANA, 'Sent to #db-approvals');
  expect(stage.slack.messages('db-approvals')).toHaveLength(1);
  expect(stage.slack.messages('db-approvals')).toHaveLength(1);
});

test('help is available to every user and lists the permitted commands first', async () => {
  const stage = await openStage();
  await stage.slack.command('U0DORA0001', 'ops', '/signalbox');
  const help = textOf((await stage.privateWord('U0DORA0001', 'Commands of Signalbox')) ?? empty);
  expect(help.indexOf('/service list')).toBeLessThan(help.indexOf('You do not have the role'));
  expect(help.indexOf('You do not have the role')).toBeLessThan(help.indexOf('/service stop'));
});

test('/service list shows every service of the configuration', async () => {
  const stage = await openStage();
  await stage.slack.command(ANA, 'ops', '/service list');
  const list = textOf((await stage.privateWord(ANA, '12 services')) ?? empty);
  for (const name of ['analytics-prod', 'staging', 'archive']) expect(list).toContain(name);
});
