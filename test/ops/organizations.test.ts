import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { sandboxYaml } from '../../sandbox/configuration.ts';
import { ORGANIZATION, OTHER_KEY, otherOrganization } from '../../sandbox/seed/organization.ts';
import { readCases, readPolicyFile, runCases } from '../../src/ops/policy.ts';
import { prove, readStatements } from '../../src/ops/prove.ts';
import { casesIn } from '../harness/cases.ts';
import { startDoctorSandbox } from './doctor-sandbox.ts';
import { edited, load, said } from './fixtures.ts';
import { expectLine, line } from './lines.ts';

const LIST = `organizations:
  - { name: prod-eu, id: 7d5e2c1a-8f0b-4c62-9a55-0b2f6f1f9f10, plan: paid, tier: scale }
  - { name: prod-us, id: fd5e2c1a-8f0b-4c62-9a55-0b2f6f1f9f10, plan: free, tier: basic, requestsPerMinute: 30 }
`;
const ONE = `organization:
  id: 7d5e2c1a-8f0b-4c62-9a55-0b2f6f1f9f10
  plan: paid                  # paid | free: the most memory of a replica, 356 or 120 GB
  tier: scale                 # basic | scale | enterprise: what a request may contain
`;

/** The example with two organizations; staging is of the second one and has the name of the first service. */
const TWO = edited(
  [ONE, LIST],
  ['  - name: analytics-prod\n', '  - name: analytics-prod\n    organization: prod-eu\n'],
  ['  - name: staging\n', '  - name: analytics-prod\n    organization: prod-us\n'],
  ['services: [analytics-prod]', 'services: [prod-eu/analytics-prod]'],
);
const KEYS = {
  CLOUD_API_KEY_ID: undefined,
  CLOUD_API_KEY_SECRET: undefined,
  CLOUD_API_KEY_ID_PROD_EU: 'eu',
  CLOUD_API_KEY_SECRET_PROD_EU: 'canary-eu',
  CLOUD_API_KEY_ID_PROD_US: 'us',
  CLOUD_API_KEY_SECRET_PROD_US: 'canary-us',
};

test('each organization has its key, and each service its organization; names are unique within one', () => {
  expect(said(KEYS, TWO)).toEqual([]);
  const loaded = load(KEYS, { './signalbox.yaml': TWO });
  const config = loaded.ok ? loaded.config : null;
  expect(config?.organizations).toMatchObject([
    { name: 'prod-eu', plan: 'paid', tier: 'scale', keyId: 'eu', requestsPerMinute: null },
    { name: 'prod-us', plan: 'free', tier: 'basic', keyId: 'us', requestsPerMinute: 30 },
  ]);
  const secrets = config?.organizations.map(({ keySecret }) => keySecret.reveal());
  expect(secrets).toEqual(['canary-eu', 'canary-us']);
  const ids = config?.organizations.map(({ id }) => id);
  expect(config?.services.map(({ organizationId }) => organizationId)).toEqual(ids);
});

test('a key can come from a file', () => {
  const files = { './signalbox.yaml': TWO, '/run/us': 'canary-file\n' };
  const env = { ...KEYS, CLOUD_API_KEY_SECRET_PROD_US: undefined };
  const loaded = load({ ...env, CLOUD_API_KEY_SECRET_PROD_US_FILE: '/run/us' }, files);
  expect(loaded.ok && loaded.config.organizations[1]?.keySecret.reveal()).toBe('canary-file');
});

test('a list of one organization has a named key, and its services need not name it', () => {
  const [, first = ''] = LIST.split('\n');
  const yaml = edited([ONE, `organizations:\n${first}\n`]);
  expect(said(KEYS, yaml)).toEqual([]);
  const file = readPolicyFile('signalbox.yaml', () => yaml);
  expect(file.ok && file.value.services.map(({ name }) => name)).toEqual([
    'analytics-prod',
    'staging',
  ]);
});

test('in a list of one, a name is unique whether its service names the organization or not', () => {
  const [, first = ''] = LIST.split('\n');
  const yaml = edited(
    [ONE, `organizations:\n${first}\n`],
    ['  - name: staging\n', '  - name: analytics-prod\n    organization: prod-eu\n'],
  );
  expect(said(KEYS, yaml)).toContain(
    'services[1].name: repeats “analytics-prod” (already used at services[0].name)',
  );
});

const REFUSED = casesIn(`
  both forms are given: organizations: → organization: { id: 7d5e2c1a-8f0b-4c62-9a55-0b2f6f1f9f10, plan: paid, tier: scale }\\norganizations:
    organizations: cannot stand beside organization (keep one of them)
  two have a name: name: prod-us → name: prod-eu
    organizations[1].name: repeats “prod-eu” (already used at organizations[0].name)
  two have an id: id: fd5e2c1a → id: 7d5e2c1a
    organizations[1].id: repeats “7d5e2c1a-8f0b-4c62-9a55-0b2f6f1f9f10” (already used at organizations[0].id)
  a name is that of no variable: name: prod-us → name: Prod US
    organizations[1].name: must be at most 40 lower-case letters, digits and dashes, and not end in file
  a name ends like the variable of a file: name: prod-us → name: prod-file
    organizations[1].name: must be at most 40 lower-case letters, digits and dashes, and not end in file
  more requests are allowed than the server admits: requestsPerMinute: 30 → requestsPerMinute: 600
    organizations[1].requestsPerMinute: must be at most 57
  a service names none:     organization: prod-us\\n →     # none\\n
    services[1].organization: is missing (one of: prod-eu, prod-us)
  a service names an unknown one: organization: prod-us\\n → organization: prod-asia\\n
    services[1].organization: names no organization: “prod-asia” (did you mean “prod-us”?)
  a service has the name of another one of its own: organization: prod-us\\n → organization: prod-eu\\n
    services[1].name: repeats “analytics-prod” (already used at services[0].name)
  a rule names an unknown one: on: { tags: [prod] }      # services → on: { organizations: [prod-as] }      # services
    policy[1].on.organizations[0]: names no organization: “prod-as” (did you mean “prod-us”?)
`);

test.for(REFUSED)('the start is refused when %s', ([, change, problem]) => {
  const [from = '', to = ''] = change.replaceAll('\\n', '\n').split(' → ');
  expect(TWO).toContain(from);
  const yaml = TWO.replace(from, () => to);
  const problems = said(KEYS, yaml);
  expect(problems.filter((one) => /^(organization|services|policy)/.test(one))).toContain(problem);
});

test('every missing key is named with its variable, also if the file has problems', () => {
  const env = { ...KEYS, CLOUD_API_KEY_ID_PROD_EU: undefined, CLOUD_API_KEY_SECRET_PROD_US: '' };
  const hint = (text: string) => `is not set (${text})`;
  expect(said(env, TWO.replace('plan: free', 'plan: gold'))).toEqual([
    `CLOUD_API_KEY_ID_PROD_EU: ${hint('the id of an API key, from the cloud console')}`,
    `CLOUD_API_KEY_SECRET_PROD_US: ${hint('the secret of that API key')}`,
    'organizations[1].plan: cannot be “gold” (one of: paid, free)',
  ]);
});

test('without a list, a service cannot name an organization', () => {
  const yaml = edited(['  - name: staging\n', '  - name: staging\n    organization: prod-us\n']);
  expect(said({}, yaml)).toEqual(['services[1].organization: names no organization: “prod-us”']);
});

test('the policy of an organization is tested and proved, and its names are those that people type', () => {
  const rule =
    "  - allow: [service stop, service create]\n    on: { organizations: [prod-us] }\n    to: operator\n    approvals: { from: approver, count: 2 }\n    channel: '#db-us'\n";
  const yaml = TWO.replace('policy:\n', `policy:\n${rule}`);
  const cases = `at: 2026-11-20T12:00Z
cases:
  - { roles: [operator], command: service stop, service: prod-us/analytics-prod, expect: { approvals: 2, from: approver }, rule: 1 }
  - { roles: [operator], command: service create, organization: prod-us, expect: { approvals: 2, from: approver }, rule: 1 }
  - { roles: [operator], command: service create, organization: prod-eu, expect: { approvals: 1, from: approver }, rule: 4 }
`;
  const files: Record<string, string> = { 'c.yaml': cases, 'signalbox.yaml': yaml };
  const read = readCases({
    ...{ cases: 'c.yaml', config: 'signalbox.yaml' },
    readFile: (path) => files[path] ?? '',
  });
  expect(read.ok ? runCases('c.yaml', read.value).text : read.problems).toContain('3 as expected');

  const file = readPolicyFile('signalbox.yaml', () => yaml);
  if (!file.ok) throw new Error(JSON.stringify(file.problems));
  const { statements } = readStatements('only operator may create a service', 's.txt', file.value);
  const proof = prove(file.value, statements, new Date('2026-11-28T10:00Z'));
  expect(proof.text).not.toContain('rule 1 never decides');
  expect(proof.text).toContain('✓ s.txt:1');
});

test('the doctor checks each organization with its key, and one that fails hides no other', async () => {
  const other = otherOrganization();
  const yaml = () => ({
    ...parse(sandboxYaml([ORGANIZATION, other])),
    cloud: { reads: 'extended' },
  });
  const sandbox = await startDoctorSandbox({ other, yaml: yaml as never });
  sandbox.other?.setKey(OTHER_KEY.id, { active: false });
  const lines = await sandbox.diagnose();
  expect(line(lines, 'cloud API of prod-eu')?.status).toBe('ok');
  expectLine(lines, 'cloud API of prod-us', [
    'failed',
    '',
    'copy CLOUD_API_KEY_ID_PROD_US and CLOUD_API_KEY_SECRET_PROD_US from the console again',
  ]);
  expect(lines.filter(({ name }) => name === 'alerts API')).toHaveLength(1);
  expect(lines.filter(({ name }) => name === 'services')).toMatchObject([{ status: 'ok' }]);
});
