import type { Answer, Caller, Channel, ChannelLookup } from '../../domain/answer.ts';
import { textAnswer } from '../../domain/answer.ts';
import { postChannel } from '../../workflow/notify/post-once.ts';
import type { DigestContext } from '../digest-context.ts';

import {
  type BrokenSubscription,
  type DigestRequest,
  type DigestSubscription,
  digestName,
  loadSubscriptions,
} from './subscriptions.ts';

/** Finds a digest by its id, as `#costs:week` from the file, or as the only one of a channel. */
export async function findDigest(
  context: DigestContext,
  { which }: DigestRequest,
  caller: Caller,
): Promise<DigestSubscription | Answer> {
  const { all, broken } = await loadSubscriptions(context.database.db, context);
  const word = which ?? caller.channel ?? '';
  const byName = all.find((one) => bare(digestName(one)) === bare(word));
  if (byName) return byName;
  const invalid = broken.find(({ id }) => id === word.toUpperCase());
  if (invalid) return invalidDigest(invalid);
  const own = await ofChannel(context, all, channelWord(which) ?? caller.channel ?? '');
  const [one] = own;
  if (one && own.length === 1) return one;
  const text = one
    ? `This channel gets ${own.length} digests. Name one: ${own.map(digestName).join(', ')}.`
    : 'No digest has this id, and the channel gets no digest.';
  return textAnswer('Which digest?', text, [{ label: 'Show all', line: 'cost digest list' }]);
}

async function ofChannel(context: DigestContext, all: readonly DigestSubscription[], word: string) {
  const channels = [...new Set([...all.map(({ channel }) => channel), word])].filter(Boolean);
  const rooms = await context.messenger.findChannels(channels);
  const idOf = (channel: string) => {
    const found = rooms.get(channel);
    return found?.ok ? found.room.id : channel;
  };
  return all.filter(({ channel }) => idOf(channel) === idOf(word));
}

function invalidDigest({ id, problem }: BrokenSubscription): Answer {
  const text = `Digest ${id} has invalid options: ${problem}. Remove it and add it again.`;
  return textAnswer('Invalid digest', text, [
    { label: 'Remove', line: `cost digest remove ${id}` },
  ]);
}

/** The channel of the request, or the channel in which the command was typed. */
export async function findDigestChannel(
  context: DigestContext,
  request: DigestRequest,
  caller: Caller,
): Promise<{ readonly room: Channel } | Answer> {
  const word = channelWord(request.which) ?? caller.channel;
  // A direct message with the app is not a channel for digests.
  if (word === null || word.startsWith('D'))
    return textAnswer('Which channel?', 'Name the channel, for example: #costs');
  const found = (await context.messenger.findChannels([word])).get(word);
  const to = postChannel(found);
  if (to.ok) return { room: to.channel };
  if (to.again) return textAnswer('Try again', `${to.why}. Try again in a minute.`);
  const name = found?.ok ? `#${found.room.name}` : nameOf(request.which, word);
  return textAnswer('Not in this channel', `${name} gets no cost digest: ${refusalText(found)}`);
}

/** Why a channel gets no digest, and what to do. */
function refusalText(found: ChannelLookup | undefined): string {
  const invite = 'Type /invite @Signalbox in that channel, then run this command there.';
  if (!found?.ok) {
    return `the channel does not exist, or is private and Signalbox is not in it. ${invite}`;
  }
  return found.room.outside
    ? 'the channel is shared with another workspace. Choose another channel.'
    : `Signalbox is not in the channel. ${invite}`;
}

/** The channel as the user named it; an id that Slack does not resolve is not shown. */
function nameOf(which: string | null, word: string): string {
  const [, name] = /^<#[CG][A-Z0-9]+\|([^>]+)>$/.exec(which ?? '') ?? [];
  if (name) return `#${name}`;
  return word.startsWith('#') ? word : 'The channel';
}

/** `<#C0123|costs>`, `#costs`, `costs` or an id. */
function channelWord(which: string | null): string | null {
  if (which === null) return null;
  const [, id] = /^<#([CG][A-Z0-9]+)(?:\|[^>]*)?>$/.exec(which) ?? [];
  if (id) return id;
  return /^([CG][A-Z0-9]{6,}|#.*)$/.test(which) ? which : `#${which.toLowerCase()}`;
}

function bare(name: string): string {
  return name.toLowerCase().replace(/^#/, '');
}
