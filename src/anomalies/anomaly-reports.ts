import { costScope } from '../cost-reports/scope.ts';
import type { Incident } from '../costs/anomaly/incident.ts';
import type { Unusual } from '../costs/anomaly/unusual.ts';
import { selected } from '../costs/ledger/ledger.ts';
import type { CostRow } from '../costs/ledger/row.ts';
import type { DigestOptionsConfig } from '../digests/subscriptions/options.ts';
import { type SubscriptionSources, subscribed } from '../digests/subscriptions/subscriptions.ts';
import type { Service } from '../directory/directory.ts';
import type { Database } from '../storage/engine/database.ts';
import type { Announcement } from '../workflow/notify/announcement.ts';
import type { Tellings } from './announcements.ts';
import { alertAnswer, crowdAnswer } from './anomaly-text.ts';
import { reportKey } from './redraw-announcements.ts';

export interface Routing extends SubscriptionSources {
  readonly database: Database;
  readonly services: () => readonly Service[];
  readonly now: () => Date;
}

export interface Reports {
  readonly all: readonly Announcement[];
  /** The incidents that are told with them, marked as such. */
  readonly told: readonly Unusual[];
}

/** Each to the first digest that covers its line and wants it; what none does is told nowhere. */
export async function reportsFor(
  context: Routing,
  { ones, crowds }: Tellings,
  rows: readonly CostRow[],
): Promise<Reports> {
  const routes = ones.length + crowds.length > 0 ? await routesOf(context, rows) : [];
  const channelOf = ({ entityId, incident }: Unusual, isCrowd = false) =>
    routes.find(
      ({ entities, options }) => entities.has(entityId) && isWorthIt(options, incident, isCrowd),
    )?.channel ?? null;
  const single = ones.flatMap((telling) => {
    const channel = channelOf(telling.unusual);
    if (channel === null) return [];
    const { day } = telling;
    const ends = telling.news === 'resolved' || telling.news === 'new-normal';
    const key = reportKey(telling.unusual, telling);
    const thread = ends ? reportKey(telling.unusual, { news: 'opened', day }) : null;
    const report = { key, channel, thread, answer: alertAnswer(telling) };
    return [{ report, told: { ...telling.unusual, told: 'alone' as const } }];
  });
  const common = crowds.flatMap((crowd) => {
    const byChannel = Map.groupBy(crowd.all, (one) => channelOf(one, true) ?? '');
    byChannel.delete('');
    return [...byChannel].map(([channel, all]) => {
      const key = `crowd ${crowd.day} ${crowd.direction} ${channel}`;
      const answer = crowdAnswer({ ...crowd, all });
      const told = all.map((one) => ({ ...one, told: 'crowd' as const }));
      return { report: { key, channel, thread: null, answer }, told };
    });
  });
  return {
    all: [...single, ...common].map(({ report }) => report),
    told: [...single.map(({ told }) => told), ...common.flatMap(({ told }) => told)],
  };
}

/** Alerts are, and for a sensitive digest notices too; of a crowd, whatever it is made of. */
function isWorthIt(
  { sensitivity, increasesOnly }: DigestOptionsConfig,
  { tier, direction }: Incident,
  isCrowd: boolean,
): boolean {
  if (direction === 'down' && increasesOnly) return false;
  return isCrowd || tier === 'alert' || sensitivity === 'high';
}

async function routesOf(context: Routing, rows: readonly CostRow[]) {
  const { all } = await subscribed(context.database.db, context);
  const now = context.now();
  const speaking = all.filter(
    ({ paused, options: { mutedUntil, sections } }) =>
      !paused && !(mutedUntil !== null && now < mutedUntil) && sections.includes('unusual'),
  );
  const services = context.services();
  return speaking.map(({ channel, options }) => {
    const { selector } = costScope(options.on, services, rows);
    const entities = new Set(selected(rows, selector).map(({ entityId }) => entityId));
    return { channel, options, entities };
  });
}
