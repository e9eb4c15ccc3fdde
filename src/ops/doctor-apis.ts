import {
  ApiError,
  causeCode,
  InvalidRequest,
  type TimedResult,
  TimeoutError,
  withinTime,
} from '../base/errors.ts';
import type { Reply } from '../base/http.ts';
import { DAY_MS } from '../base/time.ts';
import { type Command, commands } from '../commands/index.ts';
import { allows, type Policy } from '../domain/policy.ts';
import { CLOUD_ROLES, type CloudPermission } from '../servers/accepted-values.ts';
import { createAlertsClient } from '../servers/alerts.ts';
import { createCloudClient } from '../servers/cloud.ts';
import type { KeyReading, ServiceReading } from '../servers/cloud-readings.ts';
import {
  CLOUD_CAPABILITIES,
  type CloudCapability,
  type OptionalRead,
  type ReadOptions,
} from '../servers/optional-reads.ts';
import type { Config, ConfiguredOrganization } from './config.ts';
import {
  type CheckContext,
  type CheckLine,
  countText,
  failed,
  ok,
  skipped,
  warning,
} from './doctor-report.ts';
import { keyVariable } from './environment.ts';

/** What the checks of both APIs need, also before there is a configuration file. */
interface ApiContext extends Omit<CheckContext, 'config'> {
  readonly config: Pick<Config, 'cloud' | 'alerts' | 'reads'> & {
    readonly access: Pick<Config['access'], 'privateAddresses'>;
  };
  readonly organization: Pick<ConfiguredOrganization, 'id' | 'name' | 'keyId' | 'keySecret'>;
}

/** `APIs`, or `APIs of prod-eu` where several organizations are configured. */
export function sectionTitle(title: string, { name }: Pick<ConfiguredOrganization, 'name'>) {
  return name === null ? title : `${title} of ${name}`;
}

type ApiClients = ReturnType<typeof openApiClients>;

/** One client per API for all checks. A wrong address throws an InvalidRequest at the first use. */
export function openApiClients(context: ApiContext) {
  const { config, version, now, withinMs, organization } = context;
  const { url } = config.cloud;
  const { keyId, keySecret, id: organizationId } = organization;
  const common = {
    version,
    privateAddresses: config.access.privateAddresses,
    timing: { connectMs: withinMs, deadlineMs: withinMs },
    // The lines below show what is off.
    reads: { mode: config.reads, now, onOff: () => undefined },
  };
  const { alerts } = config;
  return {
    cloud: once(() =>
      createCloudClient({
        ...{ ...common, baseUrl: url, keyId, keySecret, organizationId },
        readsOnly: true,
      }),
    ),
    /** Null: the alerts API is not configured. */
    alerts: alerts && once(() => createAlertsClient({ ...common, ...alerts, baseUrl: alerts.url })),
  };
}

function once<T>(create: () => T): () => T {
  let created: { readonly value: T } | null = null;
  return () => {
    created ??= { value: create() };
    return created.value;
  };
}

/** One cheap read of each API, both at the same time. */
export async function checkApis(context: ApiContext, clients: ApiClients) {
  const [usage, alerts] = await Promise.all([
    readUsage(context, clients),
    alertsLine(context, clients),
  ]);
  return { cloud: await cloudLine(context, clients, usage), alerts, usage };
}

/** Whether the cloud API answered with its own key check passed, so that more reads make sense. */
export function isReachable(usage: TimedResult<unknown>): boolean {
  if (usage.ok) return true;
  const { error } = usage;
  return error instanceof ApiError && error.kind === 'answer' && error.status !== 401;
}

function readUsage({ now, withinMs }: ApiContext, { cloud }: ApiClients) {
  return withinTime(withinMs + 500, async () => {
    const yesterday = new Date(now().getTime() - DAY_MS).toISOString().slice(0, 10);
    return cloud().getUsageCost({ from_date: yesterday, to_date: yesterday });
  });
}

async function cloudLine(
  { config, withinMs, organization: { name } }: ApiContext,
  { cloud }: ApiClients,
  usage: TimedResult<Reply<unknown>>,
): Promise<CheckLine> {
  const isOther = !usage.ok && usage.error instanceof ApiError && usage.error.status === 404;
  const own = isOther ? await cloud().reads.organizations({ waiting: true }) : null;
  const [organization] = own?.known ? own.value : [];
  return apiLine(usage, {
    ...{ name: sectionTitle('cloud API', { name }), url: config.cloud.url, withinMs },
    address: 'CLOUD_API_URL',
    key: `${keyVariable('CLOUD_API_KEY_ID', name)} and ${keyVariable('CLOUD_API_KEY_SECRET', name)}`,
    right: 'permission to read usage and, for changes, to write',
    setting: `${name === null ? 'organization.id' : `the id of ${name}`} in signalbox.yaml${organization ? `: the key belongs to ${organization}` : ''}`,
    what: "yesterday's usage",
  });
}

async function alertsLine({ config, withinMs }: ApiContext, { alerts }: ApiClients) {
  const name = 'alerts API';
  if (!config.alerts || !alerts)
    return skipped(name, 'not configured (ALERTS_API_URL is not set): alert commands are off');
  const read = await withinTime(withinMs + 500, async () => alerts().listAlerts());
  return apiLine(read, {
    ...{ name, url: config.alerts.url, withinMs },
    address: 'ALERTS_API_URL',
    key: 'ALERTS_API_TOKEN',
    right: 'a user who belongs to a team',
    setting: 'ALERTS_API_URL',
    what: 'the list of alerts',
  });
}

interface ApiCheck {
  readonly name: string;
  readonly url: string;
  readonly withinMs: number;
  /** The variables with the address and the key. */
  readonly address: string;
  readonly key: string;
  readonly right: string;
  readonly setting: string;
  readonly what: string;
}

function apiLine(read: TimedResult<Reply<unknown>>, check: ApiCheck): CheckLine {
  const { name, url, what } = check;
  if (!read.ok) return errorLine(read.error, check);
  const secure = url.startsWith('https:') ? ', over TLS' : '';
  return ok(name, `read ${what} in ${Math.round(read.value.tookMs)} ms${secure}`);
}

function errorLine(error: unknown, check: ApiCheck): CheckLine {
  const { name, address, key, withinMs } = check;
  if (error instanceof InvalidRequest) return failed(name, error.message, `check ${key}`);
  const isLate = error instanceof TimeoutError;
  if (isLate || (error instanceof ApiError && error.kind === 'deadline')) {
    const fix = `check ${address}, and whether a firewall or proxy blocks the connection`;
    return failed(name, `did not answer in ${withinMs / 1_000} s`, fix);
  }
  if (!(error instanceof ApiError)) return failed(name, 'could not be called', `check ${address}`);
  return answerLine(error, check);
}

/** The line for an error answer, by its status. */
function answerLine(error: ApiError, check: ApiCheck): CheckLine {
  const { name, address, key, right, setting } = check;
  const { status, serverText, kind, sentence } = error;
  const reply = [status, serverText].filter((part) => part !== null).join(' ') || sentence;
  if (['rate-limit', 'budget', 'paused'].includes(kind)) {
    const fix = 'run the doctor again in a minute: a running Signalbox shares the rate limit';
    return warning(name, `the rate limit is reached (${reply})`, fix);
  }
  if (status === 401) {
    const fix = `copy ${key} from the console again; a key can expire or be limited to addresses`;
    return failed(name, `the key is rejected (${reply})`, fix);
  }
  if (status === 403 && kind === 'answer')
    return failed(name, `the key has no permission (${reply})`, `grant ${right}`);
  if (status === 404 && kind === 'answer')
    return failed(name, `the resource was not found (${reply})`, `check ${setting}`);
  if (status !== null && status >= 500) {
    return failed(name, `has a server error (${reply})`, 'check its status page and try again');
  }
  if (status !== null) return failed(name, `${sentence} (${reply})`, `check ${address}`);
  return connectionLine(error, check);
}

const CERTIFICATE = /CERT|SELF_SIGNED|ISSUER|LEAF|SSL|TLS|EPROTO/;

function connectionLine(error: ApiError, { name, address }: ApiCheck): CheckLine {
  if (error.kind === 'private-address') {
    const fix = `check ${address}, or set access.privateAddresses to allowed if this is intended`;
    return failed(name, 'its address is in a private network', fix);
  }
  const code = causeCode(error);
  if (code !== null && CERTIFICATE.test(code)) {
    const fix = `check ${address}; for your own certificate authority set NODE_EXTRA_CA_CERTS`;
    return failed(name, `its certificate is rejected (${code})`, fix);
  }
  const why = code === null ? error.sentence : `is not reachable (${code})`;
  return failed(name, why, `check ${address}, and whether this machine can reach it`);
}

type ReadChecks = NonNullable<Awaited<ReturnType<typeof checkReads>>>;

/** The result of one read of a capability. */
type CapabilityCheck = ReadChecks['capabilities'][number];

const HOW = { waiting: true };

/** Sends each optional read once; null where the configuration has none. */
export async function checkReads(
  { config, now, organization }: CheckContext & Pick<ApiContext, 'organization'>,
  { cloud, alerts }: ApiClients,
) {
  if (config.reads === 'contract') return null;
  const { reads } = cloud();
  const listed = await reads.services(HOW);
  const idsOf = (suits: (service: ServiceReading) => boolean) =>
    listed.known
      ? listed.value.filter(suits).map(({ id }) => id)
      : config.services.flatMap(({ id, organizationId }) =>
          organizationId === organization.id ? [id] : [],
        );
  const all = idsOf(() => true);
  const running = idsOf(({ state }) => state === 'running');
  const primary = idsOf(({ isPrimary }) => isPrimary === true);
  // Newer servers have the schedule in the service itself.
  const hasSchedule = listed.known && listed.value.some((one) => one.scalingSchedule !== null);
  const today = now().toISOString().slice(0, 10);
  type Reading = Promise<OptionalRead<unknown>>;
  const check = async (capability: string, reading: Reading, permission: string | null = null) => {
    return { capability, permission, read: await reading };
  };
  const ofCloud = (name: CloudCapability, reading: Reading) =>
    check(name, reading, CLOUD_CAPABILITIES[name].permission);
  const lists = alerts?.().reads;
  const checks = [
    ofCloud('services', Promise.resolve(listed)),
    ofCloud('service', readOne(reads.service, all)),
    ofCloud('backups', readOne(reads.backups, primary)),
    ofCloud('pipes', readOne(reads.pipes, running)),
    ofCloud('private-endpoints', readOne(reads.endpoints, running)),
    ofCloud('schedule', hasSchedule ? Promise.resolve(listed) : readOne(reads.schedule, all)),
    ofCloud('activities', reads.activities({ from_date: today, to_date: today }, HOW)),
    ...(lists
      ? [
          check('webhooks', lists.webhooks(HOW)),
          check('saved-searches', lists.savedSearches(HOW)),
          check('dashboards', lists.dashboards(HOW)),
        ]
      : []),
  ];
  const [key, ...capabilities] = await Promise.all([reads.key(HOW), ...checks]);
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
  { now, organization }: Pick<ApiContext, 'now' | 'organization'>,
): readonly CheckLine[] {
  return [...capabilities.map(capabilityLine), keyLine(key, now(), organization)];
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
function grantText(permission: CloudPermission): string {
  const role = CLOUD_ROLES[permission];
  return `give the key the permission ${permission}, for example with the role ${role}`;
}

function isPermission(text: string | null): text is CloudPermission {
  return text !== null && Object.hasOwn(CLOUD_ROLES, text);
}

const SOON_DAYS = 14;

/** The roles of the key, and when it expires. */
function keyLine(
  read: OptionalRead<KeyReading>,
  now: Date,
  { name: organization }: ApiContext['organization'],
): CheckLine {
  const name = 'cloud key';
  if (!read.known) return skipped(name, `its roles are not shown: ${read.why}`);
  const { roles, expireAt } = read.value;
  const has = roles.length > 0 ? `has the roles ${roles.join(', ')}` : 'has no role';
  const days = expireAt === null ? null : (Date.parse(expireAt) - now.getTime()) / DAY_MS;
  if (days === null || Number.isNaN(days)) return ok(name, has);
  const variable = keyVariable('CLOUD_API_KEY_ID', organization);
  const fix = `create a new key in the console and replace ${variable} and its secret`;
  if (days <= 0) return failed(name, `${has}; it has expired`, fix);
  const left = `it expires in ${countText(Math.ceil(days), 'day')}`;
  return days <= SOON_DAYS ? warning(name, `${has}; ${left}`, fix) : ok(name, `${has}; ${left}`);
}

const FORBIDDEN = 403;

/** What shows whether the key has a permission, without a write. */
interface Evidence {
  readonly usage: TimedResult<unknown>;
  /** The results of the optional reads; empty without them. */
  readonly capabilities: readonly CapabilityCheck[];
}

/** One line for each permission that a command of the policy needs. */
export function permissionLines(policy: Policy, evidence: Evidence): readonly CheckLine[] {
  const allowed = commands.filter(({ name }) => policy.rules.some((rule) => allows(rule, name)));
  const permissions = Object.keys(CLOUD_ROLES) as CloudPermission[];
  return permissions.flatMap((permission) => {
    const needing = allowed.filter((command) => command.permission === permission);
    return needing.length === 0 ? [] : [permissionLine(permission, needing, evidence)];
  });
}

function permissionLine(
  permission: CloudPermission,
  needing: readonly Command[],
  evidence: Evidence,
): CheckLine {
  const names = needing.map(({ name }) => name);
  const needed = `needed by ${names.join(', ')}`;
  const verdict = ofRead(permission, evidence);
  if (verdict === null) {
    const says = `${needed}; not checked: no read showed it`;
    return skipped(permission, says, `${CLOUD_ROLES[permission]} is a role that has it`);
  }
  if (verdict.isGranted) return ok(permission, `granted: ${verdict.because}; ${needed}`);
  return warning(permission, `missing: ${verdict.because}; ${needed}`, grantText(permission));
}

/** Whether the key has the permission, and what shows it; null: nothing shows it. */
function ofRead(permission: CloudPermission, { usage, capabilities }: Evidence) {
  if (permission === 'organization:view') {
    if (usage.ok) return { isGranted: true, because: 'the usage report was read' };
    const isRefused = usage.error instanceof ApiError && usage.error.status === FORBIDDEN;
    return isRefused ? { isGranted: false, because: 'the usage report was refused (403)' } : null;
  }
  const reads = capabilities.filter((one) => one.permission === permission);
  const seen = reads.find(({ read }) => read.known || read.gap === 'refused');
  if (!seen) return null;
  const because = `${seen.capability} ${seen.read.known ? 'were read' : 'were refused (403)'}`;
  return { isGranted: seen.read.known, because };
}
