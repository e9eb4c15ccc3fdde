import { stringify } from 'yaml';
import { SANDBOX_ZONE } from './clock/moves.ts';
import { addDays, dayOf } from './cloud/days.ts';
import { NAMES, ORGANIZATION } from './seed/organization.ts';
import type { OrganizationSeed } from './seed/shapes.ts';
import { forOrganization } from './slack/workspace/organization.ts';

/** A signalbox.yaml for the example organization: every service of the seed and sample rules. */
export function sandboxYaml(organizations?: readonly OrganizationSeed[]): string {
  return stringify(baseConfiguration(organizations));
}

interface ReportOptions {
  readonly priced?: boolean;
  /** For the two workspaces of the organization. */
  readonly orgWide?: boolean;
  /** Where Slackbot may ask for people; no agents by default. */
  readonly mcpUrl?: string;
  /** Several organizations, in the order of their names. */
  readonly organizations?: readonly OrganizationSeed[] | undefined;
}

/**
 * The same file with digests, budgets and the reads of live servers, which the sandbox itself uses.
 * `priced`: with a price of a credit that rose 20 days ago.
 */
export function sandboxYamlWithReports(
  { priced = false, mcpUrl, orgWide = false, organizations }: ReportOptions = {},
  now = new Date(),
): string {
  const begin = (days: number) => dayOf(addDays(now, -days));
  const price = [
    { perCredit: 0.32, currency: 'EUR', from: begin(800) },
    { perCredit: 0.35, currency: 'EUR', from: begin(20) },
  ];
  const base = baseConfiguration(organizations);
  const file = {
    ...base,
    ...(mcpUrl && withSlackbot(base.policy, mcpUrl)),
    ...(priced ? { costs: { price } } : {}),
    cloud: { reads: 'extended' },
    digests: DIGESTS,
    budgets: BUDGETS,
    alerts: [{ channel: '#ops' }],
  };
  return stringify(orgWide ? forOrganization(file) : file);
}

const DIGESTS = [
  { channel: '#db-costs', at: '09:00', timezone: SANDBOX_ZONE, days: 'daily' },
  {
    ...{ channel: '#db-costs', timezone: SANDBOX_ZONE, period: 'week', days: ['mon'] },
    on: { tags: ['prod'] },
  },
];

// Compared with the costs of the seed, the first budget is sufficient and the second is not.
const BUDGETS = [
  { name: 'everything', monthlyCredits: 9_000, notify: '#db-costs' },
  { name: 'production', monthlyCredits: 5_500, on: { tags: ['prod'] }, notify: '#db-costs' },
];

function withSlackbot(policy: readonly object[], url: string) {
  const tools = ['service list', 'service show', 'service stop', 'service start', 'cost'];
  return {
    policy: policy.map((rule) => ('approvals' in rule ? { ...rule, agents: ['slackbot'] } : rule)),
    agents: {
      url,
      // The conformance suite sends the origin of the address itself, and some 100 calls at once.
      origins: [new URL(url).origin],
      allow: [
        {
          ...{ name: 'slackbot', for: 'people', by: 'slack', tools },
          limits: { callsPerMinute: 600 },
        },
      ],
    },
  };
}

function servicesOf({ services, pipes }: OrganizationSeed, organization?: string) {
  return services.map(({ name, id, tags, team, warehouse }) => ({
    name: name.replaceAll(' ', '-'),
    id,
    ...(organization ? { organization } : {}),
    tags: [...tags],
    ...(team ? { team } : {}),
    warehouse,
    pipes: pipes
      .filter(({ service }) => service === name)
      .map((pipe) => ({ name: pipe.name, id: pipe.id })),
  }));
}

function organizationsOf(all: readonly OrganizationSeed[]) {
  const named = all.map((seed, at) => ({ seed, name: NAMES[at] ?? `organization-${at}` }));
  return {
    organizations: named.map(({ seed: { id, plan, tier }, name }) => ({ name, id, plan, tier })),
    services: named.flatMap(({ seed, name }) => servicesOf(seed, name)),
  };
}

function baseConfiguration(organizations: readonly OrganizationSeed[] = []) {
  const { id, plan, tier } = ORGANIZATION;
  const one = { organization: { id, plan, tier }, services: servicesOf(ORGANIZATION) };
  return {
    ...(organizations.length > 0 ? organizationsOf(organizations) : one),
    roles: {
      viewer: { groups: ['@engineering'] },
      operator: { groups: ['@db-operators'] },
      approver: { groups: ['@db-leads'] },
      // Ana is on call this week.
      oncall: { users: ['U0ANA00001'] },
    },
    channels: { approvals: '#db-approvals', audit: '#db-audit' },
    policy: [
      {
        allow: [
          ...['service list', 'service show', 'backup show', 'pipe settings', 'backup list'],
          ...['service schedule list', 'pipe list', 'endpoint list'],
          ...['alert list', 'alert show', 'cost', 'cost csv', 'cost digest', 'cost forecast'],
          ...['change list', 'change show', 'change log', 'change cancel', 'cost why'],
          ...['cost anomalies', 'cost budget', 'change freezes', 'change who'],
        ],
        to: 'viewer',
      },
      {
        allow: ['service stop', 'service start', 'service scale'],
        on: { tags: ['prod'] },
        to: 'operator',
        approvals: { from: 'approver', count: 2, escalate: { to: 'operator', after: '2h' } },
        reason: 'required',
        expires: '4h',
        breakGlass: { to: 'oncall' },
      },
      {
        allow: ['change freeze', 'change unfreeze'],
        to: 'operator',
        approvals: { from: 'approver', count: 1 },
      },
      {
        allow: ['service *', 'endpoint *', 'alert edit'],
        to: 'operator',
        approvals: { from: 'approver', count: 1 },
      },
      // The rules of what is allowed say who approves it.
      { allow: ['change allow'], to: 'operator' },
    ],
  };
}
