import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Change, ChangeId } from '../domain/change.ts';
import { LOST_HASH } from '../domain/place.ts';
import type { CardMark, Mark } from '../workflow/index.ts';
import type { AnyBlock, Message } from './blocks.ts';

// The mark of a message is the block id of its first block: it names the last event that the message shows. Slack
// keeps it with the message, where no rollback of the database reaches it.

/**
 * `s1.4.<hash>.7KQ2MX`: a card; `~` and a word after it name what it shows beside its events. With a fifth word, a note
 * or a line about an execution, named by its claim. `s1f`: it shows a freeze that was made. `7KQ2MX@R3M9QD`: a run of
 * that schedule, which is found by it where the log has lost the run.
 */
const MARK =
  /^s1(f?)\.(\d{1,9})\.([\w-]{20,64})\.([0-9A-Z]{4,12})(?:@([0-9A-Z]{4,12}))?(?:~(\w{1,16}))?(?:\.([\w-]{1,64}))?$/;
/** The fifth word of a line about a change that was never claimed. */
const NO_NONCE = '-';

/** What a message says that it shows. */
export interface MessageMark extends CardMark {
  readonly change: ChangeId;
  /** The schedule of which it is a run. */
  readonly schedule: ChangeId | null;
  /** Whether the message shows a freeze that was made. */
  readonly isFreeze: boolean;
  /** Null: the message is a card or a copy of one. */
  readonly nonce: string | null;
}

/** The card of a change, or a copy of it, with the mark of the last event that it shows. */
export function markedCard(card: Message, change: Change, mark: CardMark = change): Message {
  return withBlockId(card, `${kindOf(change)}.${shownIn(mark, nameOf(change))}`);
}

/** A note or a line about an execution, with its mark. */
export function markedLine(
  line: Message,
  change: Change,
  { version, hash }: Mark,
  nonce: string | null,
): Message {
  const shown = shownIn({ version, hash }, nameOf(change));
  return withBlockId(line, `${kindOf(change)}.${shown}.${nonce ?? NO_NONCE}`);
}

/** The card of a change that the log has lost; with `other`, a card of a change that stands on another one. */
export function markedLost(card: Message, change: ChangeId, other: CardMark | null): Message {
  const mark = other ?? { version: 1, hash: `${LOST_HASH}${randomUUID()}` };
  return withBlockId(card, `s1.${shownIn(mark, change)}`);
}

function shownIn({ version, hash, revision = '' }: CardMark, name: string): string {
  return `${version}.${hash}.${name}${revision === '' ? '' : `~${revision}`}`;
}

function kindOf({ command, state }: Change): 's1' | 's1f' {
  return command === 'change freeze' && state === 'succeeded' ? 's1f' : 's1';
}

function nameOf({ id, plan }: Change): string {
  const { schedule } = plan.timing ?? {};
  return schedule ? `${id}@${schedule}` : id;
}

const POST = 'p1.';

/** A post that is posted once per name, for example a digest, with its name. */
export function markedPost(post: Message, name: string): Message {
  return withBlockId(post, `${POST}${name}`);
}

/** The name of a post as Slack returned it; null for any other message. */
export function postMarkOf(blocks: unknown): string | null {
  const id = firstBlockId(blocks);
  return id.startsWith(POST) ? id.slice(POST.length) : null;
}

function withBlockId({ text, blocks: [first, ...others] }: Message, id: string): Message {
  if (!first) throw new Error('A message without blocks has no mark');
  // A literal of the union: only the id is replaced.
  const marked = { ...first, block_id: id } as AnyBlock;
  return { text, blocks: [marked, ...others] };
}

function firstBlockId(blocks: unknown): string {
  const [first] = Blocks.safeParse(blocks).data ?? [];
  return first?.block_id ?? '';
}

const Blocks = z.array(z.object({ block_id: z.string().optional() }));

/** The mark of a message as Slack returned it; null for a message without one. */
export function markOf(blocks: unknown): MessageMark | null {
  const [, freeze, version, hash, change, schedule = null, revision, nonce = null] =
    MARK.exec(firstBlockId(blocks)) ?? [];
  if (!version || !hash || !change) return null;
  // Signalbox alone writes messages in its name, with the ids of changes there.
  const ids = { change: change as ChangeId, schedule: schedule as ChangeId | null };
  const mark = { version: Number(version), hash, ...ids, isFreeze: freeze === 'f', nonce };
  return revision === undefined ? mark : { ...mark, revision };
}
