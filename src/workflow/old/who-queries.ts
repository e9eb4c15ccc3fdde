import type { WhoQueries } from '../../commands/index.ts';
import type { Answer, AnswerPart, InlinePart } from '../../domain/answer.ts';
import { type Actor, TARGET_TRAITS, type Target } from '../../domain/change.ts';
import { freezeWords, scopeText } from '../../domain/freezes.ts';
import {
  type Freeze,
  neverRuleFor,
  type Policy,
  type Rule,
  reachable,
  upcomingFreezes,
} from '../../domain/policy.ts';
import { currentPolicy } from './current-policy.ts';
import { decideFor, type WhoContext, type WhoSubject } from './who-decision.ts';
import { ruleLines } from './who-lines.ts';
import { changesFreezes, tagLines, targetsOf } from './who-targets.ts';

/** Explains which rule decides, who may request and approve now, and which freezes apply. */
export function createWhoQueries(context: WhoContext): WhoQueries {
  return async (question, { by }) => {
    const policy = await currentPolicy(context.database.db, context);
    const targets = targetsOf(context, question);
    const identity = await context.people.identify(by, { fresh: false });
    const asker: Actor = { id: by, roles: identity.ok ? identity.actor.roles : [] };
    return answerFor(context, policy, { ...question, target: null, asker }, targets);
  };
}

async function answerFor(
  context: WhoContext,
  policy: Policy,
  subject: WhoSubject,
  targets: readonly Target[] | null,
): Promise<Answer> {
  const cases = targets
    ? casesOf(context, policy, subject, targets)
    : casesOfRules(context, policy, subject);
  const drawn = await Promise.all(cases.map((one) => drawCase(context, policy, one, cases.length)));
  const tags = tagLines(targets ?? []);
  const isScope = targets?.some(({ kind }) => TARGET_TRAITS[kind].isScope);
  const hasScope = subject.scope && (tags.length > 0 || isScope);
  const on = subject.scope && hasScope ? ` on ${scopeText(subject.scope)}` : '';
  return {
    title: `Who may use /${subject.command}${on}`,
    parts: [
      ...(tags.length > 0 ? [{ kind: 'lines', lines: tags } as const] : []),
      ...(cases.length === 0 ? [{ kind: 'text', text: NOBODY } as const] : drawn),
      ...blockers(context, policy, subject, targets),
      ...(targets === null && cases.length > 1 ? [SEVERAL] : []),
    ],
  };
}

const NOBODY = 'No one: no rule allows it.';

const SEVERAL: AnswerPart = {
  kind: 'note',
  text: 'The first rule that matches the service decides. Add a service, tag= or warehouse= to see which one.',
};

/** The targets for which the same rule makes the same decision. */
interface Case {
  readonly rule: Rule | null;
  readonly subject: WhoSubject;
  readonly targets: readonly Target[];
}

/** Without a target: one case for each rule that can decide. */
function casesOfRules(context: WhoContext, policy: Policy, subject: WhoSubject): readonly Case[] {
  if (!context.commands.has(subject.command)) return casesOf(context, policy, subject, [null]);
  return reachable(policy, subject.command).map((rule) => ({ rule, subject, targets: [] }));
}

function casesOf(
  context: WhoContext,
  policy: Policy,
  question: WhoSubject,
  targets: readonly (Target | null)[],
): readonly Case[] {
  const found = new Map<string, Case>();
  for (const target of targets) {
    const subject = { ...question, target };
    const { rule, refusal } = decideFor(context, policy, subject, [...policy.roles.keys()]);
    const key = [rule?.place, refusal].join();
    const same = found.get(key);
    const own = [...(same?.targets ?? []), ...(target ? [target] : [])];
    const decides = refusal === 'no-rule' || refusal === 'not-verified' ? null : rule;
    found.set(key, { subject: same?.subject ?? subject, rule: decides, targets: own });
  }
  return [...found.values()];
}

async function drawCase(
  context: WhoContext,
  policy: Policy,
  { rule, subject, targets }: Case,
  cases: number,
): Promise<AnswerPart> {
  const names = targets.map(({ name }) => name).join(', ');
  const over: readonly InlinePart[] = cases > 1 && names ? [{ bold: names }] : [];
  const lines = rule
    ? await ruleLines(context, policy, rule, subject)
    : [[undecided(context, policy, subject)]];
  return { kind: 'lines', lines: over.length > 0 ? [over, ...lines] : lines };
}

function undecided(context: WhoContext, policy: Policy, subject: WhoSubject): string {
  const { rule, refusal } = decideFor(context, policy, subject, [...policy.roles.keys()]);
  if (rule && refusal === 'not-verified') {
    return `No one: rule ${rule.place} needs tags or a warehouse, and the server did not return those of ${subject.target?.name ?? 'this target'}. Later rules do not count.`;
  }
  return rule
    ? `No one: rule ${rule.place} needs tags or a warehouse, and signalbox.yaml has none for ${subject.target?.name ?? 'this target'}. Later rules do not count.`
    : NOBODY;
}

function blockers(
  { commands, now }: WhoContext,
  policy: Policy,
  subject: WhoSubject,
  targets: readonly Target[] | null,
): readonly AnswerPart[] {
  if (!commands.has(subject.command)) return [];
  const over: readonly (Target | null)[] = targets ?? [null];
  const nevers = over.flatMap((target) => neverRuleFor(policy, { ...subject, target }) ?? []);
  const some = targets?.length === 1 ? '' : 'on some targets; ';
  const neverLines = [...new Set(nevers)].map((never): readonly InlinePart[] => [
    { bold: 'Never ' },
    `(${some}not even with break-glass): ${never.reason}`,
  ]);
  // Freezes do not apply to the commands that make and lift them.
  const applicable = changesFreezes(commands.get(subject.command)) ? [] : policy.freezes;
  const near = over.flatMap((target) => upcomingFreezes(applicable, target, now()));
  const frozen = [...new Set<Freeze>(near)].map((freeze): readonly InlinePart[] => [
    { bold: 'Frozen: ' },
    ...freezeWords(freeze),
  ]);
  const lines = [...neverLines, ...frozen];
  return lines.length > 0 ? [{ kind: 'lines', lines }] : [];
}
