import { copiesOfStaging, organizationWith, withDevServices } from '../harness/services.ts';
import { openContractBot } from './contract-bot.ts';

/** Starts the bot for a large organization: this many services and alerts in addition to the seed. */
export async function openLargeOrganization(counts: { services: number; alerts: number }) {
  const services = copiesOfStaging(counts.services, 'shard-of-team');
  const bot = await openContractBot({
    organization: organizationWith(services),
    file: (file) => withDevServices(file, services),
  });
  bot.alerts.addAlerts(counts.alerts);
  return bot;
}
