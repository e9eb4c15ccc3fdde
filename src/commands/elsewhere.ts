/** The changes of a service that were not made with the key of Signalbox. */

import { cleanText, ownValue } from '../base/text.ts';
import { addDays, dayOf } from '../base/time.ts';
import type { Caller, InlinePart } from '../domain/answer.ts';
import { type Service, serviceTarget } from '../domain/targets.ts';
import { plainWords } from '../domain/words.ts';
import type { ActivityReading } from '../servers/cloud-readings.ts';
import type { OptionalRead } from '../servers/optional-reads.ts';
import type { CommandContext } from './define.ts';
import { reportedTime } from './reported.ts';

const DAYS_BACK = 6;

/** Reads the changes of the last seven days for a user: a line each, newest first, with its time. */
export async function readElsewhere(
  service: Service,
  { reads, now, isOperatorOf }: Pick<CommandContext, 'reads' | 'now' | 'isOperatorOf'>,
  { by }: Caller,
): Promise<OptionalRead<readonly (readonly InlinePart[])[]>> {
  const today = dayOf(now());
  const period = { from_date: addDays(today, -DAYS_BACK), to_date: today };
  const how = { waiting: true, organization: service.organizationId };
  const read = await reads.cloud.activities(period, how);
  if (!read.known) return read;
  const others = read.value.filter((one) => one.serviceId === service.id && !one.isOwnKey);
  // Who made a change is personal data, so only operators of the service see it.
  const isOperator = await isOperatorOf(serviceTarget(service), by);
  const value = others.filter(isChange).map((one) => {
    const at = reportedTime(one.createdAt);
    const when: readonly InlinePart[] = at ? [', ', { at }] : [];
    return [`${doneText(one)} ${isOperator ? byText(one) : 'outside Signalbox'}`, ...when];
  });
  return { ...read, value };
}

/** A type that is not known is shown as the server names it. */
function doneText({ type }: ActivityReading): string {
  const name = type ?? '';
  return ownValue(DONE, name) ?? cleanText(plainWords(name.replace(/^service_/, '')), 60);
}

const DONE: Readonly<Record<string, string>> = {
  service_create: 'Created',
  service_start: 'Started',
  service_stop: 'Stopped',
  service_delete: 'Deleted',
  service_upgrade: 'Upgraded',
  service_restore_backup: 'Restored from a backup',
  service_scaled_down_for_tier_change: 'Scaled down for another tier',
  service_update_name: 'Renamed',
  service_update_autoscaling_memory: 'Memory scaled',
  service_update_autoscaling_replicas: 'Replicas scaled',
  service_update_autoscaling_idling: 'Idling changed',
  service_update_autoscaling_schedule: 'Scaling schedule changed',
  service_update_ip_access_list: 'IP access list changed',
};

function byText({ actorType, actorDetails }: ActivityReading): string {
  const who = cleanText(actorDetails ?? '', 100);
  if (actorType === 'user') return `in the console by ${who || 'an unknown user'}`;
  if (actorType === 'api') return `by another API key${who && ` (${who})`}`;
  if (actorType === 'system') return 'by the server';
  const type = cleanText(actorType ?? 'an unknown actor', 60);
  return `by ${type}${who && ` (${who})`}`;
}

/**
 * The changes that a person or a program made, in bounded words; also those of the own key, of which the log says
 * whether Signalbox sent them. What the server did by itself is no decision of anyone.
 */
export function decidedChanges(activities: readonly ActivityReading[]) {
  const decided = activities.filter((one) => one.actorType !== 'system' && isChange(one));
  const own = 'with the API key of Signalbox, but not by Signalbox';
  return decided.map((one) => {
    return { ...one, what: doneText(one), by: one.isOwnKey ? own : byText(one) };
  });
}

function isChange({ type }: ActivityReading): boolean {
  return type?.startsWith('service_') === true && !BY_ITSELF.includes(type);
}

/** What a service does by itself: no change that a user made. */
const BY_ITSELF: readonly string[] = [
  ...['service_idle', 'service_awaken', 'service_running', 'service_partially_running'],
  ...['service_maintenance_start', 'service_maintenance_end'],
];
