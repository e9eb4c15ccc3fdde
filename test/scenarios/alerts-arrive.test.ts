import { expect, test } from 'vitest';
import { buttonsOf, textOf } from '../harness/messages.ts';
import { NO_MESSAGE } from '../harness/requests.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA } from '../harness/users.ts';

const SECRET = 'a-secret-path-of-thirty-two-letters';
const SLOW_QUERIES = 'd89ded1cd0202f913c62d284';
const HOSTILE = '5b31b04e494986869810107b';

/** The bot, to which the alerts simulator delivers its webhook. */
async function sandboxWithAlerts() {
  const sandbox = await startTestSandbox({
    env: { ALERTS_WEBHOOK_SECRET: SECRET },
    yaml: (file: object) => ({
      ...file,
      alerts: [{ channel: '#ops' }],
    }),
  });
  sandbox.alerts.deliverTo(`${sandbox.url}/alerts/${SECRET}`);
  const cards = () => sandbox.slack.messages('ops').filter((each) => /^[⚠●] /.test(textOf(each)));
  /** Lets an alert fire or recover, and waits until a message says so. */
  const turn = async (id: string, to: 'firing' | 'resolved', says: RegExp) => {
    expect(await sandbox.alerts.turn(id, to)).toBe(202);
    sandbox.clock.now = new Date(sandbox.clock.now.getTime() + 3_000);
    await expect.poll(() => cards().map(textOf).join('\n')).toMatch(says);
  };
  return { sandbox, cards, turn };
}

test('an alert that fires is a message, which follows it until it is ok', async () => {
  const { cards, turn } = await sandboxWithAlerts();
  await turn(SLOW_QUERIES, 'firing', /⚠ Slow queries is firing: 35, threshold above 25/);
  const [card, ...others] = cards();
  expect(others).toEqual([]);
  expect(textOf(card ?? NO_MESSAGE)).toContain(
    'analytics-prod · group analytics-prod, etl · since ',
  );
  expect(buttonsOf(card ?? NO_MESSAGE)).toEqual(['command.0', 'command.1', 'command.2']);
  await turn(SLOW_QUERIES, 'resolved', /● Slow queries is ok again: 15, threshold above 25/);
  expect(cards()).toMatchObject([{ ts: card?.ts }]);
});

test('a message that Slack lets be edited no more goes on in replies, and a refused one is reported', async () => {
  const { sandbox, cards, turn } = await sandboxWithAlerts();
  await turn(SLOW_QUERIES, 'firing', /⚠ Slow queries is firing/);
  const [card] = cards();
  const update = { method: 'chat.update', times: 1 };
  sandbox.slack.failNext({ ...update, how: { error: 'edit_window_closed' } });
  await turn(SLOW_QUERIES, 'resolved', /● Slow queries is ok again/);
  expect(cards()).toMatchObject([{ threadTs: null }, { threadTs: card?.ts }]);
  await turn(SLOW_QUERIES, 'firing', /(⚠ Slow queries is firing.*){1}/);
  sandbox.slack.failNext({ ...update, how: { error: 'a_new_error' } });
  await sandbox.alerts.turn(SLOW_QUERIES, 'resolved');
  sandbox.clock.now = new Date(sandbox.clock.now.getTime() + 3_000);
  await expect
    .poll(() => sandbox.slack.messages('db-audit').map(textOf).join())
    .toContain('was not updated: Slack refused it (a_new_error)');
});

test('its buttons open the forms of the alert and of the service, for the person who presses', async () => {
  const { sandbox, cards, turn } = await sandboxWithAlerts();
  await turn(SLOW_QUERIES, 'firing', /⚠ Slow queries/);
  await sandbox.press(ANA, cards()[0], 'command.0');
  await sandbox.modal(ANA, 'alert.edit');
  await sandbox.press(ANA, cards()[0], 'command.2');
  await sandbox.modal(ANA, 'service.scale');
  await sandbox.press(ANA, cards()[0], 'command.1');
  await sandbox.privateMessage(ANA, 'analytics-prod');
});

test('texts of an alert notify nobody and link nowhere', async () => {
  const { sandbox, turn } = await sandboxWithAlerts();
  const before = sandbox.slack.clientState(ANA).channels;
  await turn(HOSTILE, 'firing', /is firing/);
  const { messages, channels } = sandbox.slack.clientState(ANA);
  expect(messages.at(-1)?.text).toContain('&lt;!channel&gt; R&amp;D');
  expect(channels.map(({ notifications }) => notifications)).toEqual(
    before.map(({ notifications }) => notifications),
  );
});
