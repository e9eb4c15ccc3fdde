import { createAlertsClient } from '../../alerts/client.ts';
import { createCloudClient } from '../../cloud/client.ts';
import { ApiError, causeCode, InvalidRequest } from '../../errors.ts';
import type { Reply } from '../../http/client.ts';
import type { CheckContext } from '../check-context.ts';
import { type CheckLine, failed, ok, skipped, warning } from '../line.ts';
import { type TimedResult, TimeoutError, withinTime } from '../with-timeout.ts';

const DAY_MS = 86_400_000;

/** One read of each API, the cheapest there is. Both are asked at once; nothing is changed. */
export async function apiLines(patient: CheckContext): Promise<readonly CheckLine[]> {
  return Promise.all([cloudLine(patient), alertsLine(patient)]);
}

async function cloudLine({ config, version, now, withinMs }: CheckContext): Promise<CheckLine> {
  const { url, keyId, keySecret } = config.cloud;
  const { id: organizationId } = config.organization;
  const { privateAddresses } = config.access;
  const timing = { connectMs: withinMs, deadlineMs: withinMs };
  const read = await withinTime(withinMs + 500, async () => {
    const client = createCloudClient({
      ...{ baseUrl: url, keyId, keySecret, organizationId, version, timing, privateAddresses },
    });
    const yesterday = new Date(now().getTime() - DAY_MS).toISOString().slice(0, 10);
    return client.getUsageCost({ from_date: yesterday, to_date: yesterday });
  });
  return apiLine(read, {
    ...{ name: 'cloud API', url, withinMs },
    address: 'CLOUD_API_URL',
    key: 'CLOUD_API_KEY_ID and CLOUD_API_KEY_SECRET',
    right: 'the right to read usage, and for changes the right to write',
    thing: 'organization.id in signalbox.yaml',
    did: 'yesterday’s usage',
  });
}

async function alertsLine({ config, version, withinMs }: CheckContext): Promise<CheckLine> {
  const name = 'alerts API';
  if (!config.alerts) return skipped(name, 'ALERTS_API_URL is not set: alert commands are off');
  const { url, token } = config.alerts;
  const { privateAddresses } = config.access;
  const timing = { connectMs: withinMs, deadlineMs: withinMs };
  const read = await withinTime(withinMs + 500, () =>
    createAlertsClient({ baseUrl: url, token, version, timing, privateAddresses }).listAlerts(),
  );
  return apiLine(read, {
    ...{ name, url, withinMs },
    address: 'ALERTS_API_URL',
    key: 'ALERTS_API_TOKEN',
    right: 'a user of a team',
    thing: 'ALERTS_API_URL',
    did: 'the list of alerts',
  });
}

interface About {
  readonly name: string;
  readonly url: string;
  readonly withinMs: number;
  /** The variables to look at for the address and for the key. */
  readonly address: string;
  readonly key: string;
  readonly right: string;
  readonly thing: string;
  readonly did: string;
}

function apiLine(read: TimedResult<Reply<unknown>>, about: About): CheckLine {
  const { name, url, did } = about;
  if (!read.ok) return troubleLine(read.error, about);
  const secure = url.startsWith('https:') ? ', over TLS' : '';
  return ok(name, `read ${did} in ${Math.round(read.value.tookMs)} ms${secure}`);
}

function troubleLine(error: unknown, about: About): CheckLine {
  const { name, address, key, withinMs } = about;
  if (error instanceof InvalidRequest) return failed(name, error.message, `look at ${key}`);
  const late = error instanceof TimeoutError;
  if (late || (error instanceof ApiError && error.kind === 'deadline')) {
    const fix = `look at ${address}, and whether a firewall or proxy holds it up`;
    return failed(name, `did not answer in ${withinMs / 1_000} s`, fix);
  }
  if (!(error instanceof ApiError)) return failed(name, 'could not be asked', `look at ${address}`);
  return answerLine(error, about);
}

/** By what the server or the line said. */
function answerLine(error: ApiError, about: About): CheckLine {
  const { name, address, key, right, thing } = about;
  const { status, serverText, kind, sentence } = error;
  const said = [status, serverText].filter((part) => part !== null).join(' ') || sentence;
  if (kind === 'rate-limit' || kind === 'budget') {
    const fix = 'run this again in a minute: a running Signalbox shares the limit of the key';
    return warning(name, `asked too often just now (${said})`, fix);
  }
  if (status === 401) {
    const fix = `copy ${key} anew from the console; a key can also expire or be bound to addresses`;
    return failed(name, `the key is not accepted (${said})`, fix);
  }
  if (status === 403) return failed(name, `the key may not read it (${said})`, `give it ${right}`);
  if (status === 404 && kind === 'answer') {
    return failed(name, `knows no such thing (${said})`, `look at ${thing}`);
  }
  if (status !== null && status >= 500) {
    return failed(name, `has trouble of its own (${said})`, 'look at its status page, try again');
  }
  if (status !== null) return failed(name, `${sentence} (${said})`, `look at ${address}`);
  return lineLine(error, about);
}

const CERTIFICATE = /CERT|SELF_SIGNED|ISSUER|LEAF|SSL|TLS|EPROTO/;

function lineLine(error: ApiError, { name, address }: About): CheckLine {
  if (error.kind === 'private-address') {
    const fix = `look at ${address}, or set access.privateAddresses to allowed if that is meant`;
    return failed(name, 'its address lies in a private network', fix);
  }
  const code = causeCode(error);
  if (code !== null && CERTIFICATE.test(code)) {
    const fix = `look at ${address}; behind a proxy of your own, NODE_EXTRA_CA_CERTS names its root`;
    return failed(name, `its certificate is not accepted (${code})`, fix);
  }
  const why = code === null ? error.sentence : `is not reached (${code})`;
  return failed(name, why, `look at ${address}, and whether this machine may reach it`);
}
