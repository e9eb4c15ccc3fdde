import type { RoleName, UserId } from '../../changes/change.ts';
import type { InlinePart } from '../../intent/answers/answer.ts';
import { selectorText } from '../../intent/arguments/freezes.ts';
import type { Policy, Rule } from '../../policy/policy-types.ts';
import { decideFor, type WhoContext, type WhoSubject } from './who-decision.ts';

type SaidLine = readonly InlinePart[];

/** One rule with the people who are behind its roles now; a line for each thing it says. */
export async function ruleLines(
  context: WhoContext,
  policy: Policy,
  rule: Rule,
  asked: WhoSubject,
): Promise<readonly SaidLine[]> {
  const about = rule.on
    ? ` is about ${selectorText(rule.on).toLowerCase()}`
    : ' is about everything';
  const isChange = context.commands.has(asked.command);
  return [
    [{ bold: `Rule ${rule.place}` }, about],
    [{ bold: 'Ask: ' }, ...(await peopleOf(context, policy, rule.to)), ...reasonOf(rule, isChange)],
    ...(isChange ? await approvalLines(context, policy, rule) : []),
    ...(isChange ? [await aloneLine(context, policy, rule)] : []),
    [{ bold: 'You: ' }, ...yourself(context, policy, rule, asked)],
  ];
}

function reasonOf({ reason }: Rule, isChange: boolean): SaidLine {
  if (!isChange || !reason.required) return [];
  const least = reason.minimum > 1 ? ` of at least ${reason.minimum} characters` : '';
  return [`. With a reason${least}`];
}

async function approvalLines(
  context: WhoContext,
  policy: Policy,
  { approvals, expiresAfterMs }: Rule,
): Promise<readonly SaidLine[]> {
  if (!approvals) return [[{ bold: 'Approve: ' }, 'nobody has to']];
  const { from, count, self, escalate } = approvals;
  const who = await peopleOf(context, policy, from);
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
    ...(await peopleOf(context, policy, escalate.to)),
  ];
  return [first, later];
}

async function aloneLine(
  context: WhoContext,
  policy: Policy,
  { breakGlass }: Rule,
): Promise<SaidLine> {
  const bold = { bold: 'Alone, in an emergency: ' };
  if (!breakGlass) return [bold, 'nobody'];
  return [bold, ...(await peopleOf(context, policy, breakGlass.to))];
}

const SHOWN_MAX = 12;

/** `@db-leads (3 now: Ben, Cleo, Gus)`: active members as Slack tells of them, or that it does not. */
async function peopleOf(context: WhoContext, policy: Policy, role: RoleName): Promise<SaidLine> {
  const members = await context.people.membersOf(role);
  const groups = policy.roles.get(role)?.groups ?? [];
  const name = groups.join(' or ') || `the role ${role}`;
  if (members === null) return [`${name} (Slack does not tell just now who that is)`];
  if (members.length === 0) return [`${name} (nobody now)`];
  return [`${name} (${members.length} now: `, ...listOf(members), ')'];
}

function listOf(members: readonly UserId[]): SaidLine {
  const shown = members.slice(0, SHOWN_MAX).flatMap((user, index): InlinePart[] => {
    return index > 0 ? [', ', { user }] : [{ user }];
  });
  const more = members.length - SHOWN_MAX;
  return more > 0 ? [...shown, ` and ${more} more`] : shown;
}

/** What would happen if the reader typed it now, given a good reason. */
function yourself(context: WhoContext, policy: Policy, rule: Rule, asked: WhoSubject): SaidLine {
  const { asker } = asked;
  const mayDecide = rule.approvals !== null && asker.roles.includes(rule.approvals.from);
  const decide = mayDecide ? ' You may approve what others ask for.' : '';
  if (!asker.roles.includes(rule.to)) {
    return [`you would be refused: this rule does not let you ask.${decide}`];
  }
  const { refusal } = decideFor(context, policy, asked, asker.roles);
  if (refusal === 'frozen') return [`you would be refused now: it is frozen.${decide}`];
  if (refusal === 'never') return [`you would be refused, like everybody.${decide}`];
  const needed = (rule.approvals?.count ?? 0) > 0 && context.commands.has(asked.command);
  return [`you may ask for it${needed ? '; then it waits for the approvals' : ''}.${decide}`];
}

function spanText(ms: number): string {
  const hours = ms / 3_600_000;
  if (hours >= 48) return `${+(hours / 24).toFixed(1)} days`;
  return hours >= 1 ? `${+hours.toFixed(1)} h` : `${Math.round(ms / 60_000)} min`;
}
