import type { WebClient } from '@slack/web-api';
import type { UserId } from '../../changes/change.ts';
import { sharedRead } from '../../http/shared-read.ts';
import type { PersonLookup } from '../../workflow/messenger-port.ts';

const KEEP_MS = 10 * 60_000;
const PAGES_MAX = 50;

interface Known {
  readonly id: string;
  readonly names: readonly string[];
}

/**
 * Who is meant by a name, which lends no right: only what is read is chosen by it. Slack hands a
 * name that was typed with an @ on as it was typed.
 */
export function peopleByName(lookups: WebClient, now: () => Date) {
  const lists = sharedRead(
    () => readAll(lookups),
    KEEP_MS,
    () => now().getTime(),
  );
  return async (word: string): Promise<PersonLookup> => {
    const [, id] = /^<?@?([UW][A-Z0-9]{5,})(?:\|[^>]*)?>?$/.exec(word) ?? [];
    // An id of Slack's own form, which need not be anybody's.
    if (id) return { ok: true, user: id as UserId };
    const wanted = word.replace(/^@/, '').toLowerCase();
    try {
      const all = await lists.read('all', { fresh: false });
      return oneOf(all.filter(({ names }) => names.includes(wanted)));
    } catch {
      // Whoever asks reads that Slack did not tell, and nothing was decided on it.
      return { ok: false, why: 'lookup-failed' };
    }
  };
}

function oneOf(found: readonly Known[]): PersonLookup {
  const [first] = found;
  if (!first) return { ok: false, why: 'nobody' };
  if (found.length > 1) return { ok: false, why: 'several' };
  return { ok: true, user: first.id as UserId };
}

async function readAll(lookups: WebClient): Promise<readonly Known[]> {
  const all: Known[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const more = cursor ? { cursor } : {};
    const { members = [], response_metadata } = await lookups.users.list({ limit: 500, ...more });
    all.push(
      ...members.flatMap((member) =>
        member.id ? [{ id: member.id, names: namesOf(member) }] : [],
      ),
    );
    cursor = response_metadata?.next_cursor;
    if (!cursor) return all;
  }
  throw new Error('Slack has more people than were looked through');
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
