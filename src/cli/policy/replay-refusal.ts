import type { Target } from '../../changes/change.ts';
import { freezeTarget, type Scope } from '../../intent/arguments/freezes.ts';
import { answerDifferences } from '../../policy/cases/answer.ts';
import { rolesUnder } from '../../policy/cases/recorded-roles.ts';
import type { PolicyDenial } from '../../policy/decide.ts';
import type { RecordedRefusal } from '../../storage/audit/recorded-requests.ts';
import { untaggedTarget } from '../../workflow/queries/who-targets.ts';
import { type FileServices, serviceNamed, targetKindOf } from './case-targets.ts';
import { decideRequest, LONG_REASON } from './decide-request.ts';
import type { PolicyFile } from './read-files.ts';
import type { ReplayedRequest } from './replay-draft.ts';

/**
 * Decides a refused request again. The audit trail has the name of the target, but neither its tags,
 * nor the reason, nor the scheduled start, so that the replay assumes them.
 */
export function replayRefusal(
  request: RecordedRefusal,
  refusal: PolicyDenial,
  file: PolicyFile,
): ReplayedRequest {
  const { policy } = file;
  const { command, by, at, rule } = request;
  const recorded = { allow: false, rule, refusal, detail: null } as const;
  const target = targetNamed(request, file);
  const wasAdmitted = !['no-rule', 'not-a-requester', 'not-verified'].includes(refusal);
  const everyRole = [...policy.roles.keys()];
  const assumedRoles = wasAdmitted ? everyRole : rolesUnder(policy, by, []);
  const roles = request.roles ? rolesUnder(policy, by, request.roles) : assumedRoles;
  const reason = refusal === 'reason-required' ? null : LONG_REASON;
  const actor = { id: by, roles };
  const answer = decideRequest(policy, { command, target, actor, reason, now: at });
  const rolesText = wasAdmitted ? 'admitted, as then' : 'only those that the file lists by user id';
  return {
    id: `event-${request.seq}`,
    request,
    recorded,
    answer,
    differences: answerDifferences(recorded, answer),
    assumed: [
      ...(request.roles ? [] : [`roles: ${rolesText}`]),
      `tags and warehouse: those of the file${target.tags === null ? ', which does not list it' : ''}`,
      reason === null ? 'reason: none' : 'reason: long enough',
    ],
  };
}

function targetNamed({ command, target }: RecordedRefusal, file: FileServices): Target {
  const kind = targetKindOf(command);
  if (kind === 'service') return serviceNamed(target, file);
  if (kind === 'scope') return freezeTarget(scopeNamed(target, file), file.services);
  return { ...untaggedTarget(command), name: target };
}

/** The inverse of `scopeText`. */
function scopeNamed(text: string, file: FileServices): Scope {
  const [, tag] = /^everything tagged (\S+)$/.exec(text) ?? [];
  const [, warehouse] = /^everything in warehouse (\S+)$/.exec(text) ?? [];
  if (tag !== undefined) return { tag };
  if (warehouse !== undefined) return { warehouse };
  if (text === 'everything') return { everything: true };
  const { id, name } = serviceNamed(text, file);
  return { service: { id, name } };
}
