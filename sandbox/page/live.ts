import { useCallback, useEffect, useRef, useState } from 'react';
import type { ClientState } from '../protocol.ts';
import { follow, type Stream } from './stream.ts';

export interface Live {
  readonly screen: ClientState | null;
  readonly lost: boolean;
  /** Grows with every screen that was read, for whoever has more to read then. */
  readonly version: number;
  readonly refresh: () => void;
  /** Says which conversation the person looks at, so that it counts as read. */
  readonly look: (channel: string | null) => void;
}

/** The newest screen of a person; another person's is never shown in its stead. */
export function useLive(as: string): Live {
  const [screen, setScreen] = useState<ClientState | null>(null);
  const [lost, setLost] = useState(false);
  const [version, setVersion] = useState(0);
  const stream = useRef<Stream | null>(null);
  const open = useRef<string | null>(null);

  useEffect(() => {
    const followed = follow(as, {
      open: () => open.current,
      lost: setLost,
      screen: (next) => {
        setScreen(next);
        setVersion((before) => before + 1);
      },
    });
    stream.current = followed;
    return followed.close;
  }, [as]);

  const refresh = useCallback(() => stream.current?.refresh(), []);
  const look = useCallback(
    (channel: string | null) => {
      open.current = channel;
      refresh();
    },
    [refresh],
  );
  return { screen: screen?.me.id === as ? screen : null, lost, version, refresh, look };
}
