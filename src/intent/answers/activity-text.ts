import type { InlinePart } from '../../domain/answer.ts';
import { oneLineOf } from '../../domain/answer.ts';
import type { ActivityReading } from '../../servers/cloud-readings.ts';
import type { OptionalRead } from '../../servers/optional-reads.ts';
import { reportedTime } from './backup-text.ts';

/** The changes that were made elsewhere, one line each, or why they are unknown. */
export type ElsewhereRead = OptionalRead<readonly (readonly InlinePart[])[]>;

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

/** What a service does by itself: no change that a user made. */
const BY_ITSELF: readonly string[] = [
  ...['service_idle', 'service_awaken', 'service_running', 'service_partially_running'],
  ...['service_maintenance_start', 'service_maintenance_end'],
];

/**
 * The changes of a service that were not made with the key of Signalbox, newest first, each with its
 * time. Who made them is personal data, so only operators of the service see it.
 */
export function elsewhereLines(
  activities: readonly ActivityReading[],
  serviceId: string,
  isOperator: boolean,
): readonly (readonly InlinePart[])[] {
  return changesElsewhere(activities, serviceId).map((one) => {
    const at = reportedTime(one.createdAt);
    const when: readonly InlinePart[] = at ? [', ', { at }] : [];
    return [`${doneText(one)} ${isOperator ? byText(one) : 'outside Signalbox'}`, ...when];
  });
}

/** The entries about changes of a service that were not made with the key of Signalbox. */
export function changesElsewhere(
  activities: readonly ActivityReading[],
  serviceId: string,
): readonly ActivityReading[] {
  return activities.filter((one) => one.serviceId === serviceId && !one.isOwnKey && isChange(one));
}

function isChange({ type }: ActivityReading): boolean {
  return type?.startsWith('service_') === true && !BY_ITSELF.includes(type);
}

/** A type that is not known is shown as the server names it. */
function doneText({ type }: ActivityReading): string {
  const name = type ?? '';
  return DONE[name] ?? oneLineOf(name.replace(/^service_/, '').replaceAll('_', ' '), 60);
}

function byText({ actorType, actorDetails }: ActivityReading): string {
  const who = oneLineOf(actorDetails ?? '', 100);
  if (actorType === 'user') return `in the console by ${who || 'an unknown user'}`;
  if (actorType === 'api') return `by another API key${who && ` (${who})`}`;
  if (actorType === 'system') return 'by the server';
  const type = oneLineOf(actorType ?? 'an unknown actor', 60);
  return `by ${type}${who && ` (${who})`}`;
}
