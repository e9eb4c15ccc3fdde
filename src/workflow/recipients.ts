import { decidingRoles } from '../domain/approvals.ts';
import type { Change, RoleName, UserId } from '../domain/change.ts';
import type { DirectRecipients, Messenger } from './context.ts';

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
 * all. Nobody where Slack does not answer, because the card in the channel remains. Null for `channel`.
 * Source: docs/slack.md#notifications.
 */
export function directRecipients({ notify, ...options }: Options): DirectRecipients | null {
  if (notify === 'channel') return null;
  return async (change) => {
    const able = await approversOf(change, options);
    const { card } = change;
    const isShown = card !== null && !card.channel.startsWith('D');
    if (notify === 'both' || !isShown || able.length === 0) return able;
    return (await options.messenger.absentAmong(card.channel, able)) ?? [];
  };
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
