import type { Answer } from '../../intent/answers/answer.ts';
import type { Caller, DigestRequest } from '../../intent/ports/command-context.ts';
import type { Channel } from '../../workflow/messenger-port.ts';
import type { DigestContext } from '../digest-context.ts';
import { whyNot } from '../post.ts';
import { textAnswer } from './listing.ts';
import {
  type BrokenSubscription,
  type DigestSubscription,
  digestName,
  loadSubscriptions,
} from './subscriptions.ts';

/** By its id, by `#costs:week` where it stands in the file, or the only one of a channel. */
export async function findDigest(
  context: DigestContext,
  { which }: DigestRequest,
  asker: Caller,
): Promise<DigestSubscription | Answer> {
  const { all, broken } = await loadSubscriptions(context.database.db, context);
  const word = which ?? asker.channel ?? '';
  const byName = all.find((one) => bare(digestName(one)) === bare(word));
  if (byName) return byName;
  const lost = broken.find(({ id }) => id === word.toUpperCase());
  if (lost) return brokenOne(lost);
  const own = await ofChannel(context, all, channelWord(which) ?? asker.channel ?? '');
  const [one] = own;
  if (one && own.length === 1) return one;
  const text = one
    ? `${own.length} digests go there. Say which: ${own.map(digestName).join(', ')}.`
    : 'No digest goes there, and none has that id.';
  const offers = [{ label: 'Show all', line: 'cost digest list' }];
  return {
    title: 'Which digest?',
    parts: [
      { kind: 'text', text },
      { kind: 'offers', offers },
    ],
  };
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

function brokenOne({ id, problem }: BrokenSubscription): Answer {
  const text = `Digest ${id} cannot be composed any more: ${problem}. Remove it, and add it anew.`;
  const offers = [{ label: 'Remove it', line: `cost digest remove ${id}` }];
  return {
    title: 'That digest is broken',
    parts: [
      { kind: 'text', text },
      { kind: 'offers', offers },
    ],
  };
}

/** Where a channel is not said, it is the one in which somebody asks. */
export async function findDigestChannel(
  context: DigestContext,
  wish: DigestRequest,
  asker: Caller,
): Promise<{ readonly room: Channel } | Answer> {
  const word = channelWord(wish.which) ?? asker.channel;
  // In their own messages with the app there is no channel to take.
  if (word === null || word.startsWith('D'))
    return textAnswer('Which channel?', 'Name the channel, for example: #costs');
  const found = (await context.messenger.findChannels([word])).get(word);
  if (found?.ok !== true && found?.why !== 'no-such-channel') {
    return textAnswer(
      'Not now',
      'Slack did not tell of that channel just now. Try again in a minute.',
    );
  }
  const why = whyNot(found);
  if (why !== null || !found.ok) {
    return textAnswer('Not in this channel', `${word} gets no cost digest: ${why ?? 'not there'}.`);
  }
  return { room: found.room };
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
