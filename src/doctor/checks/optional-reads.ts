import { CLOUD_ROLES, type CloudPermission } from '../../servers/accepted-values.ts';
import type { KeyReading, ServiceReading } from '../../servers/cloud-readings.ts';
import type { OptionalRead, ReadOptions } from '../../servers/optional-reads.ts';
import { CLOUD_CAPABILITIES, type CloudCapability } from '../../servers/optional-reads.ts';
import type { CheckContext } from '../check-context.ts';
import { type CheckLine, countText, failed, ok, skipped, warning } from '../line.ts';
import type { ApiClients } from './api-clients.ts';

/** The result of one read of a capability. */
export interface CapabilityCheck {
  readonly capability: string;
  readonly permission: string | null;
  readonly read: OptionalRead<unknown>;
}

export interface ReadChecks {
  readonly capabilities: readonly CapabilityCheck[];
  readonly key: OptionalRead<KeyReading>;
}

const HOW = { waiting: true };

/** Sends each optional read once; null where the configuration has none. */
export async function checkReads(
  { config, now }: CheckContext,
  { cloud, alerts }: ApiClients,
): Promise<ReadChecks | null> {
  if (config.reads === 'contract') return null;
  const { reads } = cloud();
  const listed = await reads.services(HOW);
  const idsOf = (suits: (service: ServiceReading) => boolean) =>
    listed.known
      ? listed.value.filter(suits).map(({ id }) => id)
      : config.services.map(({ id }) => id);
  const all = idsOf(() => true);
  const running = idsOf(({ state }) => state === 'running');
  // Newer servers have the schedule in the service itself.
  const hasSchedule = listed.known && listed.value.some((one) => one.scalingSchedule !== null);
  const today = now().toISOString().slice(0, 10);
  const ofCloud: readonly (readonly [CloudCapability, Promise<OptionalRead<unknown>>])[] = [
    ['services', Promise.resolve(listed)],
    ['service', readOne(reads.service, all)],
    [
      'backups',
      readOne(
        reads.backups,
        idsOf(({ isPrimary }) => isPrimary === true),
      ),
    ],
    ['pipes', readOne(reads.pipes, running)],
    ['private-endpoints', readOne(reads.endpoints, running)],
    ['schedule', hasSchedule ? Promise.resolve(listed) : readOne(reads.schedule, all)],
    ['activities', reads.activities({ from_date: today, to_date: today }, HOW)],
  ];
  const lists = alerts?.().reads;
  const ofAlerts = lists
    ? ([
        ['webhooks', lists.webhooks(HOW)],
        ['saved-searches', lists.savedSearches(HOW)],
        ['dashboards', lists.dashboards(HOW)],
      ] as const)
    : [];
  const [key, ...capabilities] = await Promise.all([
    reads.key(HOW),
    ...ofCloud.map(async ([capability, read]) => {
      const { permission } = CLOUD_CAPABILITIES[capability];
      return { capability, permission, read: await read };
    }),
    ...ofAlerts.map(async ([capability, read]) => {
      return { capability, permission: null, read: await read };
    }),
  ]);
  return { key, capabilities };
}

type ReadOfService = (id: string, how: ReadOptions) => Promise<OptionalRead<unknown>>;

/** Reads one service. If the server does not find it, that can concern this service only, so another one decides. */
async function readOne(
  read: ReadOfService,
  [first, second]: readonly string[],
): Promise<OptionalRead<unknown>> {
  if (first === undefined) {
    const why = 'no service is known with which it can be checked';
    return { known: false, gap: 'not-found', why, status: null };
  }
  const result = await read(first, HOW);
  const isFound = result.known || result.gap !== 'not-found';
  return isFound || second === undefined ? result : read(second, HOW);
}

/** A line for each optional read: available, or off with the reason and the missing permission. */
export function readLines(
  { capabilities, key }: ReadChecks,
  { now }: CheckContext,
): readonly CheckLine[] {
  return [...capabilities.map(capabilityLine), keyLine(key, now())];
}

function capabilityLine({ capability, permission, read }: CapabilityCheck): CheckLine {
  if (read.known) return ok(capability, 'available');
  const { gap, why } = read;
  if (gap === 'refused') {
    const fix = isPermission(permission) ? grantText(permission) : 'give the key this permission';
    return warning(capability, `off: ${why}`, `${fix}, or ignore it: nothing needs this read`);
  }
  if (gap === 'no-route' || gap === 'not-found') return skipped(capability, `off: ${why}`);
  return skipped(capability, `not checked: ${why}`, 'run the doctor again in a minute');
}

/** The step that grants a permission, with a role that has it. */
export function grantText(permission: CloudPermission): string {
  const role = CLOUD_ROLES[permission];
  return `give the key the permission ${permission}, for example with the role ${role}`;
}

function isPermission(text: string | null): text is CloudPermission {
  return text !== null && Object.hasOwn(CLOUD_ROLES, text);
}

const DAY_MS = 86_400_000;
const SOON_DAYS = 14;

/** The roles of the key, and when it expires. */
function keyLine(read: OptionalRead<KeyReading>, now: Date): CheckLine {
  const name = 'cloud key';
  if (!read.known) return skipped(name, `its roles are not shown: ${read.why}`);
  const { roles, expireAt } = read.value;
  const has = roles.length > 0 ? `has the roles ${roles.join(', ')}` : 'has no role';
  const days = expireAt === null ? null : (Date.parse(expireAt) - now.getTime()) / DAY_MS;
  if (days === null || Number.isNaN(days)) return ok(name, has);
  const fix = 'create a new key in the console and replace CLOUD_API_KEY_ID and its secret';
  if (days <= 0) return failed(name, `${has}; it has expired`, fix);
  const left = `it expires in ${countText(Math.ceil(days), 'day')}`;
  return days <= SOON_DAYS ? warning(name, `${has}; ${left}`, fix) : ok(name, `${has}; ${left}`);
}
