import type { UsersListResponse, WebClient } from '@slack/web-api';
import { sharedRead } from '../../base/cache.ts';
import type { PersonLookup } from '../../domain/answer.ts';
import type { UserId } from '../../domain/change.ts';
import { readPages } from '../outbound/read-pages.ts';

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
  const all: Person[] = [];
  const pages = readPages<UsersListResponse>(lookups, 'users.list', {});
  for await (const { members = [] } of pages) {
    for (const member of members)
      if (member.id) all.push({ id: member.id, names: namesOf(member) });
  }
  return all;
}

interface Member {
  readonly name?: string;
  readonly real_name?: string;
  readonly profile?: { readonly display_name?: string; readonly real_name?: string };
}

function namesOf({ name, real_name, profile }: Member): readonly string[] {
  const names = [name, real_name, profile?.display_name, profile?.real_name];
  return [...new Set(names.flatMap((each) => (each ? [each.toLowerCase()] : [])))];
}
