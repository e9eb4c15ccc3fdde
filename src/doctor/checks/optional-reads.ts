import { CLOUD_ROLES, type CloudPermission } from '../../cloud/permissions.ts';
import type { KeyReading } from '../../cloud/reads/readings.ts';
import type { OptionalRead } from '../../http/optional/optional-read.ts';
import type { CheckContext } from '../check-context.ts';
import { type CheckLine, countText, failed, ok, skipped, warning } from '../line.ts';
import type { ApiClients } from './api-clients.ts';

/** The result of the probe of one capability. */
export interface CapabilityCheck {
  readonly capability: string;
  readonly permission: string | null;
  readonly read: OptionalRead<unknown>;
}

export interface ReadChecks {
  readonly capabilities: readonly CapabilityCheck[];
  readonly key: OptionalRead<KeyReading>;
}

/** Probes every capability, like a start, but at once; null where the configuration has none. */
export async function probeReads(
  { config }: CheckContext,
  { cloud, alerts }: ApiClients,
): Promise<ReadChecks | null> {
  if (config.reads === 'contract') return null;
  const how = { waiting: true };
  const configured = config.services.map(({ id }) => id);
  const { reads } = cloud();
  const probes = [...reads.probes(configured, how), ...(alerts?.().reads.probes(how) ?? [])];
  const [key, ...capabilities] = await Promise.all([
    reads.key(how),
    ...probes.map(async ({ capability, permission, run }) => {
      return { capability, permission, read: await run() };
    }),
  ]);
  return { key, capabilities };
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
