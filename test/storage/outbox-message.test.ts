import { expect, test } from 'vitest';
import {
  decodeMessage,
  encodeMessage,
  type OutboxMessage,
} from '../../src/storage/old/outbox-message.ts';
import { ben, newId } from './example-change.ts';

const changeId = newId();

test.for<[string, OutboxMessage]>([
  ['card', { changeId, kind: 'card' }],
  ['card-repost', { changeId, kind: 'card-repost' }],
  ['audit', { changeId, kind: 'audit' }],
  ['unfreeze-offer', { changeId, kind: 'unfreeze-offer' }],
  ['thread:failed', { changeId, kind: 'thread', state: 'failed' }],
  ['direct:expired', { changeId, kind: 'direct', state: 'expired' }],
  ['break-glass:used', { changeId, kind: 'break-glass', event: 'used' }],
  ['break-glass:reviewed', { changeId, kind: 'break-glass', event: 'reviewed' }],
  ['audit-break-glass:used', { changeId, kind: 'audit-break-glass', event: 'used' }],
  ['audit-break-glass:reviewed', { changeId, kind: 'audit-break-glass', event: 'reviewed' }],
  ['remind:waiting:1', { changeId, kind: 'reminder', reminder: 'waiting', number: 1 }],
  ['remind:escalated:2', { changeId, kind: 'reminder', reminder: 'escalated', number: 2 }],
  ['remind:unknown:60', { changeId, kind: 'reminder', reminder: 'unknown', number: 60 }],
  ['schedule:end', { changeId, kind: 'schedule-note', key: 'end', text: 'It ended.' }],
  ['revert-stopped', { changeId, kind: 'revert-stopped', why: 'gone' }],
  ['direct-cards', { changeId, kind: 'direct-cards' }],
  ['direct-card:UBEN', { changeId, kind: 'direct-card', user: ben }],
  ['report', { kind: 'report', body: { key: 'anchor' } }],
  ['redraw', { kind: 'redraw', body: { key: 'anchor' } }],
])('a message that is stored as %s is read back as it was', ([kind, message]) => {
  const stored = encodeMessage(message);
  expect(stored).toMatchObject({ kind, changeId: message.changeId ?? null });
  expect(decodeMessage(stored)).toEqual(message);
});

test.for(['thread:melted', 'remind:something:1', 'break-glass:something', 'digest', 'report'])(
  'a message of a change whose kind %s is unknown is not delivered',
  (kind) => {
    expect(decodeMessage({ changeId, kind, body: null })).toBeNull();
  },
);

test('a message kind of a change is not decoded without a change', () => {
  expect(decodeMessage({ changeId: null, kind: 'card', body: null })).toBeNull();
});
