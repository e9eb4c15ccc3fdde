const PERMALINK =
  /^https:\/\/[\w-]+\.slack\.com\/archives\/(?<channel>\w+)\/p(?<s>\d+)(?<us>\d{6})(?:\?thread_ts=(?<thread>[\d.]+).*)?$/;

interface MessagePlace {
  readonly channel: string;
  /** The thread that shows the message: its own, or the one of a reply. */
  readonly thread: string;
}

/** The place of the message that a permalink names; null for every other link. */
export function messageOf(link: string): MessagePlace | null {
  const { channel, s, us, thread } = PERMALINK.exec(link)?.groups ?? {};
  return channel ? { channel, thread: thread ?? `${s}.${us}` } : null;
}
