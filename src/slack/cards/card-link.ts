import type { Change, Position } from '../../domain/change.ts';
import type { Line, RichInline } from '../blocks/rich-text.ts';

/** The permalink of a message; null where it is not known. */
export type LinkOf = (at: Position) => string | null;

type WithCard = Pick<Change, 'card'>;

/** Words as a link to the card of a change; plain text where the permalink is not known. */
export function cardLink({ card }: WithCard, text: string, linkOf: LinkOf): RichInline {
  const link = card && linkOf(card);
  return link ? { link, text } : text;
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
