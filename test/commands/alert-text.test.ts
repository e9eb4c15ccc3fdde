import { describe, expect, test } from 'vitest';
import { alertSnapshot } from '../../src/commands/alert-edit.ts';
import { Alert } from '../../src/servers/alerts-schema.ts';
import { NOON } from '../domain/changes-fixtures.ts';
import { currentTile } from '../servers/alerts-replies.ts';

/** What makes a preview stale where it is another one. */
const seen = (reply: object) => alertSnapshot(Alert.parse(reply), NOON).fields;

describe('an alert that was shown and is read again', () => {
  test.for<[string, object]>([
    ['fired meanwhile', { state: 'OK', updatedAt: 'later' }],
    ['was silenced', { silenced: null }],
    ['failed to run', { executionErrors: ['x'] }],
  ])('is the same when it %s', ([, changed]) => {
    expect(seen({ ...currentTile, ...changed })).toEqual(seen(currentTile));
  });

  test.for<[string, object]>([
    ['another threshold', { threshold: 101 }],
    ['another name', { name: 'x' }],
    ['a note less', { note: undefined }],
    ['a channel less', { channels: [currentTile.channels[0]] }],
    ['a key inside a channel', { channel: { type: 'webhook', webhookId: 'w1', a: 1 } }],
    ['another source', { source: 'saved_search' }],
    ['a field we do not know', { runbook: 'x' }],
  ])('is stale with %s', ([, changed]) => {
    expect(seen({ ...currentTile, ...changed })).not.toEqual(seen(currentTile));
  });
});
