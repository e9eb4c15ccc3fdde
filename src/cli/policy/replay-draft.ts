import type { Change, Target } from '../../changes/change.ts';
import { answerDifferences, type PolicyAnswer } from '../../policy/cases/answer.ts';
import { rolesUnder } from '../../policy/cases/recorded-roles.ts';
import { combineRequirements } from '../../policy/combine-requirements.ts';
import type { Policy } from '../../policy/policy-types.ts';
import type { RecordedDraft, RecordedRequest } from '../../storage/audit/recorded-requests.ts';
import { currentTarget, hasSameFacts } from '../../workflow/request/current-target.ts';
import { startsAt } from '../../workflow/request/start-time.ts';
import { commandsByName } from './case-targets.ts';
import { decideRequest } from './decide-request.ts';
import type { PolicyFile } from './read-files.ts';

/** What the replay found for one request. */
export interface ReplayedRequest {
  /** The id by which a difference is accepted: of the change, or `event-<number>`. */
  readonly id: string;
  readonly request: RecordedRequest;
  /** Null: the stored change is missing or unreadable, so that nothing was decided. */
  readonly recorded: PolicyAnswer | null;
  readonly answer: PolicyAnswer | null;
  readonly differences: readonly string[];
  /** What was not recorded and therefore assumed. */
  readonly assumed: readonly string[];
}

/** Decides a stored request again. Its target is known, and in newer releases its roles as well. */
export function replayDraft(request: RecordedDraft, file: PolicyFile): ReplayedRequest {
  const { change, id } = request;
  if (change) return replayChange(request, change, file);
  const differences = ['not decided: the stored change is missing or unreadable'];
  return { id, request, recorded: null, answer: null, differences, assumed: [] };
}

function replayChange(
  request: RecordedDraft,
  change: Change,
  { policy, services, discoversServices }: PolicyFile,
): ReplayedRequest {
  const { requires, plan } = change;
  const { discovered, ...listed } = plan.target;
  const target: Target = discovered && discoversServices ? plan.target : listed;
  // A requester who was allowed had these roles.
  const certain = [requires.to, requires.breakGlass].filter((role) => role !== null);
  const held = [...new Set([...(request.roles ?? []), ...certain])];
  const roles = rolesUnder(policy, request.by, held);
  const recorded: PolicyAnswer = { allow: true, rule: requires.rule, requires };
  // Only the file assigns tags, so that a request on a service with other tags now is decided twice.
  const current = currentTarget({ services: () => services, discoversServices }, plan);
  // The facts of a discovered service are the server's, and only the request has recorded them.
  const isDiscovered = target.discovered && current.discovered;
  const isRetagged = !isDiscovered && !hasSameFacts(target, current);
  const results = [target, ...(isRetagged ? [current] : [])].map((each) => {
    const answer = decideDraft(change, each, roles, policy);
    return { each, answer, differences: answerDifferences(recorded, answer) };
  });
  const result = results.find(({ differences }) => differences.length > 0) ?? results[0];
  if (!result) throw new Error('A change has a target');
  const withTags =
    result.each === target ? [] : [`with the tags of the file: ${tagsText(current)}`];
  return {
    id: request.id,
    request,
    recorded,
    answer: result.answer,
    differences: result.differences.length > 0 ? [...result.differences, ...withTags] : [],
    assumed: request.roles ? [] : [`roles: only ${held.join(' and ')}, by the recorded rule`],
  };
}

function tagsText({ tags, warehouse }: Target): string {
  if (tags === null) return 'unknown, because the file does not list it';
  const own = tags.length > 0 ? tags.join(', ') : 'none';
  return warehouse === null ? own : `${own} (warehouse ${warehouse})`;
}

function decideDraft(
  { command, requester: id, reason, plan, createdAt }: Change,
  target: Target,
  roles: readonly string[],
  policy: Policy,
): PolicyAnswer {
  const now = startsAt(plan, createdAt);
  const about = { target, actor: { id, roles }, reason };
  const answer = decideRequest(policy, { ...about, command, now });
  const revert = plan.timing?.revert;
  if (!answer.allow) return answer;
  const own = (breakGlass: string | null) =>
    breakGlass !== null && roles.includes(breakGlass) ? breakGlass : null;
  const allowed = (requires: typeof answer.requires): PolicyAnswer => {
    return { ...answer, requires: { ...requires, breakGlass: own(requires.breakGlass) } };
  };
  if (!revert) return allowed(answer.requires);
  const back = new Date(now.getTime() + revert.afterMs);
  const line = commandOf(revert.line);
  const second = decideRequest(policy, { ...about, command: line, now: back });
  if (!second.allow) return { ...second, detail: `${line}, the revert: ${second.detail ?? ''}` };
  const both = combineRequirements(answer.requires, second.requires);
  if (both) return allowed(both);
  const detail = `rule ${second.rule} has other approvers for ${line}, the revert`;
  return { allow: false, rule: answer.rule, refusal: 'other-approvers', detail };
}

/** Returns the command at the start of a line. */
function commandOf(line: string): string {
  const names = [...commandsByName.keys()].filter((name) => `${line} `.startsWith(`${name} `));
  return names.toSorted((a, b) => b.length - a.length)[0] ?? line;
}
