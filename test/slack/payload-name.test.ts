import { setImmediate as turn } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { OVERFLOW } from '../../src/slack/blocks.ts';
import { payloadName, startListening } from '../../src/slack/middleware.ts';

const chosen = (value: string) => ({
  type: 'block_actions',
  actions: [{ action_id: OVERFLOW, selected_option: { value } }],
});

test.for<[Readonly<Record<string, unknown>>, string]>([
  [{ command: '/db-service', text: 'stop canary' }, 'command service'],
  [{ command: '/db-signalbox' }, 'command signalbox'],
  [{ command: '/db-A canary' }, 'command other'],
  [{ type: 'block_actions', actions: [{ action_id: 'change.approve' }] }, 'press change.approve'],
  [chosen('change.break-glass K3M9QD'), 'press change.break-glass'],
  [chosen('K3M9QD canary'), 'press other'],
  [{ type: 'block_actions', actions: [{ action_id: OVERFLOW }] }, 'press other'],
  [{ type: 'block_actions', actions: [{ action_id: 'command.canary' }] }, 'press command'],
  [{ type: 'block_actions', actions: [{ action_id: 'a canary' }] }, 'press other'],
  [{ type: 'block_actions', actions: 'canary' }, 'press other'],
  [{ type: 'view_submission', view: { callback_id: 'service.scale' } }, 'submit service.scale'],
  [{ type: 'view_submission', view: { callback_id: 'change.reject' } }, 'submit change.reject'],
  [{ type: 'view_submission', view: null }, 'submit other'],
  [{ type: 'shortcut', callback_id: 'service.stop' }, 'shortcut service.stop'],
  [{ type: 'message_action', callback_id: 'canary'.repeat(9) }, 'shortcut other'],
  [{ type: 'block_suggestion', value: 'canary' }, 'suggest'],
  [{ type: 'event_callback', event: { type: 'user_change' } }, 'event user_change'],
  [{ type: 'event_callback', event: { type: '<canary>' } }, 'event other'],
  [{ type: 'canary' }, 'payload other'],
  [{}, 'payload other'],
])('%j is called %s', ([body, name]) => {
  expect(payloadName(body, 'db-')).toBe(name);
});

test('payloads that arrived together are acknowledged before the work on the first one', async () => {
  const order: string[] = [];
  const app = {
    error: () => undefined,
    use: () => undefined,
    processEvent: async ({ body, ack }: Sent) => {
      await ack();
      order.push(`work on ${body.text}`);
    },
  };
  const bot = {
    ...{ commands: [], prefix: '', log: pino({ level: 'silent' }) },
    context: { now: () => new Date(0), measures: { acknowledged: () => undefined } },
  };
  const parts = { actors: { idOf: async (user: string) => user }, installation: {}, appId: '' };
  startListening(app as never, bot as never, parts as never);
  const send = async (text: string) => {
    // Node reads them in one turn, and finishes what one begins before it hands over the next.
    await turn();
    const body = { command: '/service', user_id: 'U1', text };
    await app.processEvent({ body, ack: async () => void order.push(`answer to ${text}`) });
  };
  await Promise.all([send('one'), send('two')]);
  expect(order).toEqual(['answer to one', 'answer to two', 'work on one', 'work on two']);
});

interface Sent {
  readonly body: { readonly text: string };
  readonly ack: () => Promise<void>;
}
