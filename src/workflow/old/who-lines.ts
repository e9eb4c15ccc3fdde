import { HOUR_MS } from '../../base/time.ts';
import type { InlinePart } from '../../domain/answer.ts';
import type { RoleName, UserId } from '../../domain/change.ts';
import { selectorText } from '../../domain/freezes.ts';
import type { Policy, Rule } from '../../domain/policy.ts';
import { decideFor, type WhoContext, type WhoSubject } from './who-decision.ts';

type TextLine = readonly InlinePart[];

/** Describes one rule, with the current members of its roles. */
export async function ruleLines(
  context: WhoContext,
  policy: Policy,
  rule: Rule,
  subject: WhoSubject,
): Promise<readonly TextLine[]> {
  const about = rule.on
    ? ` applies to ${selectorText(rule.on).toLowerCase()}`
    : ' applies to everything';
  const isChange = context.commands.has(subject.command);
  return [
    [{ bold: `Rule ${rule.place}` }, about],
    [
      { bold: 'Request: ' },
      ...(await peopleOf(context, policy, rule.to)),
      ...reasonOf(rule, isChange),
    ],
    ...(isChange ? await approvalLines(context, policy, rule) : []),
    ...(isChange ? [await breakGlassLine(context, policy, rule)] : []),
    ...(isChange ? discoveredLine(context, rule, subject) : []),
    [{ bold: 'You: ' }, ...ownLine(context, policy, rule, subject)],
  ];
}

function reasonOf({ reason }: Rule, isChange: boolean): TextLine {
  if (!isChange || !reason.required) return [];
  const least = reason.minimum > 1 ? ` of at least ${reason.minimum} characters` : '';
  return [`. A reason${least} is required`];
}

async function approvalLines(
  context: WhoContext,
  policy: Policy,
  { approvals, expiresAfterMs }: Rule,
): Promise<readonly TextLine[]> {
  if (!approvals) return [[{ bold: 'Approve: ' }, 'not required']];
  const { from, count, self, escalate } = approvals;
  const who = await peopleOf(context, policy, from);
  const ownApproval = self ? ' The requester may approve too.' : ' The requester does not count.';
  const first: TextLine = [
    { bold: 'Approve: ' },
    `${count} of `,
    ...who,
    `, within ${spanText(expiresAfterMs)}.${ownApproval}`,
  ];
  if (!escalate) return [first];
  const later: TextLine = [
    { bold: `After ${spanText(escalate.after)}: ` },
    'also ',
    ...(await peopleOf(context, policy, escalate.to)),
  ];
  return [first, later];
}

async function breakGlassLine(
  context: WhoContext,
  policy: Policy,
  { breakGlass }: Rule,
): Promise<TextLine> {
  const bold = { bold: 'Break-glass: ' };
  if (!breakGlass) return [bold, 'no one'];
  return [bold, ...(await peopleOf(context, policy, breakGlass.to))];
}

/** Shown with extended reads, unless the target is known to be in the file. */
function discoveredLine(
  { discoversServices }: WhoContext,
  { discovered, on }: Rule,
  { target }: WhoSubject,
): readonly TextLine[] {
  const isListed = target !== null && !target.discovered;
  if (!discoversServices || isListed || on?.services) return [];
  const bold = { bold: 'Services that are not in signalbox.yaml: ' };
  return [[bold, discovered ? 'allowed' : 'not allowed by this rule']];
}

/** `@db-leads (3 now: Ben, Cleo, Gus)`: active members of a role. */
async function peopleOf(context: WhoContext, policy: Policy, role: RoleName): Promise<TextLine> {
  const members = await context.people.someMembers(role);
  const groups = policy.roles.get(role)?.groups ?? [];
  const name = groups.join(' or ') || `the role ${role}`;
  if (members === null) return [`${name} (Slack did not answer the membership lookup)`];
  const { users, more } = members;
  if (users.length === 0) return [more ? name : `${name} (no active members)`];
  if (more) return [`${name} (for example `, ...listOf(users), ')'];
  return [`${name} (${users.length} now: `, ...listOf(users), ')'];
}

function listOf(members: readonly UserId[]): TextLine {
  return members.flatMap((user, index): InlinePart[] => {
    return index > 0 ? [', ', { user }] : [{ user }];
  });
}

/** What would happen if the user who asks requested the command now, with a reason. */
function ownLine(context: WhoContext, policy: Policy, rule: Rule, subject: WhoSubject): TextLine {
  const { asker } = subject;
  const mayDecide = rule.approvals !== null && asker.roles.includes(rule.approvals.from);
  const decide = mayDecide ? ' You may approve requests of others.' : '';
  if (!asker.roles.includes(rule.to)) {
    return [`refused: this rule does not admit you.${decide}`];
  }
  const { refusal } = decideFor(context, policy, subject, asker.roles);
  if (refusal === 'not-listed') {
    return [`refused: this service is not in signalbox.yaml.${decide}`];
  }
  if (refusal === 'frozen') return [`refused now: it is frozen.${decide}`];
  if (refusal === 'never') return [`refused, like everyone.${decide}`];
  const needed = (rule.approvals?.count ?? 0) > 0 && context.commands.has(subject.command);
  return [`you may request it${needed ? ', and it needs these approvals' : ''}.${decide}`];
}

function spanText(ms: number): string {
  const hours = ms / HOUR_MS;
  if (hours >= 48) return `${+(hours / 24).toFixed(1)} days`;
  return hours >= 1 ? `${+hours.toFixed(1)} h` : `${Math.round(ms / 60_000)} min`;
}
