import { lastDayOf, type Unusual } from '../costs/anomaly/unusual.ts';
import type { Tx } from '../storage/engine/database.ts';
import { enqueueRedraw, standingUnder } from '../workflow/notify/announcement.ts';
import type { OneTelling } from './announcements.ts';
import { alertAnswer } from './anomaly-text.ts';
import { incidentId } from './incident-store.ts';

const WITH_BUTTONS: readonly OneTelling['news'][] = ['opened', 'raised', 'doubled'];

/** The name of a message that tells of an incident, by what it told. */
export function reportKey(unusual: Unusual, { news, day }: Omit<OneTelling, 'unusual'>): string {
  const key = `incident ${incidentId(unusual)}`;
  return news === 'opened' ? key : `${key} ${news} ${day}`;
}

/** Every message that told of it and has its buttons, drawn anew from what it is by now. */
export async function redrawTold(tx: Tx, unusual: Unusual, now: Date): Promise<void> {
  const day = lastDayOf(unusual);
  for (const key of await standingUnder(tx, reportKey(unusual, { news: 'opened', day }))) {
    const news = WITH_BUTTONS.find((each) => each === (key.split(' ')[2] ?? 'opened'));
    if (!news) continue;
    await enqueueRedraw(tx, { key, answer: alertAnswer({ news, day, unusual }) }, now);
  }
}
