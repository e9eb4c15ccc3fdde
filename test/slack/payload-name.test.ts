import { expect, test } from 'vitest';
import { OVERFLOW } from '../../src/slack/blocks.ts';
import { payloadName } from '../../src/slack/middleware.ts';

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
