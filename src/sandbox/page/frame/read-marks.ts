import { useEffect, useState } from 'react';
import type { Channel, Screen } from '../../protocol.ts';

type Marks = Readonly<Record<string, string>>;

const keyOf = (person: string) => `signalbox-read-${person}`;

function stored(person: string): Marks {
  const kept: unknown = JSON.parse(localStorage.getItem(keyOf(person)) ?? '{}');
  // Only this file writes under that key.
  return kept as Marks;
}

/** How many messages of a channel the person has not seen; the open channel counts as seen. */
export function useUnread(screen: Screen, open: string | null): (channel: Channel) => number {
  const me = screen.me.id;
  const [kept, setKept] = useState<{ me: string; marks: Marks }>({ me, marks: stored(me) });
  const marks = kept.me === me ? kept.marks : stored(me);
  const latest = screen.messages.findLast(({ channel }) => channel === open)?.ts;

  useEffect(() => {
    if (open === null || latest === undefined) return;
    const next = { ...stored(me), [open]: latest };
    localStorage.setItem(keyOf(me), JSON.stringify(next));
    setKept({ me, marks: next });
  }, [me, open, latest]);

  return ({ id, unread }) => {
    if (id === open) return 0;
    const mark = marks[id];
    if (mark === undefined) return unread;
    const since = screen.messages.filter(({ channel, ts }) => channel === id && ts > mark);
    return since.filter(({ author }) => author !== me).length;
  };
}
