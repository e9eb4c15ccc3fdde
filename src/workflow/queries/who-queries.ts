import type { Target } from '../../changes/change.ts';
import type { Actor } from '../../changes/outcome.ts';
import type { Answer, AnswerPart, InlinePart } from '../../intent/answers/answer.ts';
import { freezeWords, scopeText } from '../../intent/arguments/freezes.ts';
import type { WhoQueries } from '../../intent/ports/command-context.ts';
import { neverRuleFor } from '../../policy/decide.ts';
import { upcomingFreezes } from '../../policy/freezes.ts';
import { reachable } from '../../policy/matching.ts';
import type { Freeze, Policy, Rule } from '../../policy/policy-types.ts';
import { policyNow } from '../request/current-policy.ts';
import { decideFor, type WhoContext, type WhoSubject } from './who-decision.ts';
import { ruleLines } from './who-lines.ts';
import { isFreezing, markLines, targetsOf } from './who-targets.ts';

/** Which rule decides, who may ask and approve at this moment, and what stands in the way. */
export function createWhoQueries(context: WhoContext): WhoQueries {
  return async (question, { by }) => {
    const policy = await policyNow(context.database.db, context);
    const targets = targetsOf(context, question);
    const identity = await context.people.identify(by, { fresh: false });
    const asker: Actor = { id: by, roles: identity.ok ? identity.actor.roles : [] };
    return answerFor(context, policy, { ...question, target: null, asker }, targets);
  };
}

async function answerFor(
  context: WhoContext,
  policy: Policy,
  asked: WhoSubject,
  targets: readonly Target[] | null,
): Promise<Answer> {
  const cases = targets ? casesOf(context, policy, asked, targets) : anyOf(context, policy, asked);
  const drawn = await Promise.all(cases.map((one) => drawCase(context, policy, one, cases.length)));
  const marks = markLines(targets ?? []);
  const isAboutIt = asked.scope && (marks.length > 0 || targets?.[0]?.kind === 'freeze');
  const on = asked.scope && isAboutIt ? ` on ${scopeText(asked.scope)}` : '';
  return {
    title: `Who may use /${asked.command}${on}`,
    parts: [
      ...(marks.length > 0 ? [{ kind: 'lines', lines: marks } as const] : []),
      ...(cases.length === 0 ? [{ kind: 'text', text: NOBODY } as const] : drawn),
      ...inTheWay(context, policy, asked, targets),
      ...(targets === null && cases.length > 1 ? [SEVERAL] : []),
    ],
  };
}

const NOBODY = 'Nobody: no rule of the policy allows it.';

const SEVERAL: AnswerPart = {
  kind: 'note',
  text: 'The first rule that is about the service decides. Name a service, tag= or warehouse= to see which one.',
};

/** Targets over which the same rule decides the same about whoever asks. */
interface Case {
  readonly rule: Rule | null;
  readonly asked: WhoSubject;
  readonly targets: readonly Target[];
}

/** Nothing is named: each rule that decides about some. */
function anyOf(context: WhoContext, policy: Policy, asked: WhoSubject): readonly Case[] {
  if (!context.commands.has(asked.command)) return casesOf(context, policy, asked, [null]);
  return reachable(policy, asked.command).map((rule) => ({ rule, asked, targets: [] }));
}

function casesOf(
  context: WhoContext,
  policy: Policy,
  about: WhoSubject,
  targets: readonly (Target | null)[],
): readonly Case[] {
  const found = new Map<string, Case>();
  for (const target of targets) {
    const asked = { ...about, target };
    const { rule, refusal } = decideFor(context, policy, asked, [...policy.roles.keys()]);
    const key = [rule?.place, refusal].join();
    const same = found.get(key);
    const own = [...(same?.targets ?? []), ...(target ? [target] : [])];
    const decides = refusal === 'no-rule' ? null : rule;
    found.set(key, { asked: same?.asked ?? asked, rule: decides, targets: own });
  }
  return [...found.values()];
}

async function drawCase(
  context: WhoContext,
  policy: Policy,
  { rule, asked, targets }: Case,
  cases: number,
): Promise<AnswerPart> {
  const names = targets.map(({ name }) => name).join(', ');
  const over: readonly InlinePart[] = cases > 1 && names ? [{ bold: names }] : [];
  const lines = rule
    ? await ruleLines(context, policy, rule, asked)
    : [[undecided(context, policy, asked)]];
  return { kind: 'lines', lines: over.length > 0 ? [over, ...lines] : lines };
}

function undecided(context: WhoContext, policy: Policy, asked: WhoSubject): string {
  const { rule } = decideFor(context, policy, asked, [...policy.roles.keys()]);
  return rule
    ? `Nobody: signalbox.yaml does not say enough of ${asked.target?.name ?? 'it'} to tell whether rule ${rule.place} is about it, and no rule behind that one counts.`
    : NOBODY;
}

function inTheWay(
  { commands, now }: WhoContext,
  policy: Policy,
  asked: WhoSubject,
  targets: readonly Target[] | null,
): readonly AnswerPart[] {
  if (!commands.has(asked.command)) return [];
  const over: readonly (Target | null)[] = targets ?? [null];
  const nevers = over.flatMap((target) => neverRuleFor(policy, { ...asked, target }) ?? []);
  const some = targets?.length === 1 ? '' : 'at least on some targets; ';
  const ruledOut = [...new Set(nevers)].map((never): readonly InlinePart[] => [
    { bold: 'Never ' },
    `(${some}not even in an emergency): ${never.reason}`,
  ]);
  // Asked without a target, a freeze would seem to hold what makes and lifts it.
  const held = isFreezing(commands.get(asked.command)) ? [] : policy.freezes;
  const near = over.flatMap((target) => upcomingFreezes(held, target, now()));
  const frozen = [...new Set<Freeze>(near)].map((freeze): readonly InlinePart[] => [
    { bold: 'Frozen: ' },
    ...freezeWords(freeze),
  ]);
  const lines = [...ruledOut, ...frozen];
  return lines.length > 0 ? [{ kind: 'lines', lines }] : [];
}
