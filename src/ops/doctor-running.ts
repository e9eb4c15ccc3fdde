// What runs: the Signalbox of this machine, and its replicas.
import { causeCode, type TimedResult, withinTime } from '../base/errors.ts';
import { getDocument } from '../base/http.ts';
import { fetchHere } from '../base/http-limits.ts';
import { utcStamp } from '../domain/answer.ts';
import type { SocketProbe } from '../slack/index.ts';
import {
  type CheckContext,
  type CheckLine,
  countText,
  failed,
  ok,
  skipped,
  warning,
} from './doctor-report.ts';
import type { DatabaseInspection } from './inspect.ts';

interface ProbeTarget {
  /** An address of this machine, in brackets for IPv6. */
  readonly host: string;
  /** The port of the readiness probe. */
  readonly opsPort: number;
  readonly withinMs: number;
}

/** Whether a Signalbox on this machine is ready. */
export async function instanceLine(target: ProbeTarget): Promise<CheckLine> {
  const { opsPort: port, withinMs } = target;
  const name = 'this machine';
  const ready = await withinTime(withinMs, () => readiness(target));
  if (ready.ok && ready.value === null) return ok(name, `Signalbox on port ${port} is ready`);
  if (!ready.ok && causeCode(ready.error) === 'ECONNREFUSED') {
    const fix = 'start it, then run the doctor again';
    return skipped(name, `no Signalbox on port ${port}`, fix);
  }
  const says = ready.ok ? `not ready: ${ready.value}` : `port ${port} does not answer`;
  return failed(name, says, 'check PORT and the log of the process on this port');
}

/** Null when the instance on the port is ready, else its reason; throws when none listens. */
async function readiness({ host, opsPort, withinMs }: ProbeTarget): Promise<string | null> {
  const signal = AbortSignal.timeout(withinMs);
  const address = `http://${host}:${opsPort}/readyz`;
  const answer = await fetchHere(address, { redirect: 'error', signal });
  const text = (await answer.text()).trim().slice(0, 200);
  return answer.ok ? null : text;
}

/** One line per replica that the database lists, and a warning where their releases differ. */
export function listedReplicas(
  { now, version }: Pick<CheckContext, 'now' | 'version'>,
  examined: TimedResult<Pick<DatabaseInspection, 'instances' | 'clock'>> | null,
) {
  if (!examined?.ok) return [skipped('replicas', 'not checked: they are listed in the database')];
  const { instances, clock } = examined.value;
  if (instances.length === 0) return [skipped('replicas', 'none is registered')];
  const at = clock?.server ?? now();
  const lines = instances.map((one, index) => replicaLine(one, `replica ${index + 1}`, at));
  const versions = [...new Set([version, ...instances.map(({ release }) => release)])];
  if (versions.length === 1) return lines;
  const says = `run different releases: ${versions.join(', ')} (this doctor: ${version})`;
  const fix = 'upgrade all replicas to one release and stop the old ones';
  return [...lines, warning('replicas', says, fix)];
}

/** A connection that is not of a listed replica belongs to another program, which gets a part of the payloads. */
export function foreignLines(
  connection: TimedResult<SocketProbe> | null,
  examined: TimedResult<DatabaseInspection> | null,
): readonly CheckLine[] {
  if (!connection?.ok || !examined?.ok || !('others' in connection.value)) return [];
  const { others } = connection.value;
  const foreign = (others ?? 0) - 2 * examined.value.instances.length;
  if (foreign <= 0) return [];
  const says = `${countText(foreign, 'connection')} of another program with this SLACK_APP_TOKEN`;
  const fix = 'it receives a part of the clicks: stop it, or give each environment its own app';
  return [warning('connections', says, fix)];
}

type Instance = DatabaseInspection['instances'][number];

const SILENT_AFTER_MS = 180_000;

function replicaLine({ release, startedAt, seenAt }: Instance, name: string, now: Date): CheckLine {
  const quietMs = Math.max(0, now.getTime() - seenAt.getTime());
  const says = `${release}, running since ${utcStamp(startedAt)}`;
  if (quietMs <= SILENT_AFTER_MS) return ok(name, says);
  const minutes = countText(Math.round(quietMs / 60_000), 'minute');
  const fix = 'it was killed or hangs: check its log; the entry disappears after ten minutes';
  return warning(name, `${says}, silent for ${minutes}`, fix);
}

/** Whether the address of agents answers as clients reach it, and the keys of each issuer can be read. */
export async function agentLines({ config, withinMs }: Pick<CheckContext, 'config' | 'withinMs'>) {
  const { agents } = config;
  if (agents === null) return [];
  const { origin, pathname } = new URL(agents.url);
  const metadata = `${origin}/.well-known/oauth-protected-resource${pathname === '/' ? '' : pathname}`;
  const { countKeys } = await import('../agents/index.ts');
  const issuers = new Map(agents.allow.flatMap(({ by }) => (by ? [[by.issuer, by]] : [])));
  const read = await withinTime(withinMs, () =>
    getDocument(metadata, AbortSignal.timeout(withinMs)),
  );
  const answers = read.ok && read.value.status === 200 && read.value.text.includes(agents.url);
  const door = answers
    ? ok('agents', `${agents.url} answers`)
    : failed(
        'agents',
        `${metadata} does not answer as Signalbox`,
        'check agents.url, and that TLS passes Host on',
      );
  const keys = [...issuers.values()].map(async (by) => {
    const found = await withinTime(withinMs, () => countKeys(by, getDocument));
    const fix = 'check issuer and jwks, and that the network policy allows the address';
    if (!found.ok) return failed('keys of agents', `${by.issuer}: cannot be read`, fix);
    return ok('keys of agents', `${by.issuer}: ${countText(found.value, 'key')}`);
  });
  return [door, ...(await Promise.all(keys))];
}
