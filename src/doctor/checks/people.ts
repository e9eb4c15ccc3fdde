import type { RoleName, UserId } from '../../changes/change.ts';
import type { Policy, Role } from '../../policy/policy-types.ts';
import { nearestWord } from '../../policy/problem.ts';
import { impossibleRequirements } from '../../policy/satisfiable.ts';
import { standingOf } from '../../slack/people/actors.ts';
import type { Listed } from '../../slack/people/groups.ts';
import type { PersonFacts, Self, SlackChecks } from '../../slack/slack-checks.ts';
import type { TimedResult } from '../../with-timeout.ts';
import { type CheckLine, countText, failed, ok, slackLine } from '../line.ts';

/** All user groups, and the members of those that the policy names. */
export interface Register {
  readonly groups: readonly Listed[];
  readonly members: ReadonlyMap<string, readonly string[]>;
}

/** Reads all user groups, and the members of the active groups that the policy names. */
export async function readRegister(slack: SlackChecks, policy: Policy): Promise<Register> {
  const groups = await slack.groups();
  const named = [...policy.roles.values()].flatMap((role) => role.groups);
  const ids = named.flatMap((name) => groupOf(name, groups) ?? []).filter((one) => !one.disabled);
  const members = await Promise.all(
    [...new Set(ids.map(({ id }) => id))].map(
      async (id) => [id, await slack.membersOf(id)] as const,
    ),
  );
  return { groups, members: new Map(members) };
}

interface Answers {
  readonly self: Self;
  readonly register: TimedResult<Register>;
  readonly people: TimedResult<readonly PersonFacts[]>;
}

/** One line per role with its active members, and one per rule that cannot be satisfied. */
export function peopleLines(policy: Policy, answers: Answers): readonly CheckLine[] {
  const { self, register, people } = answers;
  if (!register.ok) return [slackLine('groups', register.error)];
  if (!people.ok) return [slackLine('people', people.error)];
  const known = new Map(people.value.map((person) => [person.id, person]));
  const counts = (id: string) => {
    const person = known.get(id);
    return person !== undefined && standingOf(person.user, self.home) === 'member';
  };
  const roles = [...policy.roles].map(([name, role]) => {
    const all = idsOf(role, register.value);
    return { name, role, all, active: all.filter(counts) };
  });
  const lines = roles.flatMap((one) => {
    const unknown = one.role.users.filter((user) => !known.has(user));
    const problems = [
      ...groupProblems(one.name, one.role, register.value.groups),
      ...unknown.map((user) => unknownUserLine(`roles.${one.name}`, user)),
    ];
    // An empty role is then a consequence, not a second problem.
    return problems.length > 0 && one.active.length === 0 ? problems : [...problems, roleLine(one)];
  });
  const members = new Map(
    roles.map(({ name, active }): [RoleName, ReadonlySet<UserId>] => [name, new Set(active)]),
  );
  return [...lines, ...ruleLines(policy, members)];
}

interface Counted {
  readonly name: string;
  readonly role: Role;
  readonly all: readonly UserId[];
  readonly active: readonly UserId[];
}

function roleLine({ name, role, all, active }: Counted): CheckLine {
  const named = role.users.length > 0 ? ['signalbox.yaml'] : [];
  const from = [...role.groups, ...named].join(', ');
  if (active.length === 0) {
    const fix = `add a member to ${from}; guests, bots and deactivated users do not count`;
    return failed(name, 'has no member', fix);
  }
  const others = all.length - active.length;
  const rest = others === 0 ? '' : `, not counting ${others} guests, deactivated or external users`;
  return ok(name, `${countText(active.length, 'person', 'people')} of ${from}${rest}`);
}

function groupProblems(role: RoleName, { groups }: Role, listed: readonly Listed[]) {
  return groups.flatMap((name): CheckLine[] => {
    const group = groupOf(name, listed);
    if (group && !group.disabled) return [];
    const where = `roles.${role}`;
    if (group) {
      const fix = `enable it in Slack under People & user groups, or set another group at ${where}`;
      return [failed(where, `the user group ${name} is disabled`, fix)];
    }
    const handles = listed.filter(({ disabled }) => !disabled).map(({ handle }) => `@${handle}`);
    const near = nearestWord(name, handles);
    const meant =
      near === null ? 'create it in Slack' : `did you mean '${near}'? Otherwise create it`;
    return [
      failed(where, `Slack has no user group ${name}`, `${meant}, or set another group there`),
    ];
  });
}

function unknownUserLine(where: string, user: string): CheckLine {
  const fix = 'copy the member ID from the user’s profile in Slack (⋮, Copy member ID)';
  return failed(where, `Slack has no user with the id ${user}`, fix);
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
function idsOf(role: Role, { groups, members }: Register): readonly UserId[] {
  const inGroups = role.groups.flatMap(
    (name) => members.get(groupOf(name, groups)?.id ?? '') ?? [],
  );
  return [...new Set([...role.users, ...inGroups.map((id) => id as UserId)])];
}

function groupOf(name: string, groups: readonly Listed[]): Listed | undefined {
  return groups.find(({ id, handle }) => name === id || name === `@${handle}`);
}
