import { expect, test } from 'vitest';
import type { ChangeId, ChannelId } from '../../src/domain/change.ts';
import { inheritChange, planDigest } from '../../src/domain/draft.ts';
import { ben, changeIn, minutes, NOON, PLAN } from './changes-fixtures.ts';

const OWN = {
  id: 'REVERT' as ChangeId,
  command: 'service start',
  plan: { ...PLAN, body: { command: 'start' } },
  now: NOON,
  notBefore: minutes(60),
  expiresAt: minutes(120),
  parent: 'K3M9QD' as ChangeId,
};

test('a revert is approved, with requester, reason, requirement and approvals of its change', () => {
  const breakGlass = { by: ben.id, at: minutes(-3), reason: 'the disk is full' };
  const approved = changeIn('succeeded', { breakGlass });
  const { requester, reason, requires, approvals, confirmedAt, origin } = approved;
  const { now, ...own } = OWN;
  expect(inheritChange(approved, OWN)).toMatchObject({
    ...own,
    ...{ requester, reason, requires, approvals, breakGlass, confirmedAt, origin },
    digest: planDigest({ command: own.command, requester, reason, plan: own.plan, requires }),
    state: 'approved',
    version: 1,
    createdAt: now,
  });
});

test('a revert has no outcome, resolution, review, lease or card of its change', () => {
  const approved = changeIn('succeeded', {
    resolution: { by: ben.id, at: NOON, happened: true, note: 'I saw it' },
    review: { by: ben.id, at: NOON, note: 'fine' },
    lease: { owner: 'replica-1', until: NOON },
    card: { channel: 'C0OPS' as ChannelId, ts: '1.2' },
    stopReason: 'frozen',
    revertAt: NOON,
    child: { id: OWN.id, state: 'approved' },
  });
  expect(inheritChange(approved, OWN)).toMatchObject({
    ...{ outcome: null, resolution: null, review: null, lease: null, card: null },
    ...{ stopReason: null, revertAt: null, child: undefined },
    ...{ rejection: null, cancelledBy: null },
  });
});
