import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { freshUrl } from '../storage/engines.ts';
import { ask, empty } from './request.ts';
import { ANA, BEN, openStage, textOf } from './stage.ts';

test('while another program locks the database file nothing is lost, and Signalbox recovers afterwards', async () => {
  const databaseUrl = await freshUrl('sqlite');
  const stage = await openStage({ databaseUrl });
  const card = (await ask(stage)) ?? { channel: '', ts: '' };
  const place = { in: 'message', channel: card.channel, ts: card.ts } as const;
  const ready = async () => {
    const answer = await fetch(`${stage.url}/readyz`);
    return { status: answer.status, says: (await answer.text()).trim() };
  };
  const other = new DatabaseSync(databaseUrl.slice('file:'.length));
  other.exec('begin immediate');

  expect(await ready()).toEqual({
    status: 503,
    says: 'Another program locks the database. Stop that program, then try again.',
  });
  expect((await fetch(`${stage.url}/healthz`)).status).toBe(200);
  await stage.slack.command(ANA, 'ops', '/service start staging');
  await stage.privateWord(ANA, 'Signalbox cannot reach its database');
  expect((await stage.slack.click(BEN, place, 'change.approve')).error).toBeTruthy();
  await stage.privateWord(BEN, 'your click was not recorded');

  other.exec('rollback');
  other.close();
  await expect.poll(ready).toEqual({ status: 200, says: 'ready' });
  expect(textOf((await stage.card('waiting for approval')) ?? empty)).toContain('0 of 1');
  expect((await stage.slack.click(BEN, place, 'change.approve')).error).toBeNull();
  await stage.card('Stop staging: accepted');
  expect(stage.cloud.count('set state')).toBe(1);
});

test('the reason of a rejection stays in its form while it cannot be stored', async () => {
  const databaseUrl = await freshUrl('sqlite');
  const stage = await openStage({ databaseUrl });
  const card = await ask(stage);
  await stage.press(BEN, card, 'change.reject');
  const form = await stage.modal(BEN, 'change.reject');
  const other = new DatabaseSync(databaseUrl.slice('file:'.length));
  other.exec('begin immediate');
  const value = 'Not during the sale';
  const words = { reason: { reason: { type: 'plain_text_input', value } } };
  await stage.slack.submit(BEN, form, words);
  const still = stage.slack.clientState(BEN).views.find(({ id }) => id === form);
  expect(still?.errors.reason).toContain('cannot reach its database');
  other.exec('rollback');
  other.close();
  await stage.slack.submit(BEN, form, words);
  await stage.card('Stop staging: rejected');
});
