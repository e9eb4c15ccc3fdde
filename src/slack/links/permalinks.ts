import { once } from 'node:events';
import type { WebClient } from '@slack/web-api';
import type { Logger } from 'pino';
import type { Clock } from '../../base/time.ts';
import type { Position } from '../../domain/change.ts';
import { refusedBySlack } from '../slack-error.ts';

/** How long an answer waits for the links in it. */
export const PERMALINKS_WITHIN_MS = 1_000;
const PAUSE_MS = 60_000;
const KEPT_MAX = 5_000;
/** The changes of one answer; the rest stays plain text. */
const LOADED_MAX = 50;

/** The links to the messages of Signalbox. They never change, so that they are read once. */
export interface Permalinks {
  /** The link to a message; null until `load` has read it. */
  readonly of: (at: Position) => string | null;
  /** Reads the unknown links for at most one second. It never throws: a link is optional. */
  readonly load: (all: readonly (Position | null)[]) => Promise<void>;
}

interface PermalinkOptions {
  readonly lookups: WebClient;
  readonly slackApiUrl: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Reads permalinks from Slack, and pauses for a minute after a failure. A late link is kept for the
 * next message. Source: docs/slack.md#permalinks.
 */
export function createPermalinks(options: PermalinkOptions): Permalinks {
  const { lookups, slackApiUrl, clock, log } = options;
  const known = new Map<string, string>();
  let resumesAt = Number.NEGATIVE_INFINITY;

  async function read(at: Position): Promise<void> {
    try {
      const { permalink = '' } = await lookups.chat.getPermalink({
        channel: at.channel,
        message_ts: at.ts,
      });
      if (!isPermalink(permalink, slackApiUrl)) throw new Error('The permalink is not of Slack');
      known.set(keyOf(at), permalink);
      const [oldest] = known.keys();
      if (known.size > KEPT_MAX && oldest !== undefined) known.delete(oldest);
    } catch (error) {
      // The message or its channel was deleted, which says nothing about other messages.
      if (/^(message|channel)_not_found$/.test(refusedBySlack(error) ?? '')) return;
      pause(error);
    }
  }

  function pause(error: unknown): void {
    if (clock.now() < resumesAt) return;
    resumesAt = clock.now() + PAUSE_MS;
    log.warn({ err: error }, 'permalinks are not available: messages have no links for a minute');
  }

  return {
    of: (at) => known.get(keyOf(at)) ?? null,
    load: async (all) => {
      const unknown = all.filter((at) => at !== null).filter((at) => !known.has(keyOf(at)));
      if (unknown.length === 0 || clock.now() < resumesAt) return;
      const late = once(clock.timeout(PERMALINKS_WITHIN_MS), 'abort').then(() => true);
      const reads = Promise.all(unknown.slice(0, LOADED_MAX).map(read)).then(() => false);
      if (await Promise.race([reads, late])) pause(new Error('Slack did not answer in 1 s'));
    },
  };
}

function keyOf({ channel, ts }: Position): string {
  return `${channel} ${ts}`;
}

const PLACE = /^\/archives\/[A-Z0-9]+\/p\d+(\?[\w.=&-]*)?$/;

/** A link comes from Slack as text: only one to a message, on a host of Slack, is shown. */
function isPermalink(link: string, slackApiUrl: string): boolean {
  const url = URL.parse(link);
  if (url?.protocol !== 'https:' || !PLACE.test(`${url.pathname}${url.search}`)) return false;
  const hosts = ['slack.com', new URL(slackApiUrl).hostname];
  return url.href === link && hosts.some((host) => `.${url.host}`.endsWith(`.${host}`));
}
