import type { RoleName, UserId } from '../../changes/change.ts';
import type { Said } from '../../intent/answers/answer.ts';
import { selectorText } from '../../intent/arguments/freezes.ts';
import type { Policy, Rule } from '../../policy/policy-types.ts';
import { type Asked, decideFor, type WhoWorld } from './who-decision.ts';

type SaidLine = readonly Said[];

/** One rule with the people who are behind its roles now; a line for each thing it says. */
export async function ruleLines(
  world: WhoWorld,
  policy: Policy,
  rule: Rule,
  asked: Asked,
): Promise<readonly SaidLine[]> {
  const about = rule.on
    ? ` is about ${selectorText(rule.on).toLowerCase()}`
    : ' is about everything';
  const isChange = world.commands.has(asked.command);
  return [
    [{ bold: `Rule ${rule.place}` }, about],
    [{ bold: 'Ask: ' }, ...(await peopleOf(world, policy, rule.to)), ...reasonOf(rule, isChange)],
    ...(isChange ? await approvalLines(world, policy, rule) : []),
    ...(isChange ? [await aloneLine(world, policy, rule)] : []),
    [{ bold: 'You: ' }, ...yourself(world, policy, rule, asked)],
  ];
}

function reasonOf({ reason }: Rule, isChange: boolean): SaidLine {
  if (!isChange || !reason.required) return [];
  const least = reason.minimum > 1 ? ` of at least ${reason.minimum} characters` : '';
  return [`. With a reason${least}`];
}

async function approvalLines(
  world: WhoWorld,
  policy: Policy,
  { approvals, expiresAfterMs }: Rule,
): Promise<readonly SaidLine[]> {
  if (!approvals) return [[{ bold: 'Approve: ' }, 'nobody has to']];
  const { from, count, self, escalate } = approvals;
  const who = await peopleOf(world, policy, from);
  const own = self ? ' The requester counts too.' : ' The requester does not count.';
  const first: SaidLine = [
    { bold: 'Approve: ' },
    `${count} of `,
    ...who,
    `, within ${spanText(expiresAfterMs)}.${own}`,
  ];
  if (!escalate) return [first];
  const later: SaidLine = [
    { bold: `After ${spanText(escalate.after)}: ` },
    'also ',
    ...(await peopleOf(world, policy, escalate.to)),
  ];
  return [first, later];
}

async function aloneLine(world: WhoWorld, policy: Policy, { breakGlass }: Rule): Promise<SaidLine> {
  const bold = { bold: 'Alone, in an emergency: ' };
  if (!breakGlass) return [bold, 'nobody'];
  return [bold, ...(await peopleOf(world, policy, breakGlass.to))];
}

const SHOWN_MAX = 12;

/** `@db-leads (3 now: Ben, Cleo, Gus)`: active members as Slack tells of them, or that it does not. */
async function peopleOf(world: WhoWorld, policy: Policy, role: RoleName): Promise<SaidLine> {
  const members = await world.people.membersOf(role);
  const groups = policy.roles.get(role)?.groups ?? [];
  const name = groups.join(' or ') || `the role ${role}`;
  if (members === null) return [`${name} (Slack does not tell just now who that is)`];
  if (members.length === 0) return [`${name} (nobody now)`];
  return [`${name} (${members.length} now: `, ...listOf(members), ')'];
}

function listOf(members: readonly UserId[]): SaidLine {
  const shown = members.slice(0, SHOWN_MAX).flatMap((user, index): Said[] => {
    return index > 0 ? [', ', { user }] : [{ user }];
  });
  const more = members.length - SHOWN_MAX;
  return more > 0 ? [...shown, ` and ${more} more`] : shown;
}

/** What would happen if the reader typed it now, given a good reason. */
function yourself(world: WhoWorld, policy: Policy, rule: Rule, asked: Asked): SaidLine {
  const { asker } = asked;
  const mayDecide = rule.approvals !== null && asker.roles.includes(rule.approvals.from);
  const decide = mayDecide ? ' You may approve what others ask for.' : '';
  if (!asker.roles.includes(rule.to)) {
    return [`you would be refused: this rule does not let you ask.${decide}`];
  }
  const { refusal } = decideFor(world, policy, asked, asker.roles);
  if (refusal === 'frozen') return [`you would be refused now: it is frozen.${decide}`];
  if (refusal === 'never') return [`you would be refused, like everybody.${decide}`];
  const needed = (rule.approvals?.count ?? 0) > 0 && world.commands.has(asked.command);
  return [`you may ask for it${needed ? '; then it waits for the approvals' : ''}.${decide}`];
}

function spanText(ms: number): string {
  const hours = ms / 3_600_000;
  if (hours >= 48) return `${+(hours / 24).toFixed(1)} days`;
  return hours >= 1 ? `${+hours.toFixed(1)} h` : `${Math.round(ms / 60_000)} min`;
}
