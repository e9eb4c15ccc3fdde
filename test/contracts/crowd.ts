import { ORGANIZATION } from '../../sandbox/seed/organization.ts';
import { type ConfigFile, openBooth } from './booth.ts';

/** A booth of a large organization: this many services and alerts beside those of the seed. */
export async function openCrowd({ services, alerts }: { services: number; alerts: number }) {
  const like = ORGANIZATION.services.find(({ name }) => name === 'staging');
  if (!like) throw new Error('The seed has no service called staging');
  const crowd = Array.from({ length: services }, (_, index) => ({
    ...like,
    name: `shard-of-team-${index + 1}`,
    id: `00000000-0000-4000-8000-${String(index + 1).padStart(12, '0')}`,
  }));
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
