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
  if (!answer.allow) return answer;
  let { requires } = answer;
  for (const later of laterCommands({ command, plan }, now)) {
    const next = decideRequest(policy, { ...about, command: later.name, now: later.at });
    const what = `${later.name}, ${later.what}`;
    if (!next.allow) return { ...next, detail: `${what}: ${next.detail ?? ''}` };
    const both = combineRequirements(requires, next.requires);
    if (!both) {
      const detail = `rule ${next.rule} has other approvers for ${what}`;
      return { allow: false, rule: answer.rule, refusal: 'other-approvers', detail };
    }
    requires = both;
  }
  const { breakGlass } = requires;
  const isOwn = breakGlass !== null && roles.includes(breakGlass) && !runsOf({ command, plan });
  return { ...answer, requires: { ...requires, breakGlass: isOwn ? breakGlass : null } };
}

type Planned = Pick<Change, 'command' | 'plan'>;

/** The commands that a schedule runs; undefined for any other change. */
function runsOf({ command, plan }: Planned): readonly string[] | undefined {
  const known = commandsByName.get(command);
  return known?.kind === 'change' ? known.runs?.(plan.body) : undefined;
}

/** What is approved together with a change and runs later. */
function laterCommands(change: Planned, now: Date) {
  const runs = (runsOf(change) ?? []).map((name) => ({ name, at: now, what: 'a run' }));
  const revert = change.plan.timing?.revert;
  if (!revert) return runs;
  const at = new Date(now.getTime() + revert.afterMs);
  return [...runs, { name: commandOf(revert.line), at, what: 'the revert' }];
}

/** Returns the command at the start of a line. */
function commandOf(line: string): string {
  const names = [...commandsByName.keys()].filter((name) => `${line} `.startsWith(`${name} `));
  return names.toSorted((a, b) => b.length - a.length)[0] ?? line;
}
