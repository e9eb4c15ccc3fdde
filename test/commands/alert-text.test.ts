import { describe, expect, test } from 'vitest';
import { alertEdit } from '../../src/commands/alert-edit.ts';
import { currentTile } from '../servers/alerts-replies.ts';
import { comparedWith, serving } from './alert-comparison.ts';

/** How the alert that was shown compares with this reply. */
async function seen(reply: object) {
  const { before } =
    (await alertEdit.observe?.({ alert: { id: 'a1' } }, serving(currentTile))) ?? {};
  return (await comparedWith(before ?? null, reply))?.kind;
}

describe('an alert that was shown and is read again', () => {
  test.for<[string, object]>([
    ['fired meanwhile', { state: 'OK', updatedAt: 'later' }],
    ['was silenced', { silenced: null }],
    ['failed to run', { executionErrors: ['x'] }],
  ])('is the same when it %s', async ([, changed]) => {
    expect(await seen({ ...currentTile, ...changed })).toBe('same');
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
    expect(await seen({ ...currentTile, ...changed })).toBe('differs');
  });
});
