import type { SlackSimulator } from '../../sandbox/slack/simulator.ts';
import { typingUser, until } from '../../test/contracts/typing-user.ts';
import { ANA, BEN, DORA, EMIL } from '../../test/harness/users.ts';
import { PEOPLE, SERVICES } from './year.ts';

export type Screens = Readonly<Record<string, () => Promise<unknown>>>;

/** Every screen that reads stored rows or costs, as a user opens it. */
export function screensOf(slack: SlackSimulator, ids: { open: string; ended: string }): Screens {
  const { run } = typingUser(slack, () => undefined);
  const [service, person] = [SERVICES[7]?.name ?? '', `<@${PEOPLE[217]}>`];
  const home = (as: string) => async () => {
    const before = slack.calls('views.publish').length;
    await slack.openHome({ as });
    await until(() => slack.calls('views.publish')[before], 'Home');
  };
  const lines = [
    ...['/change list', '/change list mine', '/change list all', '/change list review'],
    ...['state=failed', 'state=unknown', 'state=succeeded', `service=${service}`].map(
      (filter) => `/change list all ${filter}`,
    ),
    ...['since=yesterday', 'since=30d', `by=${person}`, `by=${person} state=failed`].map(
      (filter) => `/change list all ${filter}`,
    ),
    `/change list all service=${service} state=failed since=30d`,
    `/change list all before=${ids.ended}`,
    `/change show ${ids.open}`,
    `/change show ${ids.ended}`,
    ...['/change log', '/change log since=yesterday', `/change log by=${person}`],
    ...['/change log since=30d until=29d', '/change log state=failed'],
    ...['/change freezes', `/change who service stop ${service}`],
    ...['/service list', `/service show ${service}`, '/service schedule list', '/alert list'],
    ...['/cost', '/cost 7d by service', '/cost last-month', '/cost qtd by day', '/cost ytd'],
    ...['/cost last-year by month', '/cost forecast', '/cost why 7d', '/cost anomalies'],
    ...['/cost budget', '/cost digest'],
  ];
  return {
    'Home of an operator': home(ANA),
    'Home of an approver': home(BEN),
    'Home of a viewer': home(DORA),
    'Home without a role': home(EMIL),
    ...Object.fromEntries(
      lines.map((line) => [
        line.replace(person, '@someone'),
        async () => {
          const [title = ''] = await run(line);
          if (/not|refused|unknown/i.test(title)) process.stderr.write(`${line}: ${title}\n`);
        },
      ]),
    ),
  };
}
