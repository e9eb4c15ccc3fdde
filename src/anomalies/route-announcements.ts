import type { DigestOptionsConfig } from '../config/digest-options.ts';
import { costScope } from '../cost-reports/scope.ts';
import type { CostAnomaly } from '../costs/anomaly/cost-anomaly.ts';
import type { Incident } from '../costs/anomaly/incident.ts';
import { selected } from '../costs/ledger/ledger.ts';
import type { CostRow } from '../costs/ledger/row.ts';
import type { Service } from '../directory/directory.ts';
import type { Announcement } from '../workflow/notify/announcement.ts';
import type { AnomalyAnnouncements } from './announcements.ts';
import { anomalyMessage, commonCauseMessage } from './anomaly-text.ts';
import { announcementKey } from './redraw-announcements.ts';

/** A channel that gets a digest, and with it the announcements of what the digest covers. */
export interface AnomalyChannel {
  readonly channel: string;
  readonly options: DigestOptionsConfig;
  readonly paused: boolean;
}

export interface RoutingContext {
  readonly channels: () => Promise<readonly AnomalyChannel[]>;
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
  { ones, crowds }: AnomalyAnnouncements,
  rows: readonly CostRow[],
): Promise<RoutedAnnouncements> {
  const routes = ones.length + crowds.length > 0 ? await routesOf(context, rows) : [];
  const channelOf = ({ entityId, incident }: CostAnomaly, isCommon = false) =>
    routes.find(
      ({ entities, options }) => entities.has(entityId) && accepts(options, incident, isCommon),
    )?.channel ?? null;
  const single = ones.flatMap((one) => {
    const { anomaly, news, day } = one;
    const channel = channelOf(anomaly);
    if (channel === null) return [];
    const isEnd = news === 'resolved' || news === 'new-normal';
    const key = announcementKey(anomaly, one);
    const thread = isEnd ? announcementKey(anomaly, { news: 'opened', day }) : null;
    const announcement = { key, channel, thread, answer: anomalyMessage(one) };
    return [{ announcement, announced: [{ ...anomaly, announced: 'alone' as const }] }];
  });
  const common = crowds.flatMap((crowd) => {
    const byChannel = Map.groupBy(crowd.all, (one) => channelOf(one, true) ?? '');
    byChannel.delete('');
    return [...byChannel].map(([channel, all]) => {
      const key = `crowd ${crowd.day} ${crowd.direction} ${channel}`;
      const answer = commonCauseMessage({ ...crowd, all });
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

/** Alerts are accepted; notices only by a sensitive digest; a common cause whatever its tier. */
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
    const entities = new Set(selected(rows, selector).map(({ entityId }) => entityId));
    return { channel, options, entities };
  });
}
