import type { UsersListResponse, WebClient } from '@slack/web-api';
import type { SharedRead } from '../../base/cache.ts';
import type { UserId } from '../../domain/change.ts';
import { readPages } from '../outbound/read-pages.ts';
import { refusedBySlack } from '../slack-error.ts';
import { type Account, accountFrom, type Home } from './account.ts';
import type { RetryLimited } from './retry-limited.ts';

/**
 * Slack allows 100 calls of `users.info` per minute for the whole app: three replicas that start
 * together, and decisions. More users are read from pages of `users.list`, 20 calls per minute.
 */
const SINGLE_READS_MAX = 30;
const PAGES_MAX = 200;

export interface UserReads {
  readonly lookups: WebClient;
  readonly home: Home;
  /** Keeps what is read here, so that later checks of the start need no call. */
  readonly accounts: SharedRead<Account>;
  readonly retryLimited: RetryLimited;
}

/**
 * Whether Slack knows each user. `unchecked` means that Slack's rate limits left no time: the start
 * may continue, because every decision reads its user again.
 */
export type CheckedUsers = ReadonlyMap<UserId, 'known' | 'unknown' | 'unchecked'>;

/**
 * Checks whether these users exist, each one once. Throws where Slack refuses the reads for
 * another reason than a rate limit. Source: docs/slack.md#large-workspaces.
 */
export async function checkUsers(
  users: readonly UserId[],
  reads: UserReads,
): Promise<CheckedUsers> {
  const ids = new Set(users);
  const listed = ids.size > SINGLE_READS_MAX ? await listedAmong(ids, reads) : new Set();
  // The list of a workspace lacks users of other workspaces of the organization.
  const left = [...ids].filter((id) => !listed.has(id));
  const single = left
    .slice(0, SINGLE_READS_MAX)
    .map(async (id) => [id, await check(id, reads)] as const);
  const rest = left.slice(SINGLE_READS_MAX).map((id) => [id, 'unchecked'] as const);
  const known = [...ids].map((id) => [id, 'known'] as const);
  return new Map([...known, ...rest, ...(await Promise.all(single))]);
}

/** The users in the list of the workspace, as far as Slack's rate limits let it be read. */
async function listedAmong(
  ids: ReadonlySet<UserId>,
  { lookups, home, accounts, retryLimited }: UserReads,
): Promise<ReadonlySet<string>> {
  const wanted: ReadonlySet<string> = ids;
  const found = new Set<string>();
  const how = { most: PAGES_MAX, call: retryLimited };
  try {
    const pages = readPages<UsersListResponse>(lookups, 'users.list', {}, how);
    for await (const { members = [] } of pages) {
      for (const member of members) {
        if (!member.id || !member.team_id || !wanted.has(member.id)) continue;
        found.add(member.id);
        accounts.keep(member.id, accountFrom(member, home));
      }
      if (found.size === wanted.size) break;
    }
  } catch (error) {
    if (refusedBySlack(error) !== 'ratelimited') throw error;
  }
  return found;
}

async function check(user: UserId, reads: UserReads): Promise<'known' | 'unknown' | 'unchecked'> {
  try {
    await reads.retryLimited(() => reads.accounts.read(user, { fresh: false }));
    return 'known';
  } catch (error) {
    const refused = refusedBySlack(error);
    if (refused === 'user_not_found') return 'unknown';
    if (refused === 'ratelimited') return 'unchecked';
    throw error;
  }
}
