import type { TimedResult } from '../../base/errors.ts';
import type { RoleName, UserId } from '../../domain/change.ts';
import type { Policy, Role } from '../../domain/policy.ts';
import { impossibleRequirements } from '../../domain/policy-schema.ts';
import { standingOf } from '../../slack/accounts.ts';
import {
  groupNamed,
  groupProblem,
  type ListedGroup,
  unknownUserProblem,
} from '../../slack/groups.ts';
import type { AppIdentity, PersonFacts } from '../../slack/slack-checks.ts';
import { type CheckLine, countText, failed, ok, slackLine } from '../line.ts';

interface PeopleResults {
  readonly self: AppIdentity;
  readonly groups: TimedResult<readonly ListedGroup[]>;
  readonly people: TimedResult<readonly PersonFacts[]>;
}

/** One line per role with its active members, and one per rule that cannot be satisfied. */
export function peopleLines(policy: Policy, answers: PeopleResults): readonly CheckLine[] {
  const { self, groups, people } = answers;
  if (!groups.ok) return [slackLine('groups', groups.error)];
  if (!people.ok) return [slackLine('people', people.error)];
  const known = new Map(people.value.map((person) => [person.id, person]));
  const counts = (id: string) => {
    const person = known.get(id);
    return person !== undefined && standingOf(person.user, self.home) === 'member';
  };
  const roles = [...policy.roles].map(([name, role]) => {
    const all = idsOf(role, groups.value);
    return { name, role, all, active: all.filter(counts) };
  });
  const lines = roles.flatMap((one) => {
    const problems = roleProblems(one, groups.value, known);
    // An empty role is then a consequence, not a second problem.
    return problems.length > 0 && one.active.length === 0
      ? problems
      : [...problems, roleLine(one, groups.value)];
  });
  const members = new Map(
    roles.map(({ name, active }): [RoleName, ReadonlySet<UserId>] => [name, new Set(active)]),
  );
  return [...lines, ...ruleLines(policy, members)];
}

interface RoleCount {
  readonly name: string;
  readonly role: Role;
  readonly all: readonly UserId[];
  readonly active: readonly UserId[];
}

function roleLine(
  { name, role, all, active }: RoleCount,
  listed: readonly ListedGroup[],
): CheckLine {
  const named = role.users.length > 0 ? ['signalbox.yaml'] : [];
  const from = [...role.groups, ...named].join(', ');
  if (active.length === 0) {
    const fix = `add a member to ${from}; guests, bots and deactivated users do not count`;
    return failed(name, 'has no member', fix);
  }
  const others = all.length - active.length;
  const rest = others === 0 ? '' : `, not counting ${others} guests, deactivated or external users`;
  const count = countText(active.length, 'person', 'people');
  return ok(name, `${count} of ${from}${rest}${recommendedIds(role, listed)}`);
}

/** The id of a group stays when its handle is changed. */
function recommendedIds({ groups }: Role, listed: readonly ListedGroup[]): string {
  const ids = groups.flatMap((name) => {
    const id = groupNamed(name, listed)?.id;
    return id === undefined || id === name ? [] : [`${id} for ${name}`];
  });
  return ids.length === 0 ? '' : `; recommended in place of the handle: ${ids.join(', ')}`;
}

function roleProblems(
  { name, role }: Pick<RoleCount, 'name' | 'role'>,
  listed: readonly ListedGroup[],
  known: ReadonlyMap<string, PersonFacts>,
): readonly CheckLine[] {
  const groups = role.groups.flatMap((group) => groupProblem(name, group, listed) ?? []);
  const users = role.users.filter((user) => !known.has(user));
  return [...groups, ...users.map((user) => unknownUserProblem(name, user))].map((each) =>
    failed(each.where, each.problem, each.hint),
  );
}

function ruleLines(policy: Policy, members: ReadonlyMap<RoleName, ReadonlySet<UserId>>) {
  const problems = impossibleRequirements(policy, members);
  if (problems.length === 0) {
    return [ok('rules', 'every rule has a possible requester and enough approvers')];
  }
  return problems.map(({ where, problem, hint }) =>
    failed(where, problem, hint ?? `check ${where} in signalbox.yaml`),
  );
}

// The ids come from Slack, so they are valid user ids.
function idsOf(role: Role, listed: readonly ListedGroup[]): readonly UserId[] {
  const groups = role.groups.flatMap((name) => groupNamed(name, listed) ?? []);
  const inGroups = groups.flatMap(({ disabled, users }) => (disabled ? [] : users));
  return [...new Set([...role.users, ...inGroups.map((id) => id as UserId)])];
}
