import {
  ApiError,
  causeCode,
  InvalidRequest,
  type TimedResult,
  TimeoutError,
  withinTime,
} from '../../base/errors.ts';
import type { Reply } from '../../base/http.ts';
import type { CheckContext } from '../check-context.ts';
import { type CheckLine, failed, ok, skipped, warning } from '../line.ts';
import type { ApiClients } from './api-clients.ts';

const DAY_MS = 86_400_000;

interface ApiChecks {
  readonly lines: readonly CheckLine[];
  readonly usage: TimedResult<Reply<unknown>>;
}

/** One cheap read of each API, both at the same time. */
export async function checkApis(context: CheckContext, clients: ApiClients): Promise<ApiChecks> {
  const [usage, alerts] = await Promise.all([
    readUsage(context, clients),
    alertsLine(context, clients),
  ]);
  return { lines: [await cloudLine(context, clients, usage), alerts], usage };
}

/** Whether the cloud API answered with its own key check passed, so that more reads make sense. */
export function isReachable(usage: TimedResult<unknown>): boolean {
  if (usage.ok) return true;
  const { error } = usage;
  return error instanceof ApiError && error.kind === 'answer' && error.status !== 401;
}

function readUsage({ now, withinMs }: CheckContext, { cloud }: ApiClients) {
  return withinTime(withinMs + 500, async () => {
    const yesterday = new Date(now().getTime() - DAY_MS).toISOString().slice(0, 10);
    return cloud().getUsageCost({ from_date: yesterday, to_date: yesterday });
  });
}

async function cloudLine(
  { config, withinMs }: CheckContext,
  { cloud }: ApiClients,
  usage: TimedResult<Reply<unknown>>,
): Promise<CheckLine> {
  const isOther = !usage.ok && usage.error instanceof ApiError && usage.error.status === 404;
  const own = isOther ? await cloud().reads.organizations({ waiting: true }) : null;
  const [organization] = own?.known ? own.value : [];
  return apiLine(usage, {
    ...{ name: 'cloud API', url: config.cloud.url, withinMs },
    address: 'CLOUD_API_URL',
    key: 'CLOUD_API_KEY_ID and CLOUD_API_KEY_SECRET',
    right: 'permission to read usage and, for changes, to write',
    setting: `organization.id in signalbox.yaml${organization ? `: the key belongs to ${organization}` : ''}`,
    what: "yesterday's usage",
  });
}

async function alertsLine(
  { config, withinMs }: CheckContext,
  { alerts }: ApiClients,
): Promise<CheckLine> {
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
  if (kind === 'rate-limit' || kind === 'budget') {
    const fix = 'run the doctor again in a minute: a running Signalbox shares the rate limit';
    return warning(name, `the rate limit is reached (${reply})`, fix);
  }
  if (status === 401) {
    const fix = `copy ${key} from the console again; a key can expire or be limited to addresses`;
    return failed(name, `the key is rejected (${reply})`, fix);
  }
  if (status === 403) return failed(name, `the key has no permission (${reply})`, `grant ${right}`);
  if (status === 404 && kind === 'answer') {
    return failed(name, `the resource was not found (${reply})`, `check ${setting}`);
  }
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
