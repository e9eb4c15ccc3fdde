import { tzOffset } from '@date-fns/tz';
import type { WebClient } from '@slack/web-api';
import type { Refusal } from '../../domain/change.ts';

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
export function accountFrom(user: User, home: Home): Account {
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

interface Membership {
  readonly team_id?: string;
  readonly is_stranger?: boolean;
  readonly enterprise_user?: { readonly enterprise_id?: string };
}

// Slack sets `is_stranger` to false for external users of a shared channel, so the team decides.
function isInternal(user: Membership, { teamId, enterpriseId }: Home): boolean {
  if (user.is_stranger === true) return false;
  if (user.team_id === teamId) return true;
  return enterpriseId !== null && user.enterprise_user?.enterprise_id === enterpriseId;
}
