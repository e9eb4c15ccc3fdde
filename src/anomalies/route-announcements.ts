import type { DigestOptionsConfig } from '../config/digest-options.ts';
import { costScope } from '../cost-reports/scope.ts';
import type { Service } from '../domain/targets.ts';
import type { CostAnomaly, Incident } from '../maths/anomalies.ts';
import { selectRows } from '../maths/days.ts';
import type { PriceList } from '../maths/money.ts';
import { type CostRow, entityKey } from '../maths/rows.ts';
import type { Announcement } from '../workflow/notify/announcement.ts';
import type { AnomalyAnnouncements } from './announcements.ts';
import { anomalyMessage, commonCauseMessage } from './anomaly-text.ts';
import { announcementKey } from './redraw-announcements.ts';

/** A channel that gets a digest, and with it the announcements of what the digest covers. */
interface AnomalyChannel {
  readonly channel: string;
  readonly options: DigestOptionsConfig;
  readonly paused: boolean;
}

export interface RoutingContext {
  readonly channels: () => Promise<readonly AnomalyChannel[]>;
  readonly prices: PriceList | null;
  readonly services: () => readonly Service[];
  readonly now: () => Date;
}

export interface RoutedAnnouncements {
  readonly all: readonly Announcement[];
  /** The announced anomalies, marked as announced. */
  readonly announced: readonly CostAnomaly[];
}

/**
 * Sends each announcement to the first channel whose digest covers the line and accepts the
 * anomaly. An anomaly that no digest covers is not announced.
 */
export async function routeAnnouncements(
  context: RoutingContext,
  { alone, commonCauses }: AnomalyAnnouncements,
  rows: readonly CostRow[],
): Promise<RoutedAnnouncements> {
  const routes = alone.length + commonCauses.length > 0 ? await routesOf(context, rows) : [];
  const channelOf = (anomaly: CostAnomaly, isCommon = false) =>
    routes.find(
      ({ entities, options }) =>
        entities.has(entityKey(anomaly)) && accepts(options, anomaly.incident, isCommon),
    )?.channel ?? null;
  const single = alone.flatMap((one) => {
    const { anomaly, news, day } = one;
    const channel = channelOf(anomaly);
    if (channel === null) return [];
    const isEnd = news === 'resolved' || news === 'new-normal';
    const key = announcementKey(anomaly, one);
    const thread = isEnd ? announcementKey(anomaly, { news: 'opened', day }) : null;
    const announcement = { key, channel, thread, answer: anomalyMessage(one, context.prices) };
    return [{ announcement, announced: [{ ...anomaly, announced: 'alone' as const }] }];
  });
  const common = commonCauses.flatMap((cause) => {
    const byChannel = Map.groupBy(cause.all, (one) => channelOf(one, true) ?? '');
    byChannel.delete('');
    return [...byChannel].map(([channel, all]) => {
      // Release 1.0 stored keys of this form.
      const key = `crowd ${cause.day} ${cause.direction} ${channel}`;
      const answer = commonCauseMessage({ ...cause, all }, context.prices);
      const announced = all.map((one) => ({ ...one, announced: 'crowd' as const }));
      return { announcement: { key, channel, thread: null, answer }, announced };
    });
  });
  const routed: readonly RoutedAnnouncement[] = [...single, ...common];
  return {
    all: routed.map(({ announcement }) => announcement),
    announced: routed.flatMap(({ announced }) => announced),
  };
}

interface RoutedAnnouncement {
  readonly announcement: Announcement;
  readonly announced: readonly CostAnomaly[];
}

/** Alerts are accepted; notices only by a sensitive digest; a common cause of any tier. */
function accepts(
  { sensitivity, increasesOnly }: DigestOptionsConfig,
  { tier, direction }: Incident,
  isCommonCause: boolean,
): boolean {
  if (direction === 'down' && increasesOnly) return false;
  return isCommonCause || tier === 'alert' || sensitivity === 'high';
}

async function routesOf(context: RoutingContext, rows: readonly CostRow[]) {
  const now = context.now();
  const active = (await context.channels()).filter(
    ({ paused, options: { mutedUntil, sections } }) =>
      !paused && !(mutedUntil !== null && now < mutedUntil) && sections.includes('unusual'),
  );
  const services = context.services();
  return active.map(({ channel, options }) => {
    const { selector } = costScope(options.on, services, rows);
    const entities = new Set(selectRows(rows, selector).map(entityKey));
    return { channel, options, entities };
  });
}
