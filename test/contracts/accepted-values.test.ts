import { expect, test } from 'vitest';
import { ORGANIZATION } from '../../sandbox/seed/organization.ts';
import { isAccepted } from '../../src/commands/accepted.ts';
import { ACCEPTED_VALUES, type AcceptedField } from '../../src/servers/accepted-values.ts';
import { NEEDED, RATE, SEARCH } from '../sandbox/alerts/updates.ts';
import { alertsServer, cloudServer } from '../sandbox/servers.ts';

const OTHERS: Readonly<Record<string, readonly string[]>> = {
  'create service.name': ['analytics eu', 'analytics-eu', 'a_b', 'n'.repeat(50), 'n'.repeat(51)],
  'create service.endpoints.protocol': ['https', 'nativesecure'],
  'update alert.interval': ['7m', '2h', '99m'],
  'update alert.name': ['n', 'n'.repeat(512), 'n'.repeat(513)],
  'update alert.message': ['m', 'm'.repeat(4_096), 'm'.repeat(4_097)],
};

/** The values of both lists, values that are in no list, and the longest texts. */
function candidates(key: string, { contract, live }: AcceptedField): readonly string[] {
  const listed = [...(contract.values ?? []), ...(live.values ?? [])];
  return [...new Set([...listed, ...(OTHERS[key] ?? ['unknown-1'])])];
}

test.for(ACCEPTED_VALUES['create service'])(
  'the simulators accept the values of $field that the table lists',
  async (row) => {
    const organization = { ...ORGANIZATION, tier: 'enterprise' as const };
    for (const [column, profile] of [
      ['contract', 'contract'],
      ['live', 'extended'],
    ] as const) {
      const { ask } = await cloudServer({ organization, profile });
      const accepted = async (value: string) => {
        const own =
          row.field === 'endpoints.protocol'
            ? { endpoints: [{ protocol: value, enabled: true }] }
            : { [row.field]: value };
        const body = { name: 'new', provider: 'aws', region: 'eu-west-1', ...own };
        return (await ask('POST', '/services', body)).status === 200;
      };
      await expectColumn(`create service.${row.field}`, row, { column, accepted });
    }
  },
);

test.for(ACCEPTED_VALUES['update alert'])(
  'the simulators accept the values of $field that the table lists (alerts)',
  async (row) => {
    for (const [column, profile, source] of [
      ['contract', 'docs', { source: 'search' }],
      ['live', 'code', SEARCH],
    ] as const) {
      const { ask } = await alertsServer({ profile });
      const accepted = async (value: string) =>
        (await ask('PUT', `/${RATE}`, { ...NEEDED, ...source, [row.field]: value })).status === 200;
      await expectColumn(`update alert.${row.field}`, row, { column, accepted });
    }
  },
);

interface Column {
  readonly column: 'contract' | 'live';
  readonly accepted: (value: string) => Promise<boolean>;
}

async function expectColumn(key: string, row: AcceptedField, { column, accepted }: Column) {
  for (const value of candidates(key, row)) {
    const where = `${value.slice(0, 20)} (${value.length}), ${column}`;
    expect([where, await accepted(value)]).toEqual([where, isAccepted(row[column], value)]);
  }
}
