import type { Message } from '../blocks/blocks.ts';

const PREVIEW = 'preview:';
const OWN = 'own:';

/** The block id of the buttons of a preview. */
export function previewBlock(id: string): string {
  return `${PREVIEW}${id}`;
}

/** The block id of the buttons of a card that only its reader sees. */
export function ownBlock(id: string): string {
  return `${OWN}${id}`;
}

/**
 * Whether the pressed buttons are in a private message. A direct message can also be the card itself,
 * in a workspace without an approvals channel.
 */
export function isPrivateBlock(id: string): boolean {
  return [PREVIEW, OWN].some((each) => id.startsWith(each));
}

export function isPreview({ blocks }: Message): boolean {
  return blocks.some(({ block_id = '' }) => block_id.startsWith(PREVIEW));
}
