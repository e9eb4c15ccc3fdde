import { ORGANIZATION } from '../../sandbox/seed/organization.ts';
import { copiesOfStaging } from '../harness/people.ts';
import { type ConfigFile, openBooth } from './booth.ts';

/** A booth of a large organization, with this many more services and alerts. */
export async function openCrowd({ services, alerts }: { services: number; alerts: number }) {
  const crowd = copiesOfStaging(services, 'shard-of-team');
  const organization = { ...ORGANIZATION, services: [...ORGANIZATION.services, ...crowd] };
  const withCrowd = (file: ConfigFile & { services?: readonly object[] }): ConfigFile => ({
    ...file,
    services: [
      ...(file.services ?? []),
      ...crowd.map(({ name, id }) => ({ name, id, tags: ['dev'], warehouse: 'lab' })),
    ],
  });
  const booth = await openBooth({ organization, file: withCrowd });
  booth.alerts.addAlerts(alerts);
  return booth;
}
