const PERMALINK =
  /^https:\/\/[\w-]+\.slack\.com\/archives\/(?<channel>\w+)\/p(?<s>\d+)(?<us>\d{6})(?:\?thread_ts=(?<thread>[\d.]+).*)?$/;

interface MessagePlace {
  readonly channel: string;
  readonly message: string;
  /** The thread that shows a reply. As in Slack, a link to its first message opens the channel. */
  readonly thread: string | null;
}

/** The place of the message that a permalink names; null for every other link. */
export function messageOf(link: string): MessagePlace | null {
  const { channel, s, us, thread } = PERMALINK.exec(link)?.groups ?? {};
  return channel ? { channel, message: `${s}.${us}`, thread: thread ?? null } : null;
}
