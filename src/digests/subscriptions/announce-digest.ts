import { labelOf } from '../../cost-reports/scope.ts';
import type { AnswerPart, InlinePart } from '../../domain/answer.ts';
import type { UserId } from '../../domain/change.ts';
import { postChannel } from '../../workflow/notify/post-once.ts';
import type { DigestServiceContext } from './digest-service-context.ts';
import { whenText } from './listing.ts';
import type { DigestSubscription } from './subscriptions.ts';

interface Announcement {
  readonly by: UserId;
  readonly did: 'added' | 'removed';
}

/**
 * Shows the channel who added or removed its digest, in one line; an added one has a button for the
 * list. The digest is stored already, so that a line that is not posted is logged only.
 */
export async function announceDigest(
  { messenger, log }: Pick<DigestServiceContext, 'messenger' | 'log'>,
  one: Pick<DigestSubscription, 'id' | 'channel' | 'options'>,
  { by, did }: Announcement,
): Promise<void> {
  const { on } = one.options;
  const about = `${whenText(one)}${on ? `, ${labelOf(on)}` : ''}`;
  const line: readonly InlinePart[] = [{ user: by }, ` ${did} a cost digest: ${about}.`];
  const list = { label: 'Show digests', line: 'cost digest list' };
  const parts: readonly AnswerPart[] = [
    { kind: 'lines', lines: [line] },
    ...(did === 'added' ? [{ kind: 'offers', offers: [list] } as const] : []),
  ];
  try {
    const to = postChannel((await messenger.findChannels([one.channel])).get(one.channel));
    const posted = to.ok ? await messenger.postToChannel(to.channel.id, { title: '', parts }) : to;
    if (!posted.ok) log.warn({ why: posted.why }, 'announcement of a digest was refused');
  } catch (error) {
    log.warn({ err: error }, 'announcement of a digest was not posted');
  }
}
