import { useEffect, useState } from 'react';
import type { Json, OptionsRequested, Suggestions } from '../../protocol.ts';
import { useSurfaceContext } from '../blocks/surface.ts';
import { amount, list, word } from '../json.ts';
import { post } from '../server.ts';
import { useSession } from '../session.ts';
import { type Choice, choicesOf, isExternal, localChoices, matching } from './options.ts';

export interface Offered {
  readonly choices: readonly Choice[];
  /** What to say instead of a list: still searching, nothing found, or the bot did not answer. */
  readonly note: string | null;
}

const PAUSE_MS = 150;

/** What an open select offers for the words typed so far; an external one asks the bot. */
export function useOffered(blockId: string, element: Json, query: string): Offered {
  const { screen } = useSession();
  const { place } = useSurfaceContext();
  const [answer, setAnswer] = useState<Offered>({ choices: [], note: 'Searching…' });
  const external = isExternal(element);
  const least = amount(element.min_query_length) ?? 3;
  const actionId = word(element.action_id);
  const as = screen.me.id;

  useEffect(() => {
    if (!external || query.length < least) return;
    let stale = false;
    const ask = async () => {
      const body = { as, place, blockId, actionId, value: query };
      const offered = await searched(body);
      if (!stale) setAnswer(offered);
    };
    // A person who types fast asks once; the first list opens at once.
    const timer = setTimeout(ask, query === '' ? 0 : PAUSE_MS);
    return () => {
      stale = true;
      clearTimeout(timer);
    };
  }, [external, least, query, as, place, blockId, actionId]);

  if (external && query.length < least) return { choices: [], note: 'Keep typing to search…' };
  if (external) return answer;
  const choices = matching(localChoices(element, screen), query);
  return { choices, note: choices.length === 0 ? 'No results' : null };
}

async function searched(body: OptionsRequested): Promise<Offered> {
  try {
    const { options, error } = await post<Suggestions>('suggest', body);
    const groups = options.filter((option) => 'options' in option);
    const choices = groups.length > 0 ? choicesOf([], list(groups)) : choicesOf(options);
    return {
      choices,
      note: error !== null ? `No answer: ${error}` : choices.length === 0 ? 'No results' : null,
    };
  } catch {
    return { choices: [], note: 'The sandbox did not answer.' };
  }
}
