import type { ClientState } from '../protocol.ts';
import { read } from './server.ts';

const RETRY_MS = 2000;

export interface Watcher {
  /** The conversation that is on the screen now; reading it marks it as read. */
  readonly open: () => string | null;
  readonly screen: (screen: ClientState) => void;
  readonly lost: (lost: boolean) => void;
}

export interface Stream {
  readonly refresh: () => void;
  readonly close: () => void;
}

/**
 * Follows one person's screen. Every change is answered by reading the whole screen again; changes
 * that come while one is being read share the next read.
 */
export function follow(as: string, watcher: Watcher): Stream {
  let closed = false;
  let reading = false;
  let stale = false;
  let source: EventSource | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function lost() {
    if (closed) return;
    watcher.lost(true);
    clearTimeout(timer);
    timer = setTimeout(connect, RETRY_MS);
  }

  async function readOnce() {
    const channel = watcher.open();
    const query = new URLSearchParams({ as, ...(channel === null ? {} : { channel }) });
    try {
      const screen = await read<ClientState>(`state?${query}`);
      if (closed) return;
      watcher.screen(screen);
      if (source?.readyState === EventSource.OPEN) watcher.lost(false);
    } catch {
      lost();
    }
  }

  async function refresh() {
    stale = true;
    if (reading) return;
    reading = true;
    while (stale && !closed) {
      stale = false;
      await readOnce();
    }
    reading = false;
  }

  function connect() {
    source?.close();
    source = new EventSource(`/sandbox/events?${new URLSearchParams({ as })}`);
    source.addEventListener('open', refresh);
    source.addEventListener('changed', refresh);
    source.addEventListener('error', lost);
  }

  function close() {
    closed = true;
    clearTimeout(timer);
    source?.close();
  }

  connect();
  return { refresh: () => void refresh(), close };
}
