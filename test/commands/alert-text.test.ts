import { describe, expect, test } from 'vitest';
import { alertEdit } from '../../src/commands/alert-edit.ts';
import type { CommandContext } from '../../src/commands/define.ts';
import { Alert } from '../../src/servers/alerts-schema.ts';
import { NOON } from '../domain/changes-fixtures.ts';
import { currentTile } from '../servers/alerts-replies.ts';

/** What makes a preview stale where it is another one. */
async function seen(reply: object) {
  const getAlert = async () => ({ result: Alert.parse(reply), requestId: null });
  // The read of an alert needs the client and the clock only.
  const context = { alerts: { getAlert }, now: () => NOON } as unknown as CommandContext;
  const alert = { kind: 'alert', id: 'a1', name: 'a1', tags: [], warehouse: null } as const;
  return (await alertEdit.readBeforeSending?.(alert, context))?.fields;
}

describe('an alert that was shown and is read again', () => {
  test.for<[string, object]>([
    ['fired meanwhile', { state: 'OK', updatedAt: 'later' }],
    ['was silenced', { silenced: null }],
    ['failed to run', { executionErrors: ['x'] }],
  ])('is the same when it %s', async ([, changed]) => {
    expect(await seen({ ...currentTile, ...changed })).toEqual(await seen(currentTile));
  });

  test.for<[string, object]>([
    ['another threshold', { threshold: 101 }],
    ['another name', { name: 'x' }],
    ['a note less', { note: undefined }],
    ['a channel less', { channels: [currentTile.channels[0]] }],
    ['a key inside a channel', { channel: { type: 'webhook', webhookId: 'w1', a: 1 } }],
    ['another source', { source: 'saved_search' }],
    ['a field we do not know', { runbook: 'x' }],
  ])('is stale with %s', async ([, changed]) => {
    expect(await seen({ ...currentTile, ...changed })).not.toEqual(await seen(currentTile));
  });
});
