import { causeCode, type Secret } from '../../errors.ts';
import { type ProbeResult, type ProbeTarget, probeInstance, readiness } from '../../slack/probe.ts';
import type { Instance } from '../../storage/tables/instances.ts';
import { type CheckLine, countText, failed, ok, skipped, warning } from '../line.ts';
import { type TimedResult, withinTime } from '../with-timeout.ts';

const QUIET_AFTER_MS = 180_000;
const BY_HAND = 'in Slack type /signalbox and press a button: an answer proves all of the way';

/** A Signalbox on this machine: whether it is ready, and whether a click would reach it. */
export async function doorLines(
  door: ProbeTarget,
  secret: Secret | null,
): Promise<readonly CheckLine[]> {
  const [ready, knocked] = await Promise.all([
    withinTime(door.withinMs, () => readiness(door)),
    secret ? withinTime(door.withinMs, () => probeInstance(door, secret)) : null,
  ]);
  if (!ready.ok && causeCode(ready.error) === 'ECONNREFUSED') {
    const says = `none on port ${door.port} of this machine`;
    return [skipped('this machine', says, 'start it with npm start, then run this again')];
  }
  return [readyLine(ready, door), interactivity(knocked)];
}

function readyLine(ready: TimedResult<string | null>, { port }: ProbeTarget): CheckLine {
  const name = 'this machine';
  if (ready.ok && ready.value === null) return ok(name, `Signalbox on port ${port} is ready`);
  const says = ready.ok ? `not ready: ${ready.value}` : `port ${port} does not answer`;
  return failed(name, says, 'look at the log of what runs there; is PORT the right one?');
}

function interactivity(knocked: TimedResult<ProbeResult> | null): CheckLine {
  const name = 'interactivity';
  if (knocked === null) {
    return skipped(name, 'Socket Mode has no address to try from here', BY_HAND);
  }
  if (!knocked.ok) return failed(name, '/slack/events does not answer', 'look at its log');
  return {
    answered: ok(name, 'a signed request to /slack/events was accepted'),
    'other-secret': failed(
      name,
      'what runs there has another SLACK_SIGNING_SECRET, or another clock',
      'copy it from Basic Information, and start Signalbox with the same environment as this',
    ),
    unknown: failed(
      name,
      'what listens there does not answer as Signalbox does over HTTP',
      'is PORT the right one, and does it run without SLACK_APP_TOKEN?',
    ),
  }[knocked.value];
}

export function replicaLines(
  instances: readonly Instance[],
  { now, version }: { readonly now: Date; readonly version: string },
): readonly CheckLine[] {
  if (instances.length === 0) return [skipped('replicas', 'none has said that it runs')];
  const lines = instances.map((one, at) => replicaLine(one, `replica ${at + 1}`, now));
  const versions = [...new Set([version, ...instances.map((one) => one.version)])];
  if (versions.length === 1) return lines;
  const says = `of different releases: ${versions.join(', ')} (this doctor is ${version})`;
  return [...lines, warning('replicas', says, 'bring all to one release; stop those left over')];
}

function replicaLine({ version, startedAt, seenAt }: Instance, name: string, now: Date): CheckLine {
  const quietMs = Math.max(0, now.getTime() - seenAt.getTime());
  const since = `${startedAt.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  const says = `${version}, up since ${since}`;
  if (quietMs <= QUIET_AFTER_MS) return ok(name, says);
  const minutes = countText(Math.round(quietMs / 60_000), 'minute');
  const fix = 'it was killed or hangs: look at its log; its line goes after ten minutes';
  return warning(name, `${says}, and silent for ${minutes}`, fix);
}
