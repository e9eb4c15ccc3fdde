import { useEffect, useState } from 'react';
import { type Json, numberOf, stringOf } from '../../json.ts';
import type { Requests, Suggestions } from '../../protocol.ts';
import { useSurfaceContext } from '../blocks/surface.ts';
import { post } from '../server.ts';
import { useSession } from '../session.ts';
import { type Choice, choicesOf, localChoices, matching } from './options.ts';

export interface OptionsState {
  readonly choices: readonly Choice[];
  /** The status below the list: searching, no results, or no answer of the bot. */
  readonly note: string | null;
}

const DEBOUNCE_MS = 150;

/** The options of an open select for the typed query. An external select asks the bot. */
export function useOptions(
  blockId: string,
  element: Json,
  query: string,
  isOpen: boolean,
): OptionsState {
  const { client } = useSession();
  const { place } = useSurfaceContext();
  const [answer, setAnswer] = useState<OptionsState>({ choices: [], note: 'Searching…' });
  const isExternal = element.type === 'external_select';
  const minLength = numberOf(element.min_query_length) ?? 3;
  const asksBot = isOpen && isExternal && query.length >= minLength;
  const actionId = stringOf(element.action_id);
  const as = client.me.id;

  useEffect(() => {
    if (!asksBot) return;
    let isStale = false;
    const ask = async () => {
      const options = await requestOptions({ as, place, blockId, actionId, value: query });
      if (!isStale) setAnswer(options);
    };
    // Several keys in quick succession cause one request; the first list is requested at once.
    const timer = setTimeout(ask, query === '' ? 0 : DEBOUNCE_MS);
    return () => {
      isStale = true;
      clearTimeout(timer);
    };
  }, [asksBot, query, as, place, blockId, actionId]);

  if (asksBot) return answer;
  if (!isOpen) return { choices: [], note: null };
  if (isExternal) return { choices: [], note: 'Keep typing to search…' };
  const choices = matching(localChoices(element, client), query);
  return { choices, note: choices.length === 0 ? 'No results' : null };
}

async function requestOptions(body: Requests['suggest']): Promise<OptionsState> {
  try {
    const { options, error } = await post<Suggestions>('suggest', body);
    const note = options.length === 0 ? 'No results' : null;
    return { choices: choicesOf(options), note: error === null ? note : `No answer: ${error}` };
  } catch {
    return { choices: [], note: 'The sandbox did not answer.' };
  }
}
