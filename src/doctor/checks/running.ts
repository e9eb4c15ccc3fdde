import { causeCode, type Secret, type TimedResult, withinTime } from '../../base/errors.ts';
import { utcStamp } from '../../domain/answer.ts';
import { type ProbeResult, type ProbeTarget, probeInstance, readiness } from '../../slack/probe.ts';
import type { Instance } from '../../storage/old/instances.ts';
import { type CheckLine, countText, failed, ok, skipped, warning } from '../line.ts';

const SILENT_AFTER_MS = 180_000;
const MANUAL_CHECK = 'type /signalbox in Slack and press a button: an answer proves the whole path';

/** Whether a Signalbox on this machine is ready and accepts a signed Slack request. */
export async function instanceLines(
  target: ProbeTarget,
  secret: Secret | null,
): Promise<readonly CheckLine[]> {
  const [ready, probed] = await Promise.all([
    withinTime(target.withinMs, () => readiness(target)),
    secret ? withinTime(target.withinMs, () => probeInstance(target, secret)) : null,
  ]);
  if (!ready.ok && causeCode(ready.error) === 'ECONNREFUSED') {
    const says = `no Signalbox on port ${target.opsPort}`;
    return [skipped('this machine', says, 'start it with npm start, then run the doctor again')];
  }
  return [readyLine(ready, target), interactivityLine(probed)];
}

function readyLine(ready: TimedResult<string | null>, { opsPort: port }: ProbeTarget): CheckLine {
  const name = 'this machine';
  if (ready.ok && ready.value === null) return ok(name, `Signalbox on port ${port} is ready`);
  const says = ready.ok ? `not ready: ${ready.value}` : `port ${port} does not answer`;
  return failed(name, says, 'check PORT and the log of the process on this port');
}

function interactivityLine(probed: TimedResult<ProbeResult> | null): CheckLine {
  const name = 'interactivity';
  if (probed === null) {
    return skipped(name, 'Socket Mode has no address to test', MANUAL_CHECK);
  }
  if (!probed.ok) return failed(name, '/slack/events does not answer', 'check its log');
  return {
    answered: ok(name, 'a signed request to /slack/events was accepted'),
    'other-secret': failed(
      name,
      'the running process has another SLACK_SIGNING_SECRET or a wrong clock',
      'copy the secret from Basic Information and start Signalbox with the same environment',
    ),
    unknown: failed(
      name,
      'the process on this port does not answer like Signalbox over HTTP',
      'check PORT, and that the process runs without SLACK_APP_TOKEN',
    ),
  }[probed.value];
}

export function replicaLines(
  instances: readonly Instance[],
  { now, version }: { readonly now: Date; readonly version: string },
): readonly CheckLine[] {
  if (instances.length === 0) return [skipped('replicas', 'none is registered')];
  const lines = instances.map((one, at) => replicaLine(one, `replica ${at + 1}`, now));
  const versions = [...new Set([version, ...instances.map((one) => one.version)])];
  if (versions.length === 1) return lines;
  const says = `run different releases: ${versions.join(', ')} (this doctor: ${version})`;
  return [
    ...lines,
    warning('replicas', says, 'upgrade all replicas to one release and stop the old ones'),
  ];
}

function replicaLine({ version, startedAt, seenAt }: Instance, name: string, now: Date): CheckLine {
  const quietMs = Math.max(0, now.getTime() - seenAt.getTime());
  const says = `${version}, running since ${utcStamp(startedAt)}`;
  if (quietMs <= SILENT_AFTER_MS) return ok(name, says);
  const minutes = countText(Math.round(quietMs / 60_000), 'minute');
  const fix = 'it was killed or hangs: check its log; the entry disappears after ten minutes';
  return warning(name, `${says}, silent for ${minutes}`, fix);
}
