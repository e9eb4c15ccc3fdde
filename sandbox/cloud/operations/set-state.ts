import type { Call } from '../../api/call.ts';
import { effectOf } from '../../api/effects.ts';
import type { Reply } from '../../api/reply.ts';
import { oneOf, problemIn } from '../body-rules.ts';
import { type Command, type Move, moveOf } from '../lifecycle.ts';
import { badRequest, refusal, success } from '../replies.ts';
import { serviceReply } from '../service-reply.ts';
import type { CloudWorld, ServiceRecord } from '../state.ts';
import { findService, isGone, readBody } from '../targets.ts';

const RULES = { command: oneOf(['start', 'stop']) };

export function setState(world: CloudWorld, call: Call): Reply {
  const target = findService(world, call);
  if ('refused' in target) return target.refused;
  const body = readBody(world, call);
  if ('refused' in body) return body.refused;
  const problem = problemIn(body.found, RULES, { ...world.behaviour, required: ['command'] });
  if (problem !== null) return badRequest(world, problem);

  const before = target.found;
  // The rule above let only these two words through.
  const command = body.found.command as Command;
  const move = moveOf(before.state, command, world.behaviour);
  if (move.kind === 'conflict') return conflict(world, command, before);
  if (move.kind === 'unchanged') return success(world, serviceReply(world, before));
  if (command === 'stop' && hasSecondaries(world, before)) return primaryRefusal(world);

  const after = moved(before, command, move, world.now());
  world.services.set(after.id, after);
  world.effects.record(effectOf(call, after.id, world.now()));
  const isStale = world.behaviour.staleReply || call.fault === 'stale-state';
  return success(world, serviceReply(world, isStale ? before : after));
}

function moved(
  service: ServiceRecord,
  command: Command,
  { via, to, ms }: Extract<Move, { kind: 'moves' }>,
  now: Date,
): ServiceRecord {
  const open = service.pauses.map((pause) => ({ ...pause, until: pause.until ?? now }));
  const pauses = command === 'stop' ? [...open, { from: now, until: null }] : open;
  const transition = { to, at: new Date(now.getTime() + ms) };
  return { ...service, state: via, transition, pauses };
}

function conflict(world: CloudWorld, command: Command, { state }: ServiceRecord): Reply {
  const allowed =
    command === 'start'
      ? "'stopped' can be started"
      : "'running','idle','degraded','partially_running' can be stopped";
  const text = `Only instance in one of the following states: ${allowed}. Current state: '${state}'`;
  return refusal(world, 409, `CONFLICT: ${text}`);
}

function hasSecondaries(world: CloudWorld, service: ServiceRecord): boolean {
  if (!service.isPrimary) return false;
  return [...world.services.values()].some(
    (other) =>
      other.warehouseId === service.warehouseId && other.id !== service.id && !isGone(other),
  );
}

function primaryRefusal(world: CloudWorld): Reply {
  const status = world.behaviour.stopOfPrimary;
  const code = status === 409 ? 'CONFLICT' : 'BAD_REQUEST';
  const text = 'Primary service cannot be stopped while its warehouse has secondary services';
  return refusal(world, status, `${code}: ${text}`);
}
