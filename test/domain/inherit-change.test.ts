import { expect, test } from 'vitest';
import type { ChangeId, ChannelId } from '../../src/domain/change.ts';
import { inheritChange, planDigest } from '../../src/domain/draft.ts';
import { foldOf } from '../../src/domain/fold.ts';
import { ben, changeIn, LEASE, minutes, NOON, PLAN } from './changes-fixtures.ts';

const OWN = {
  command: 'service start',
  plan: { ...PLAN, body: { command: 'start' } },
  notBefore: minutes(60),
  expiresAt: minutes(120),
  parent: 'K3M9QD' as ChangeId,
};
const ID = 'REVERT' as ChangeId;

function inherited(approved: Parameters<typeof inheritChange>[0]) {
  const recorded = { seq: 1, version: 1, at: NOON.getTime(), hash: 'h' };
  return foldOf(ID)(null, { ...inheritChange(approved, OWN), ...recorded });
}

test('a revert is approved, with requester, reason, requirement and approvals of its change', () => {
  const breakGlass = { by: ben.id, at: minutes(-3), reason: 'the disk is full' };
  const approved = changeIn('succeeded', { breakGlass });
  const { organization, requester, reason, requires, approvals, confirmedAt } = approved;
  const { command, plan } = OWN;
  expect(inherited(approved)).toMatchObject({
    ...OWN,
    id: ID,
    organization,
    ...{ requester, reason, requires, approvals, breakGlass, confirmedAt },
    digest: planDigest({ organization, command, requester, reason, plan, requires }),
    state: 'approved',
    version: 1,
    createdAt: NOON,
  });
});

test('a revert has no outcome, resolution, review, lease or card of its change', () => {
  const approved = changeIn('succeeded', {
    resolution: { by: ben.id, at: NOON, happened: true, note: 'I saw it' },
    review: { by: ben.id, at: NOON, note: 'fine' },
    lease: LEASE,
    card: { channel: 'C0OPS' as ChannelId, ts: '1.2' },
    stopReason: 'frozen',
    revertAt: NOON,
    child: { id: ID, state: 'approved' },
  });
  expect(inherited(approved)).toMatchObject({
    ...{ outcome: null, resolution: null, review: null, lease: null, card: null },
    ...{ stopReason: null, revertAt: null },
    ...{ rejection: null, cancelledBy: null },
  });
});
