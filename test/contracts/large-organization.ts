import { ORGANIZATION } from '../../sandbox/seed/organization.ts';
import { copiesOfStaging } from '../harness/people.ts';
import { type ConfigFile, openContractBot } from './contract-bot.ts';

/** Starts the bot for a large organization: this many services and alerts in addition to the seed. */
export async function openLargeOrganization({
  services,
  alerts,
}: {
  services: number;
  alerts: number;
}) {
  const more = copiesOfStaging(services, 'shard-of-team');
  const organization = { ...ORGANIZATION, services: [...ORGANIZATION.services, ...more] };
  const withServices = (file: ConfigFile & { services?: readonly object[] }): ConfigFile => ({
    ...file,
    services: [
      ...(file.services ?? []),
      ...more.map(({ name, id }) => ({ name, id, tags: ['dev'], warehouse: 'lab' })),
    ],
  });
  const bot = await openContractBot({ organization, file: withServices });
  bot.alerts.addAlerts(alerts);
  return bot;
}
