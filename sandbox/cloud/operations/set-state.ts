import type { Call } from '../../api/call.ts';
import type { Reply } from '../../api/reply.ts';
import { keyOfCall, recordActivity } from '../activity-log.ts';
import { oneOf, problemIn } from '../body-rules.ts';
import { type Command, moveOf, type Way } from '../lifecycle.ts';
import { refuse, refuseProblem, success } from '../replies.ts';
import { serviceReply } from '../service-reply.ts';
import type { CloudState, ServiceRecord } from '../state.ts';
import { findService, isGone, readBody } from '../targets.ts';

const RULES = { command: oneOf(['start', 'stop']) };
const HAS_SECONDARIES =
  'Primary service cannot be stopped while its warehouse has secondary services';

export function setState(cloud: CloudState, call: Call): Reply {
  const before = findService(cloud, call);
  const body = readBody(cloud, call);
  refuseProblem(cloud, problemIn(body, RULES, ['command']));
  // The rule accepts only these two commands.
  const command = body.command as Command;
  const move = moveOf(before.state, command, cloud.behaviour);
  if (move === 'conflict') return refuseMove(cloud, command, before);
  if (move === 'unchanged') return success(cloud, serviceReply(cloud, before));
  if (command === 'stop' && hasSecondaries(cloud, before))
    return refuse(cloud, 409, `CONFLICT: ${HAS_SECONDARIES}`);

  const after = moved(before, command, move, cloud.now());
  cloud.services.set(after.id, after);
  cloud.effects.record(call, after.id, cloud.now());
  recordActivity(cloud, keyOfCall(call), { type: `service_${command}`, serviceId: after.id });
  const isStale = call.fault === 'stale-state';
  return success(cloud, serviceReply(cloud, isStale ? before : after));
}

function moved(
  service: ServiceRecord,
  command: Command,
  { via, to, ms }: Way,
  now: Date,
): ServiceRecord {
  const open = service.pauses.map((pause) => ({ ...pause, until: pause.until ?? now }));
  const pauses = command === 'stop' ? [...open, { from: now, until: null }] : open;
  const transition = { to, at: new Date(now.getTime() + ms) };
  return { ...service, state: via, transition, pauses };
}

function refuseMove(cloud: CloudState, command: Command, { state }: ServiceRecord): never {
  const allowed =
    command === 'start'
      ? "'stopped' can be started"
      : "'running','idle','degraded','partially_running' can be stopped";
  const text = `Only instance in one of the following states: ${allowed}. Current state: '${state}'`;
  return refuse(cloud, 409, `CONFLICT: ${text}`);
}

function hasSecondaries(cloud: CloudState, service: ServiceRecord): boolean {
  if (!service.isPrimary) return false;
  return [...cloud.services.values()].some(
    (other) =>
      other.warehouseId === service.warehouseId && other.id !== service.id && !isGone(other),
  );
}
