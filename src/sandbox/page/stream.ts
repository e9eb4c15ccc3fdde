import type { Screen } from '../protocol.ts';
import { read } from './server.ts';

const RETRY_MS = 2000;

export interface Watcher {
  readonly screen: (screen: Screen) => void;
  readonly lost: (lost: boolean) => void;
}

export interface Stream {
  readonly refresh: () => void;
  readonly close: () => void;
}

/**
 * Follows one person's screen. Every change is answered by reading the whole screen again; changes
 * that come while one is being read share the next read. Without a person the server chooses one.
 */
export function follow(as: string | null, watcher: Watcher): Stream {
  const query = as === null ? '' : `?as=${encodeURIComponent(as)}`;
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
    try {
      const screen = await read<Screen>(`state${query}`);
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
    source = new EventSource(`/sandbox/events${query}`);
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
  void refresh();
  return { refresh: () => void refresh(), close };
}
