import { type CostAnomaly, lastDayOf } from '../maths/anomalies.ts';
import type { PriceList } from '../maths/money.ts';
import type { Tx } from '../storage/engine/database.ts';
import { enqueueRedraw, postedKeysUnder } from '../workflow/notify/announcement.ts';
import type { AnomalyAnnouncement } from './announcements.ts';
import { anomalyMessage } from './anomaly-text.ts';
import { incidentId } from './incident-store.ts';

const WITH_BUTTONS: readonly AnomalyAnnouncement['news'][] = ['opened', 'raised', 'doubled'];

/** The key under which a message about an anomaly is posted once. */
export function announcementKey(
  anomaly: CostAnomaly,
  { news, day }: Omit<AnomalyAnnouncement, 'anomaly'>,
): string {
  const key = `incident ${incidentId(anomaly)}`;
  return news === 'opened' ? key : `${key} ${news} ${day}`;
}

/** Redraws every posted message with buttons about this anomaly from its current state. */
export async function redrawAnnouncements(
  tx: Tx,
  anomaly: CostAnomaly,
  { now, prices }: { readonly now: () => Date; readonly prices: PriceList | null },
): Promise<void> {
  const day = lastDayOf(anomaly);
  for (const key of await postedKeysUnder(tx, announcementKey(anomaly, { news: 'opened', day }))) {
    const news = WITH_BUTTONS.find((each) => each === (key.split(' ')[2] ?? 'opened'));
    if (!news) continue;
    const answer = anomalyMessage({ news, day, anomaly }, prices);
    await enqueueRedraw(tx, { key, answer }, now());
  }
}
