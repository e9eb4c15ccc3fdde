// `signalbox policy prove --against`: which decisions differ from those of another file, for a pull request.

import { spanText } from '../base/text.ts';
import { type Command, commands } from '../commands/index.ts';
import { countWords } from '../domain/answer.ts';
import type { RoleName } from '../domain/change.ts';
import type { Policy } from '../domain/policy.ts';
import { minuteText, type PolicyAnswer, requirementText } from './policy-cases.ts';
import {
  type Case,
  decisionsOn,
  kindsIn,
  momentsOf,
  type Named,
  type ProvedFile,
  requestersOf,
  targetsOf,
  UNLISTED,
} from './prove.ts';

/** The most rows of a comparison: a comment of a pull request holds 65,536 characters. */
const MOST_ROWS = 100;

/** Compares the decisions of two files, as Markdown for a pull request. */
export function compareFiles(before: ProvedFile, after: ProvedFile, now: Date): string {
  const policies = [before.policy, after.policy];
  const moments = momentsOf(policies, now);
  const requesters = [...requestersOf(before.policy), ...requestersOf(after.policy)];
  const known = requesters.filter(
    ({ who }, index) => requesters.findIndex((other) => other.who === who) === index,
  );
  const rows = new Map<string, Difference>();
  for (const command of commands) {
    for (const place of pairsOf(command, before, after)) {
      const asked = { command, requesters: known, moments };
      const old = decisionsOn(before.policy, { ...asked, place: place.before });
      // A difference counts at the first moment at which it holds.
      const noted = new Set<string>();
      for (const is of decisionsOn(after.policy, { ...asked, place: place.after })) {
        const was = old.next().value as Case;
        const difference = { before: fullText(was.answer), after: fullText(is.answer) };
        const what = JSON.stringify([is.requester.who, difference]);
        if (difference.before === difference.after || noted.has(what)) continue;
        noted.add(what);
        noteDifference(rows, difference, is, now);
      }
    }
  }
  return comparisonText([...rows.values()], peopleLines(before.policy, after.policy));
}

interface Difference {
  readonly who: string;
  readonly before: string;
  readonly after: string;
  readonly commands: Set<string>;
  readonly names: Set<string>;
}

function noteDifference(
  rows: Map<string, Difference>,
  { before, after }: Pick<Difference, 'before' | 'after'>,
  is: Case,
  now: Date,
): void {
  const when = is.at > now ? `, from ${minuteText(is.at)} on` : '';
  const who = `${is.requester.who}${when}`;
  const key = JSON.stringify([who, before, after]);
  const row = rows.get(key) ?? { who, before, after, commands: new Set(), names: new Set() };
  rows.set(key, row);
  row.commands.add(is.command);
  for (const name of is.place.target ? is.place.names : []) row.names.add(name);
}

/** Everything that a rule requires. Its number is no difference. */
function fullText(answer: PolicyAnswer): string {
  if (!answer.allow) return `denied: ${answer.refusal}`;
  const { requires } = answer;
  const { escalation, channel, reason, expiresAfterMs } = requires;
  const also = [
    escalation && `${escalation.to} after ${spanText(escalation.afterMs)}`,
    reason && 'with a reason',
    channel && `in ${channel}`,
    `within ${spanText(expiresAfterMs)}`,
  ];
  return [requirementText(requires), ...also.filter(Boolean)].join(', ');
}

// A service that only one file lists is unlisted for the other. What else only one of them has cannot be compared.
function pairsOf(command: Command, before: ProvedFile, after: ProvedFile) {
  const old = targetsOf(command, before);
  const own = targetsOf(command, after);
  const ids = new Set([...own, ...old].map(idOf));
  const pairs = [...ids].flatMap((id) => {
    const [was, is] = [namedIn(old, id), namedIn(own, id)];
    const name = [...own, ...old].find((named) => idOf(named) === id)?.name ?? id;
    return was && is ? [{ name, was, is }] : [];
  });
  const [oldKind, ownKind] = [kindsIn(before.policy), kindsIn(after.policy)];
  const groups = Map.groupBy(pairs, ({ was, is }) =>
    JSON.stringify([oldKind(was).key, ownKind(is).key]),
  );
  return [...groups.values()].flatMap((group) => {
    const names = group.map(({ name }) => name);
    return group.slice(0, 1).map(({ was, is }) => ({
      before: { target: was.target, names, covered: oldKind(was).covered },
      after: { target: is.target, names, covered: ownKind(is).covered },
    }));
  });
}

function idOf({ name, target }: Named): string {
  return target?.kind === 'service' && target.id !== UNLISTED ? target.id : name;
}

function namedIn(list: readonly Named[], id: string): Named | undefined {
  return (
    list.find((named) => idOf(named) === id) ?? list.find(({ target }) => target?.id === UNLISTED)
  );
}

/** Who is a member of a role decides too; groups cannot be read without Slack. */
function peopleLines(before: Policy, after: Policy): readonly string[] {
  const membersOf = ({ roles }: Policy, role: RoleName) => {
    const { groups, users } = roles.get(role) ?? { groups: [], users: [] };
    return [...groups, ...users];
  };
  const roles = [...new Set([...before.roles.keys(), ...after.roles.keys()])];
  return roles.flatMap((role) => {
    const [old, own] = [membersOf(before, role), membersOf(after, role)];
    const changes = [
      ...own.filter((member) => !old.includes(member)).map((member) => `+ ${member}`),
      ...old.filter((member) => !own.includes(member)).map((member) => `- ${member}`),
    ];
    return changes.length > 0 ? [`- ${cell(role)}: ${changes.map(cell).join(', ')}`] : [];
  });
}

function comparisonText(rows: readonly Difference[], people: readonly string[]): string {
  const members = people.length > 0 ? ['', 'Members of roles:', ...people] : [];
  if (rows.length === 0) return ['No decision differs.', ...members, ''].join('\n');
  const shown = rows
    .slice(0, MOST_ROWS)
    .map(({ who, before, after, commands: names, names: on }) => {
      const cells = [who, listText([...names]), listText([...on]), before, after];
      return `| ${cells.map(cell).join(' | ')} |`;
    });
  const left = rows.length - shown.length;
  return [
    `${countWords(rows.length, 'group')} of decisions ${rows.length === 1 ? 'differs' : 'differ'}.`,
    '',
    '| Who | Command | On | Before | After |',
    '| --- | --- | --- | --- | --- |',
    ...shown,
    ...(left > 0 ? ['', `And ${countWords(left, 'more group')}.`] : []),
    ...members,
    '',
  ].join('\n');
}

function listText(names: readonly string[]): string {
  const shown = names.slice(0, 6).join(', ');
  return names.length > 6 ? `${shown} and ${names.length - 6} more` : shown || '-';
}

/** Names come from a file that anyone may have changed: in a code span nothing is markup, a link or a mention. */
function cell(text: string): string {
  return `\`${text.replaceAll('`', "'").replaceAll('|', '\\|').replaceAll(/\s+/g, ' ')}\``;
}
