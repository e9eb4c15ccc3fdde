import { once } from 'node:events';
import type { WebClient } from '@slack/web-api';
import type { Logger } from 'pino';
import { Cache } from '../base/cache.ts';
import type { Clock } from '../base/time.ts';
import type { Change, ChangeId, Position } from '../domain/change.ts';
import type { Denial } from '../domain/gate.ts';
import { refusedBySlack } from './api.ts';
import type { Line, RichInline } from './rich-text.ts';

/** The permalink of a message; null where it is not known. */
export type LinkOf = (at: Position) => string | null;

type WithCard = Pick<Change, 'card'>;

/** Words as a link to the card of a change; plain text where the permalink is not known. */
export function cardLink({ card }: WithCard, text: string, linkOf: LinkOf): RichInline {
  const link = card && linkOf(card);
  return link ? { link, text } : text;
}

/** The cards of the changes that surround one, whose links it shows. */
export function newsCards({ news }: Pick<Change, 'news'>): readonly (Position | null)[] {
  return (news?.others ?? []).map(({ card }) => card);
}

/** The page of the target in the console of the provider; null where there is none. */
export function consoleLink(
  { plan: { target } }: Pick<Change, 'plan'>,
  address: string | null,
): RichInline | null {
  if (address === null || target.kind !== 'service') return null;
  return { link: address.replaceAll('{service}', encodeURIComponent(target.id)), text: 'open' };
}

/** ` Open card`, to append to a line; empty where the permalink is not known. */
export function openCard(change: WithCard, linkOf: LinkOf): Line {
  const link = cardLink(change, 'Open card', linkOf);
  return typeof link === 'string' ? [] : [' ', link];
}

/** `card in #db-approvals`; empty for a card in direct messages, which only its requester can open. */
export function cardPlace({ card }: WithCard, text: string, linkOf: LinkOf): Line {
  if (!card || !/^[CG]/.test(card.channel)) return [];
  return [cardLink({ card }, text, linkOf), ' in ', { channel: card.channel }];
}

/** Reads the link that the refusal of an older button names. */
export async function loadNewest({ load }: Permalinks, denial: Denial | null): Promise<void> {
  if (denial?.refusal === 'older-state') await load([denial.change?.states?.at(-1) ?? null]);
}

/** How long an answer waits for the links in it. */
const PERMALINKS_WITHIN_MS = 1_000;
const PAUSE_MS = 60_000;
const KEPT_MAX = 5_000;
/** The changes of one answer; the rest stays plain text. */
const LOADED_MAX = 50;

/** The links to the messages of Signalbox. They never change, so that they are read once. */
export type Permalinks = ReturnType<typeof createPermalinks>;

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
export function createPermalinks(options: PermalinkOptions) {
  const { lookups, slackApiUrl, clock, log } = options;
  const known = new Cache<string, string>(KEPT_MAX);
  let resumesAt = Number.NEGATIVE_INFINITY;

  async function read(at: Position): Promise<void> {
    try {
      const { channel, ts: message_ts } = at;
      const { permalink = '' } = await lookups.chat.getPermalink({ channel, message_ts });
      if (!isPermalink(permalink, slackApiUrl)) throw new Error('The permalink is not of Slack');
      known.set(keyOf(at), permalink);
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
    /** The link to a message; null until `load` has read it. */
    of: (at: Position) => known.get(keyOf(at)) ?? null,
    /** Reads the unknown links for at most one second. It never throws: a link is optional. */
    load: async (all: readonly (Position | null)[]) => {
      const unknown = all.filter((at) => at !== null).filter((at) => !known.has(keyOf(at)));
      if (unknown.length === 0 || clock.now() < resumesAt) return;
      const late = once(clock.timeout(PERMALINKS_WITHIN_MS), 'abort').then(() => true);
      const reads = Promise.all(unknown.slice(0, LOADED_MAX).map(read)).then(() => false);
      if (await Promise.race([reads, late])) pause(new Error('Slack did not answer in 1 s'));
    },
  };
}

/** A position as the key of a cache. */
export function keyOf({ channel, ts }: Position): string {
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

const WAITING_MAX = 500;

/**
 * The answered previews whose cards are not posted yet: each is shown again with a link to its card.
 * Kept in this process only: after a restart, and on other replicas, they stay without a link.
 */
export function createPreviewLinks(log: Logger) {
  const waiting = new Cache<ChangeId, (card: Position) => Promise<void>>(WAITING_MAX);
  return {
    add: (change: Change, showAgain: (posted: Change) => Promise<void>): void => {
      waiting.set(change.id, (card) => showAgain({ ...change, card }));
    },
    /** The preview shows its link without delaying the outbox. */
    cardPosted: (id: ChangeId, card: Position): void => {
      const showAgain = waiting.get(id);
      waiting.delete(id);
      showAgain?.(card).catch((error: unknown) => {
        log.warn({ err: error, change: id }, 'a preview stays without the link to its card');
      });
    },
  };
}
