import { useState } from 'react';

/** Unsent text outlives a look at another channel, but not the page. */
const drafts = new Map<string, string>();

export function useDraft(place: string): readonly [string, (text: string) => void] {
  const [text, setText] = useState(() => drafts.get(place) ?? '');
  const keep = (next: string) => {
    drafts.set(place, next);
    setText(next);
  };
  return [text, keep];
}
