import { useCallback, useEffect, useRef, useState } from 'react';
import type { ClientState, PageState } from '../protocol.ts';
import { read } from './server.ts';

const RETRY_MS = 2000;

export type LiveUpdates = ReturnType<typeof useLive>;

/** The latest client state of a person; null until the first state of this person arrives. */
export function useLive(as: string) {
  const [client, setClient] = useState<ClientState | null>(null);
  const [isDisconnected, setDisconnected] = useState(false);
  // Grows with each state that was read, so that other parts can read again.
  const [version, setVersion] = useState(0);
  const stream = useRef<ReturnType<typeof openStream> | null>(null);
  const openChannel = useRef<string | null>(null);
  const clockOffsetMs = useRef(0);

  useEffect(() => {
    // A modal belongs to the client in which the person opened it, as in Slack.
    let openedElsewhere: ReadonlySet<string> | null = null;
    const opened = openStream(as, {
      openChannel: () => openChannel.current,
      setDisconnected,
      setClient: (next) => {
        clockOffsetMs.current = Date.parse(next.now) - Date.now();
        openedElsewhere ??= new Set(next.views.map(({ id }) => id));
        const views = next.views.filter(({ id }) => !openedElsewhere?.has(id));
        setClient({ ...next, views });
        setVersion((before) => before + 1);
      },
    });
    stream.current = opened;
    return opened.close;
  }, [as]);

  /** The time of the sandbox. */
  const now = useCallback(() => new Date(Date.now() + clockOffsetMs.current), []);
  const refresh = useCallback(() => stream.current?.refresh(), []);
  /** Marks the open channel as read, now and at each later refresh. */
  const setOpenChannel = useCallback(
    (channel: string | null) => {
      openChannel.current = channel;
      refresh();
    },
    [refresh],
  );
  const current = client?.me.id === as ? client : null;
  return { client: current, now, isDisconnected, version, refresh, setOpenChannel };
}

interface StreamListener {
  readonly openChannel: () => string | null;
  readonly setClient: (client: PageState) => void;
  readonly setDisconnected: (isDisconnected: boolean) => void;
}

/** Reads the whole state after each change. Changes during a read cause one more read. */
function openStream(as: string, listener: StreamListener) {
  let isClosed = false;
  let isReading = false;
  let isStale = false;
  let source: EventSource | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function reconnectLater() {
    if (isClosed) return;
    listener.setDisconnected(true);
    clearTimeout(timer);
    timer = setTimeout(connect, RETRY_MS);
  }

  async function readOnce() {
    const channel = listener.openChannel();
    const query = new URLSearchParams({ as, ...(channel === null ? {} : { channel }) });
    try {
      const client = await read<PageState>(`state?${query}`);
      if (isClosed) return;
      listener.setClient(client);
      if (source?.readyState === EventSource.OPEN) listener.setDisconnected(false);
    } catch {
      reconnectLater();
    }
  }

  async function refresh() {
    isStale = true;
    if (isReading) return;
    isReading = true;
    while (isStale && !isClosed) {
      isStale = false;
      await readOnce();
    }
    isReading = false;
  }

  function connect() {
    source?.close();
    source = new EventSource(`/sandbox/events?${new URLSearchParams({ as })}`);
    source.addEventListener('open', refresh);
    source.addEventListener('changed', refresh);
    source.addEventListener('error', reconnectLater);
  }

  function close() {
    isClosed = true;
    clearTimeout(timer);
    source?.close();
  }

  connect();
  return { refresh: () => void refresh(), close };
}
