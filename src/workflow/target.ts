// What a decision about a stored change is made from: its target as the directory has it now, the policy with the
// freezes that users made, and the other changes of the target.

import { ApiError } from '../base/errors.ts';
import type { CurrentState } from '../commands/index.ts';
import {
  type Change,
  type ChangeId,
  type Plan,
  type Requirement,
  type Target,
  type TargetKind,
  targetKey,
  type UserId,
} from '../domain/change.ts';
import {
  freezeTarget,
  type SlackFreeze,
  scopeFrom,
  scopeKey,
  selectorOf,
} from '../domain/freezes.ts';
import type { PressFacts } from '../domain/gate.ts';
import type { LoggedFreeze } from '../domain/log-events.ts';
import { type Policy, requirementFor, withFreezes } from '../domain/policy.ts';
import {
  newServiceTags,
  type PolicyFacts,
  policyFacts,
  type Service,
  UNKNOWN_TAGS,
} from '../domain/targets.ts';
import { inForce, loadChange, type Subjects } from '../log/index.ts';
import type { DecisionContext, WorkflowContext } from './context.ts';

type Directory = Pick<DecisionContext, 'services' | 'discoversServices'>;
export type RulesContext = Directory & Pick<DecisionContext, 'policy' | 'now'>;

/**
 * Returns the target of a plan with its tags and warehouse of the current directory. Every decision
 * about a stored change uses them, because a service may get another tag while the change waits.
 */
export function currentTarget(
  { services, discoversServices }: Directory,
  plan: Pick<Plan, 'target' | 'body'>,
): Target {
  const { kind, id, name, organization } = plan.target;
  const facts = FACTS_OF[kind](plan, { services: services(), discoversServices });
  return { ...(organization && { organization }), ...facts, kind, id, name };
}

type FactsOf = (
  plan: Pick<Plan, 'target' | 'body'>,
  directory: { readonly services: readonly Service[]; readonly discoversServices: boolean },
) => PolicyFacts;

const factsOfService: FactsOf = ({ target }, { services, discoversServices }) => {
  const service = services.find(({ id }) => id === target.id);
  if (service) return policyFacts(service);
  return discoversServices ? { ...UNKNOWN_TAGS, discovered: true } : UNKNOWN_TAGS;
};

const FACTS_OF: Readonly<Record<TargetKind, FactsOf>> = {
  service: factsOfService,
  schedule: factsOfService,
  alert: () => ({ tags: [], warehouse: null }),
  'new service': ({ body, target: { organization } }, { services }) => {
    const own = services.filter(
      ({ organizationId }) => organizationId === (organization?.id ?? organizationId),
    );
    return newServiceTags(body.dataWarehouseId, own);
  },
  freeze: ({ body }, { services }) => freezeTarget(scopeFrom(body), services),
  'standing approval': ({ body }, { services }) => freezeTarget(scopeFrom(body), services),
};

/** Returns what the current rule for the command and target of a change requires, or null. */
export function currentRequirement(
  context: RulesContext,
  { command, plan }: Change,
): Requirement | null {
  return requirementFor(context.policy, { command, target: currentTarget(context, plan) });
}

/** What is known about a press on a change: the gate decides from it. */
export function pressFacts(
  context: RulesContext,
  { plan }: Pick<Change, 'plan'>,
  { by, identity, text }: Pick<PressFacts, 'by' | 'identity' | 'text'>,
): PressFacts {
  const target = currentTarget(context, plan);
  return { by, identity, text, now: context.now(), policy: context.policy, target };
}

/** What decides whether the rules of now permit a change. `subjects`: the log, or the same under its lock. */
export async function ruleFacts(
  { commands, ...context }: RulesContext & Pick<DecisionContext, 'commands'>,
  subjects: Subjects,
  { command, plan }: Pick<Change, 'command' | 'plan'>,
) {
  const { runs, covers } = commands.get(command) ?? {};
  const schedule = plan.timing?.schedule ? [SCHEDULE] : [];
  return {
    now: context.now(),
    ...(await currentFreezes(context, subjects)),
    target: currentTarget(context, plan),
    /** The command, and those that were approved together with it: each of their rules must permit the change. */
    commands: [command, ...(runs?.(plan.body) ?? []), ...schedule],
    /** What a standing approval allows, on each of its targets as they are now. */
    allowed: covers?.(plan.body, { services: context.services() }) ?? [],
  };
}

const SCHEDULE = 'service schedule';

/** Returns the policy of the configuration file with the freezes that users made in Slack and that are in force. */
export async function currentPolicy(
  context: Pick<DecisionContext, 'policy' | 'now'>,
  subjects: Subjects,
): Promise<Policy> {
  return (await currentFreezes(context, subjects)).policy;
}

/** The same, and whether a lost freeze stops all executions. What it covers is unknown, so that it refuses nothing. */
export async function currentFreezes(
  { policy, now }: Pick<DecisionContext, 'policy' | 'now'>,
  subjects: Subjects,
): Promise<{ readonly policy: Policy; readonly isStopped: boolean }> {
  const made = [...(await inForce(subjects, 'freeze', now())).values()];
  const known = made.filter(({ lost }) => lost === null);
  const freezes = known.map((each) => standingFreeze(each).freeze);
  return { policy: withFreezes(policy, freezes), isStopped: known.length < made.length };
}

/** The form of a freeze that policy and commands use. */
export function standingFreeze(freeze: LoggedFreeze): SlackFreeze {
  const { change: id, by, scope, from, until, reason } = freeze;
  const key = scopeKey(scope);
  return {
    id,
    name: 'service' in scope ? scope.service.name : key,
    aliases: [key],
    scope,
    freeze: { from, until, on: selectorOf(scope), reason, by: null, made: { id, by } },
  };
}

const OPERATIONS = ['service start', 'service stop', 'service scale'];

/**
 * Whether a user is an operator of a service: a rule of the policy admits them to one of its changes.
 * A user whom Slack does not identify is none.
 */
export async function isOperatorOf(
  { people, policy }: Pick<DecisionContext, 'people' | 'policy'>,
  target: Target,
  by: UserId,
): Promise<boolean> {
  const identity = await people.identify(by, { fresh: false });
  if (!identity.ok) return false;
  const { roles } = identity.actor;
  return OPERATIONS.some((command) => {
    const requirement = requirementFor(policy, { command, target });
    return requirement !== null && roles.includes(requirement.to);
  });
}

/** A change that held the target; `until` is null while it still does. */
interface Holding {
  readonly change: ChangeId;
  readonly since: Date;
  readonly until: Date | null;
  /** The place of its last event in the log. */
  readonly seq: number;
}

/** The changes that held a target, by their last claim, in the order of these claims. */
export async function targetChanges(subjects: Subjects, key: string): Promise<readonly Holding[]> {
  const { state } = await subjects.load(
    `target/${key}`,
    (known: readonly Holding[] | null, { type, change: id, at, seq }) => {
      // The id of a change that took its target.
      const change = id as ChangeId;
      const all = known ?? [];
      const others = all.filter((each) => each.change !== change);
      const time = new Date(at);
      if (type === 'taken') return [...others, { change, since: time, until: null, seq }];
      return all.map((each) => (each.change === change ? { ...each, until: time, seq } : each));
    },
  );
  return state ?? [];
}

/** Another change of a target, and when it ended. */
export interface LaterChange {
  readonly id: ChangeId;
  readonly by: UserId;
  readonly at: Date;
}

/**
 * The last other change of the target that succeeded after this one was planned; after its parent ended, for a revert.
 * Null if there is none. The order is that of the log, not of clocks.
 */
export async function changedSincePlan(
  subjects: Subjects,
  change: Change,
): Promise<LaterChange | null> {
  const { id, parent, plannedSeq } = change;
  if (!parent) return changedSince(subjects, change, plannedSeq, [id]);
  const reverted = await loadChange(subjects, parent);
  return changedSince(subjects, change, reverted?.endedSeq ?? 0, [id, parent]);
}

/** Whether another change of the target succeeded since this one ended. */
export async function hasChangedSinceEnd(subjects: Subjects, change: Change): Promise<boolean> {
  const { id, endedSeq } = change;
  return endedSeq !== null && (await changedSince(subjects, change, endedSeq, [id])) !== null;
}

async function changedSince(
  subjects: Subjects,
  change: Change,
  since: number,
  except: readonly ChangeId[],
): Promise<LaterChange | null> {
  const holdings = await targetChanges(subjects, targetKey(change));
  const ended = holdings.filter(({ until, seq }) => until !== null && seq > since);
  for (const { change: id } of ended.toSorted((one, next) => next.seq - one.seq)) {
    const other = except.includes(id) ? null : await loadChange(subjects, id);
    // An unknown outcome ends when it is resolved.
    const at = other?.resolution?.at ?? other?.outcome?.at;
    if (other?.state === 'succeeded' && at) return { id, by: other.requester, at };
  }
  return null;
}

/** Reads the target again, and compares it with the preview. Throws if a read of the contract fails. */
export async function compareTarget(
  { commands, commandContext }: Pick<WorkflowContext, 'commands' | 'commandContext'>,
  { command, plan }: Change,
): Promise<CurrentState | null> {
  const compare = commands.get(command)?.compareBeforeSending;
  try {
    return (await compare?.(plan, commandContext())) ?? null;
  } catch (error) {
    // A definite refusal, for example "no such alert": the target no longer exists.
    if (error instanceof ApiError && error.effect === 'refused') return GONE;
    throw error;
  }
}

const GONE: CurrentState = {
  kind: 'differs',
  differences: [{ label: 'On the server', was: 'present', is: 'deleted or not visible' }],
};
