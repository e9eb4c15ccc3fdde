import { type Answer, type Caller, type PersonLookup, textAnswer } from '../../domain/answer.ts';
import type { UserId } from '../../domain/change.ts';

export interface PersonSearch {
  readonly named: (word: string) => Promise<PersonLookup>;
}

/** Returns the user that `by=` names, or an answer that says why it names none. */
export async function personOf(
  { named }: PersonSearch,
  word: string,
  { by }: Caller,
): Promise<{ readonly user: UserId } | Answer> {
  if (word.toLowerCase() === 'me') return { user: by };
  const found = await named(word);
  if (found.ok) return found;
  return textAnswer('Which user?', WHY[found.why](word));
}

const WHY: Readonly<Record<Extract<PersonLookup, { ok: false }>['why'], (word: string) => string>> =
  {
    nobody: (word) => `There's no user called “${word}” in Slack. You can also use a member id.`,
    several: (word) => `Several users are called “${word}”. Use the member id, U…, of one of them.`,
    'lookup-failed': () => 'Slack did not answer the user lookup. Try again in a minute.',
  };
