import type { ChannelId } from '../../changes/change.ts';
import { monthOf, type Span, within } from '../../costs/calendar/calendar.ts';
import { formatSpan } from '../../costs/calendar/format.ts';
import type { DigestContext } from '../digest-context.ts';
import type { DigestData } from '../gather.ts';
import type { DigestSubscription } from '../subscriptions/subscriptions.ts';
import { closingKey, closingName } from './closing-channels.ts';
import { readClosing } from './closing-record.ts';
import { closingChanges } from './closing-text.ts';

/** What a monthly digest with final figures announces. */
export interface DigestClosing {
  /** The key of the announcement that the digest replaces. */
  readonly key: string;
  readonly lines: readonly string[];
}

interface MonthlyPost {
  readonly covers: Span;
  readonly channel: ChannelId;
  readonly data: DigestData;
}

/** Null for other digests, and while a day of the month is not final. */
export async function closingOfDigest(
  { database, organizationId }: Pick<DigestContext, 'database' | 'organizationId'>,
  { options: { period, on } }: DigestSubscription,
  { covers, channel, data: { states, read, services } }: MonthlyPost,
): Promise<DigestClosing | null> {
  if (period !== 'month' || within(states, covers).some(({ state }) => state !== 'final')) {
    return null;
  }
  const month = monthOf(covers.first);
  const { record } = await readClosing(database.db, { month, organizationId });
  const facts = record && { month, first: record.first, on, read: ofMonth(read, covers), services };
  const lines = facts ? closingChanges(facts).lines : [];
  return {
    key: closingKey({ month, organizationId }, closingName(channel, on)),
    lines: [`${formatSpan(covers, covers.last)} is final.`, ...lines],
  };
}

function ofMonth(read: DigestData['read'], covers: Span): DigestData['read'] {
  return { ...read, rows: within(read.rows, covers) };
}
