import { ORGANIZATION } from '../../sandbox/seed/organization.ts';
import type { OrganizationSeed, ServiceSeed } from '../../sandbox/seed/shapes.ts';

/** Copies of the service `staging`, so that each change of a test can have its own service. */
export function copiesOfStaging(count: number, prefix = 'shard'): ServiceSeed[] {
  const staging = ORGANIZATION.services.find(({ name }) => name === 'staging');
  if (!staging) throw new Error('The seed has no service called staging');
  return Array.from({ length: count }, (_, index) => ({
    ...staging,
    name: `${prefix}-${index + 1}`,
    id: `00000000-0000-4000-8000-${String(index + 1).padStart(12, '0')}`,
  }));
}

/** The organization of the seed with more services. */
export function organizationWith(services: readonly ServiceSeed[]): OrganizationSeed {
  return { ...ORGANIZATION, services: [...ORGANIZATION.services, ...services] };
}

type Named = Pick<ServiceSeed, 'name' | 'id'>;

/** Configuration entries of these services; every second one is tagged prod and needs two approvals. */
export function serviceEntries(services: readonly Named[]) {
  return services.map(({ name, id }, index) => {
    return { name, id, tags: [index % 2 === 0 ? 'prod' : 'dev'], warehouse: 'lab' };
  });
}

/** A configuration file with more services, all tagged dev. */
export function withDevServices<F extends { readonly services?: unknown }>(
  file: F,
  services: readonly Named[],
) {
  const more = services.map(({ name, id }) => ({ name, id, tags: ['dev'], warehouse: 'lab' }));
  return { ...file, services: [...Object(file.services ?? []), ...more] };
}
