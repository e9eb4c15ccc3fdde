import type { UsersListResponse, WebClient } from '@slack/web-api';
import { Cache, type Repeat, type SharedRead, sharedRead } from '../base/cache.ts';
import { type Clock, isTimeZone } from '../base/time.ts';
import type { PersonLookup } from '../domain/answer.ts';
import type { Refusal, UserId } from '../domain/change.ts';
import {
  createRetryLimited,
  type PageReading,
  type RetryLimited,
  readPages,
  refusedBySlack,
} from './api.ts';

/** Where the app is installed: in one workspace, or in an organization of Enterprise Grid. */
export interface Home {
  /** Of an installation for the whole organization its id, `E…`. */
  readonly teamId: string;
  readonly enterpriseId: string | null;
  /** Those that an installation for the whole organization serves; null: it is of one workspace. */
  readonly workspaces: readonly string[] | null;
}

/** The workspaces and the organization that a payload or an account names. */
export interface Origin {
  readonly teams: readonly (string | null | undefined)[];
  readonly enterprise: string | null | undefined;
}

/**
 * The one rule of who belongs here, null: the same workspace, another one of its organization, or one that
 * `slack.workspaces` lists. `unknown` where the facts do not tell: on Grid a payload names the workspace of a
 * person without its organization, and that is one of several.
 */
export function whyForeign(
  { teamId, enterpriseId, workspaces }: Home,
  { teams, enterprise }: Origin,
): 'other-workspace' | 'unlisted-workspace' | 'unknown' | null {
  const own = workspaces ?? [teamId];
  const named = teams.filter((team) => typeof team === 'string');
  if (named.some((team) => own.includes(team))) return null;
  if (enterpriseId === null) return named.length === 0 ? 'unknown' : 'other-workspace';
  if (enterprise && enterprise !== enterpriseId) return 'other-workspace';
  if (workspaces === null) return enterprise || named.includes(enterpriseId) ? null : 'unknown';
  return enterprise && named.some((team) => team.startsWith('T'))
    ? 'unlisted-workspace'
    : 'unknown';
}

/** The arguments of a list: Slack lists one workspace at a time, and an organization's token must name it. */
export function ofEach({
  workspaces,
}: Pick<Home, 'workspaces'>): readonly { readonly team_id?: string }[] {
  return workspaces?.map((team_id) => ({ team_id })) ?? [{}];
}

export interface Account {
  /**
   * All ids of this person: on Grid Slack can name one person by `U…` and `W…`. Signalbox knows the person by the
   * first one. None: Slack knows no such user.
   */
  readonly ids: readonly UserId[];
  readonly standing: 'member' | Refusal;
  readonly zone: string | null;
}

/** Slack does not show this user to the app, for example one of another organization. It is no member. */
const UNKNOWN = ['user_not_found', 'user_not_visible'];
const NO_ACCOUNT: Account = { ids: [], standing: 'other-workspace', zone: null };

/** Reads one user. After an answer that does not say who it is, only this user is unknown. */
async function accountOf(lookups: WebClient, id: string, home: Home): Promise<Account> {
  try {
    const { user } = await lookups.users.info({ user: id });
    const account = accountFrom(user, home);
    if (account?.ids.includes(id as UserId)) return account;
    return { ids: [id as UserId], standing: 'lookup-failed', zone: null };
  } catch (error) {
    if (UNKNOWN.includes(refusedBySlack(error) ?? '')) return NO_ACCOUNT;
    throw error;
  }
}

/** The account of a user in Slack's answer, from `users.info` or `users.list`; null for an incomplete one. */
export function accountFrom(user: User | undefined, home: Home): Account | null {
  if (!user?.id || !user.team_id) return null;
  const ids = [user.id, user.enterprise_user?.id ?? user.id] as UserId[];
  // Slack recommends the id of the organization. In one workspace the log has the other one from its first day.
  const known = home.workspaces ? ids.toReversed() : ids;
  // The runtime does not know every zone.
  const zone = user.tz && isTimeZone(user.tz) ? user.tz : null;
  return { ids: [...new Set(known)], standing: standingOf(user, home), zone };
}

type User = NonNullable<Awaited<ReturnType<WebClient['users']['info']>>['user']>;

/**
 * Missing flags never grant access: the reply must be complete. Slack sets `is_stranger` to false for external
 * users of a shared channel, so the workspace decides.
 */
function standingOf(user: User, home: Home): 'member' | Refusal {
  const { enterprise_id: enterprise, teams = [] } = user.enterprise_user ?? {};
  const named = [user.team_id, ...(home.workspaces ? teams : [])];
  const foreign = whyForeign(home, { teams: named, enterprise });
  if (foreign === 'unlisted-workspace') return foreign;
  if (user.is_stranger === true || foreign !== null) return 'other-workspace';
  if (user.deleted === true) return 'deactivated';
  if (user.is_bot === true || user.id === 'USLACKBOT') return 'bot';
  if (user.is_restricted === true || user.is_ultra_restricted === true) return 'guest';
  const { deleted, is_bot, is_restricted, is_ultra_restricted } = user;
  const isWhole = [deleted, is_bot, is_restricted, is_ultra_restricted].every((is) => is === false);
  return isWhole ? 'member' : 'lookup-failed';
}

const CACHED_MS = 60_000;

interface AccountReads {
  readonly lookups: WebClient;
  readonly home: Home;
  readonly now: () => Date;
  readonly clock: Clock;
  /** Called once for each user whom Slack does not know: it counts as no member wherever it is listed. */
  readonly onUnknown: (user: string) => void;
}

/** A cache of accounts: one minute. Each read waits as long as Slack asks, at most 90 s. */
export function cachedAccounts({ lookups, home, now, clock, onUnknown }: AccountReads) {
  const named = new Cache<string, true>(1_000);
  return sharedRead(
    async (user) => {
      const account = await accountOf(lookups, user, home);
      if (account.ids.length === 0 && !named.get(user)) {
        named.set(user, true);
        onUnknown(user);
      }
      return account;
    },
    CACHED_MS,
    () => now().getTime(),
    afterLimits(clock),
  );
}

/** Each read waits as long as Slack asks, at most 90 s. */
export function afterLimits(clock: Clock): Repeat {
  return (fetch, onWait) => createRetryLimited(clock)(fetch, onWait);
}

const KEEP_MS = 10 * 60_000;

/**
 * Finds a user by name, mention or id. The result only selects what a query shows and authorizes
 * nothing. Slack passes a typed @name on as text.
 */
export function peopleByName(lookups: WebClient, home: Home, now: () => Date) {
  const lists = sharedRead(
    async () =>
      (await allUsers(lookups, home)).flatMap((user) =>
        user.id ? [{ id: user.id, names: userNames(user) }] : [],
      ),
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
      const [found, ...others] = all.filter(({ names }) => names.includes(wanted));
      if (!found) return { ok: false, why: 'nobody' };
      if (others.length > 0) return { ok: false, why: 'several' };
      return { ok: true, user: found.id as UserId };
    } catch {
      // The query answers that the lookup failed; nothing is decided by it.
      return { ok: false, why: 'lookup-failed' };
    }
  };
}

/** All users of the workspaces, as Slack lists them, each once. */
export async function allUsers(
  lookups: WebClient,
  home: Pick<Home, 'workspaces'>,
): Promise<readonly User[]> {
  const all = new Map<string | undefined, User>();
  for await (const members of userPages(lookups, home)) {
    for (const each of members) all.set(each.id, each);
  }
  return [...all.values()];
}

async function* userPages(lookups: WebClient, home: Pick<Home, 'workspaces'>, how?: PageReading) {
  for (const of of ofEach(home)) {
    const pages = readPages<UsersListResponse>(lookups, 'users.list', of, how);
    for await (const { members = [] } of pages) yield members;
  }
}

function userNames({ name, real_name, profile }: User): readonly string[] {
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
  readonly accounts: Pick<SharedRead<Account>, 'keep'>;
  readonly retryLimited: RetryLimited;
  /** The list of users, where it was read already. */
  readonly listed?: readonly User[];
}

/**
 * The account of each user; null means that Slack's rate limits left no time: the start may continue, because
 * every decision reads its user again.
 */
export type CheckedUsers = ReadonlyMap<UserId, Account | null>;

/**
 * Reads these users, each one once. Throws where Slack refuses the reads for another reason than a rate limit.
 * Source: docs/slack.md#large-workspaces.
 */
export async function checkUsers(
  users: readonly UserId[],
  reads: UserReads,
): Promise<CheckedUsers> {
  const { lookups, home, accounts, retryLimited } = reads;
  const ids = new Set(users);
  const isListed = reads.listed !== undefined || ids.size > SINGLE_READS_MAX;
  const known = isListed ? await listedAmong(ids, reads) : new Map<UserId, Account>();
  // The list of a workspace lacks users of other workspaces of the organization.
  const left = [...ids].filter((id) => !known.has(id));
  const rest = left.slice(SINGLE_READS_MAX).map((id) => [id, null] as const);
  const single = left.slice(0, SINGLE_READS_MAX).map(async (id) => {
    const read = retryLimited(() => accountOf(lookups, id, home));
    return [id, await read.catch(nullIfLimited)] as const;
  });
  const checked = new Map([...known, ...rest, ...(await Promise.all(single))]);
  for (const [id, account] of checked) if (account) accounts.keep(id, account);
  return checked;
}

/** The users in the list of the workspace, as far as Slack's rate limits let it be read. */
async function listedAmong(
  ids: ReadonlySet<UserId>,
  { lookups, home, retryLimited: call, listed }: UserReads,
): Promise<ReadonlyMap<UserId, Account>> {
  const found = new Map<UserId, Account>();
  try {
    const pages = listed ? [listed] : userPages(lookups, home, { most: PAGES_MAX, call });
    for await (const members of pages) {
      for (const account of members.flatMap((one) => accountFrom(one, home) ?? [])) {
        // A list may show less of a user than `users.info`.
        if (account.standing === 'lookup-failed') continue;
        for (const id of account.ids) if (ids.has(id)) found.set(id, account);
      }
      if (found.size === ids.size) return found;
    }
  } catch (error) {
    nullIfLimited(error);
  }
  return found;
}

function nullIfLimited(error: unknown): null {
  if (refusedBySlack(error) === 'ratelimited') return null;
  throw error;
}
