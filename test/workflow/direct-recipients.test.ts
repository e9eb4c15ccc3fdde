import { expect, test } from 'vitest';
import type { Change, UserId } from '../../src/domain/change.ts';
import { directRecipients } from '../../src/workflow/cards.ts';
import { changeIn, minutes, NOON, REQUIRES } from '../domain/changes-fixtures.ts';
import { ana, ben, channel, cleo, user } from './context.ts';

const dora = user('UDORA');
const CARD = { channel: channel('CDEV'), ts: '1.2' };
const PENDING = { requester: ana, card: CARD, approvals: [], confirmedAt: NOON };
const ESCALATES = { escalation: { to: 'chief', afterMs: 600_000 } };
const ROLES: Readonly<Record<string, readonly UserId[] | null>> = {
  approver: [ana, ben, cleo],
  chief: [dora],
};

interface Circumstances {
  readonly notify?: 'channel' | 'dm' | 'both';
  readonly change?: Partial<Change>;
  readonly absent?: readonly UserId[] | null;
  readonly roles?: typeof ROLES;
  readonly now?: Date;
}

async function recipients({
  notify = 'dm',
  change = {},
  absent = [ben],
  roles = ROLES,
  now = NOON,
}: Circumstances) {
  const found = directRecipients({
    notify,
    someOf: async (role) => roles[role] ?? null,
    messenger: {
      absentAmong: async (_channel, users) => absent && users.filter((one) => absent.includes(one)),
    },
    now: () => now,
  });
  return found.of(changeIn('pending', { ...PENDING, ...change }));
}

const LATER = minutes(10);
const many = Array.from({ length: 30 }, (_, n) => user(`U${n}`));

const both = (change: Partial<Change>, now = NOON): Circumstances => ({
  notify: 'both',
  change,
  now,
});
const of = (over: Partial<Change['requires']>) => ({ requires: { ...REQUIRES, ...over } });
const DIRECT = { card: { ...CARD, channel: channel('D1') } };

test.for<[string, Circumstances, readonly UserId[]]>([
  ['approvers who are not in the channel', {}, [ben]],
  ['all approvers but the requester', both({}), [ben, cleo]],
  ['the requester, if the rule allows it', both(of({ self: true })), [ana, ben, cleo]],
  ['nobody who has approved', both({ approvals: [{ by: ben, at: NOON }] }), [cleo]],
  ['nobody, if Slack does not answer who is in the channel', { absent: null }, []],
  ['nobody, if Slack does not answer who may approve', { roles: { approver: null } }, []],
  ['all, if the card is in no channel', { change: { card: null } }, [ben, cleo]],
  ['nobody with notify: channel', { notify: 'channel' }, []],
  ['all with it in no channel', { notify: 'channel', change: { card: null } }, [ben, cleo]],
  ['all, if the card is in a direct message', { change: DIRECT }, [ben, cleo]],
  ['nobody of a later role before its time', both(of(ESCALATES)), [ben, cleo]],
  ['a later role from its time on', both(of(ESCALATES), LATER), [ben, cleo, dora]],
  ['20 users of a role', { notify: 'both', roles: { approver: many } }, many.slice(0, 20)],
])('a card goes to %s', async ([, given, expected]) => {
  expect(await recipients(given)).toEqual(expected);
});
