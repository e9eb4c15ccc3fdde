import { tzOffset } from '@date-fns/tz';
import type { UsersListResponse, WebClient } from '@slack/web-api';
import { type SharedRead, sharedRead } from '../base/cache.ts';
import type { PersonLookup } from '../domain/answer.ts';
import type { Refusal, UserId } from '../domain/change.ts';
import { type RetryLimited, readPages, refusedBySlack } from './api.ts';

export interface Home {
  readonly teamId: string;
  readonly enterpriseId: string | null;
}

export interface Account {
  readonly standing: 'member' | Refusal;
  readonly zone: string | null;
}

/** Reads one user. Throws on an incomplete answer. */
export async function accountOf(lookups: WebClient, id: string, home: Home): Promise<Account> {
  const { user } = await lookups.users.info({ user: id });
  if (user?.id !== id || !user.team_id) throw new Error(`Slack answered without the user ${id}`);
  return accountFrom(user, home);
}

/** The account of a user in Slack's answer, from `users.info` or `users.list`. */
function accountFrom(user: User, home: Home): Account {
  return { standing: standingOf(user, home), zone: knownZone(user.tz) };
}

/** Null for a zone that the runtime does not know. */
function knownZone(zone: string | undefined): string | null {
  return zone !== undefined && !Number.isNaN(tzOffset(zone, new Date(0))) ? zone : null;
}

type User = NonNullable<Awaited<ReturnType<WebClient['users']['info']>>['user']>;

/** Missing flags never grant access: the reply must be complete. */
export function standingOf(user: User, home: Home): 'member' | Refusal {
  if (!isInternal(user, home)) return 'other-workspace';
  if (user.deleted !== false) return 'deactivated';
  if (user.is_bot !== false || user.id === 'USLACKBOT') return 'bot';
  const full = user.is_restricted === false && user.is_ultra_restricted === false;
  return full ? 'member' : 'guest';
}

// Slack sets `is_stranger` to false for external users of a shared channel, so the team decides.
function isInternal(user: User, { teamId, enterpriseId }: Home): boolean {
  if (user.is_stranger === true) return false;
  if (user.team_id === teamId) return true;
  return enterpriseId !== null && user.enterprise_user?.enterprise_id === enterpriseId;
}

const KEEP_MS = 10 * 60_000;

interface Person {
  readonly id: string;
  readonly names: readonly string[];
}

/**
 * Finds a user by name, mention or id. The result only selects what a query shows and authorizes
 * nothing. Slack passes a typed @name on as text.
 */
export function peopleByName(lookups: WebClient, now: () => Date) {
  const lists = sharedRead(
    () => readAll(lookups),
    KEEP_MS,
    () => now().getTime(),
  );
  return async (word: string): Promise<PersonLookup> => {
    const [, id] = /^<?@?([UW][A-Z0-9]{5,})(?:\|[^>]*)?>?$/.exec(word) ?? [];
    // An id in Slack's format; whether the user exists is not checked.
    if (id) return { ok: true, user: id as UserId };
    const wanted = word.replace(/^@/, '').toLowerCase();
    try {
      const all = await lists.read('all', { fresh: false });
      return oneOf(all.filter(({ names }) => names.includes(wanted)));
    } catch {
      // The query answers that the lookup failed; nothing is decided by it.
      return { ok: false, why: 'lookup-failed' };
    }
  };
}

function oneOf(found: readonly Person[]): PersonLookup {
  const [first] = found;
  if (!first) return { ok: false, why: 'nobody' };
  if (found.length > 1) return { ok: false, why: 'several' };
  return { ok: true, user: first.id as UserId };
}

async function readAll(lookups: WebClient): Promise<readonly Person[]> {
  const users = await allUsers(lookups);
  return users.flatMap((user) => (user.id ? [{ id: user.id, names: namesOf(user) }] : []));
}

/** All users of the workspace, as Slack lists them. */
export async function allUsers(lookups: WebClient): Promise<readonly User[]> {
  const all: User[] = [];
  const pages = readPages<UsersListResponse>(lookups, 'users.list', {});
  for await (const { members = [] } of pages) all.push(...members);
  return all;
}

function namesOf({ name, real_name, profile }: User): readonly string[] {
  const names = [name, real_name, profile?.display_name, profile?.real_name];
  return [...new Set(names.flatMap((each) => (each ? [each.toLowerCase()] : [])))];
}

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

async function check(
  user: UserId,
  { lookups, home, accounts, retryLimited }: UserReads,
): Promise<'known' | 'unknown' | 'unchecked'> {
  try {
    accounts.keep(user, await retryLimited(() => accountOf(lookups, user, home)));
    return 'known';
  } catch (error) {
    const refused = refusedBySlack(error);
    if (refused === 'user_not_found') return 'unknown';
    if (refused === 'ratelimited') return 'unchecked';
    throw error;
  }
}
