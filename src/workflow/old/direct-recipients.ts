import { decidingRoles } from '../../domain/approvals.ts';
import type { Change, RoleName, UserId } from '../../domain/change.ts';
import type { Messenger } from './messenger-port.ts';

/** The users who get the card of a pending change as a direct message. */
export interface DirectRecipients {
  /** Whether they get it with every request, or only where the channel did not get the card. */
  readonly onRequest: boolean;
  readonly of: (change: Change) => Promise<readonly UserId[]>;
}

/** Of more approvers in one role, these many are looked up; the others read the channel. */
const MOST = 20;

interface Options {
  readonly notify: 'channel' | 'dm' | 'both';
  /** Some active users of a role; null where Slack does not answer. */
  readonly someOf: (role: RoleName, enough: number) => Promise<readonly UserId[] | null>;
  readonly messenger: Pick<Messenger, 'absentAmong'>;
  readonly now: () => Date;
}

/**
 * Finds the users who may approve: with `dm` those who cannot see the card in its channel, with `both`
 * all, with `channel` nobody who has a card in its channel. Nobody where Slack does not answer, because the card
 * in the channel remains. Source: docs/slack.md#notifications.
 */
export function directRecipients({ notify, ...options }: Options): DirectRecipients {
  const of = async (change: Change) => {
    if (notify === 'channel' && change.card) return [];
    const able = await approversOf(change, options);
    const { card } = change;
    const isShown = card !== null && !card.channel.startsWith('D');
    if (notify === 'both' || !isShown || able.length === 0) return able;
    return (await options.messenger.absentAmong(card.channel, able)) ?? [];
  };
  return { onRequest: notify !== 'channel', of };
}

async function approversOf(
  change: Change,
  { someOf, now }: Pick<Options, 'someOf' | 'now'>,
): Promise<readonly UserId[]> {
  const { requester, requires, approvals } = change;
  const found = await Promise.all(
    decidingRoles(change, now()).map(async (role) => (await someOf(role, MOST)) ?? []),
  );
  const hasApproved = new Set(approvals.map(({ by }) => by));
  return [...new Set(found.flatMap((users) => users.slice(0, MOST)))].filter(
    (user) => (user !== requester || requires.self) && !hasApproved.has(user),
  );
}
