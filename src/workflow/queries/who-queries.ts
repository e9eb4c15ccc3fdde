import type { Target } from '../../changes/change.ts';
import type { Actor } from '../../changes/outcome.ts';
import type { Answer, Part, Said } from '../../intent/answers/answer.ts';
import { freezeWords, scopeText } from '../../intent/arguments/freezes.ts';
import type { WhoDesk } from '../../intent/ports/who-queries.ts';
import { neverOver } from '../../policy/decide.ts';
import { freezesNear } from '../../policy/freezes.ts';
import { reachable } from '../../policy/matching.ts';
import type { Freeze, Policy, Rule } from '../../policy/policy-types.ts';
import { policyNow } from '../request/current-policy.ts';
import { type Asked, decideFor, type WhoWorld } from './who-decision.ts';
import { ruleLines } from './who-lines.ts';
import { isFreezing, markLines, targetsOf } from './who-targets.ts';

/** Which rule decides, who may ask and approve at this moment, and what stands in the way. */
export function createWhoDesk(world: WhoWorld): WhoDesk {
  return async (question, { by }) => {
    const policy = await policyNow(world.database.db, world);
    const targets = targetsOf(world, question);
    const identity = await world.people.identify(by, { fresh: false });
    const asker: Actor = { id: by, roles: identity.ok ? identity.actor.roles : [] };
    return answerFor(world, policy, { ...question, target: null, asker }, targets);
  };
}

async function answerFor(
  world: WhoWorld,
  policy: Policy,
  asked: Asked,
  targets: readonly Target[] | null,
): Promise<Answer> {
  const cases = targets ? casesOf(world, policy, asked, targets) : anyOf(world, policy, asked);
  const drawn = await Promise.all(cases.map((one) => drawCase(world, policy, one, cases.length)));
  const marks = markLines(targets ?? []);
  const isAboutIt = asked.scope && (marks.length > 0 || targets?.[0]?.kind === 'freeze');
  const on = asked.scope && isAboutIt ? ` on ${scopeText(asked.scope)}` : '';
  return {
    title: `Who may use /${asked.command}${on}`,
    parts: [
      ...(marks.length > 0 ? [{ kind: 'lines', lines: marks } as const] : []),
      ...(cases.length === 0 ? [{ kind: 'text', text: NOBODY } as const] : drawn),
      ...inTheWay(world, policy, asked, targets),
      ...(targets === null && cases.length > 1 ? [SEVERAL] : []),
    ],
  };
}

const NOBODY = 'Nobody: no rule of the policy allows it.';

const SEVERAL: Part = {
  kind: 'note',
  text: 'The first rule that is about the service decides. Name a service, tag= or warehouse= to see which one.',
};

/** Targets over which the same rule decides the same about whoever asks. */
interface Case {
  readonly rule: Rule | null;
  readonly asked: Asked;
  readonly targets: readonly Target[];
}

/** Nothing is named: each rule that decides about some. */
function anyOf(world: WhoWorld, policy: Policy, asked: Asked): readonly Case[] {
  if (!world.commands.has(asked.command)) return casesOf(world, policy, asked, [null]);
  return reachable(policy, asked.command).map((rule) => ({ rule, asked, targets: [] }));
}

function casesOf(
  world: WhoWorld,
  policy: Policy,
  about: Asked,
  targets: readonly (Target | null)[],
): readonly Case[] {
  const found = new Map<string, Case>();
  for (const target of targets) {
    const asked = { ...about, target };
    const { rule, refusal } = decideFor(world, policy, asked, [...policy.roles.keys()]);
    const key = [rule?.place, refusal].join();
    const same = found.get(key);
    const own = [...(same?.targets ?? []), ...(target ? [target] : [])];
    const decides = refusal === 'no-rule' ? null : rule;
    found.set(key, { asked: same?.asked ?? asked, rule: decides, targets: own });
  }
  return [...found.values()];
}

async function drawCase(
  world: WhoWorld,
  policy: Policy,
  { rule, asked, targets }: Case,
  cases: number,
): Promise<Part> {
  const names = targets.map(({ name }) => name).join(', ');
  const over: readonly Said[] = cases > 1 && names ? [{ bold: names }] : [];
  const lines = rule
    ? await ruleLines(world, policy, rule, asked)
    : [[undecided(world, policy, asked)]];
  return { kind: 'lines', lines: over.length > 0 ? [over, ...lines] : lines };
}

function undecided(world: WhoWorld, policy: Policy, asked: Asked): string {
  const { rule } = decideFor(world, policy, asked, [...policy.roles.keys()]);
  return rule
    ? `Nobody: signalbox.yaml does not say enough of ${asked.target?.name ?? 'it'} to tell whether rule ${rule.place} is about it, and no rule behind that one counts.`
    : NOBODY;
}

function inTheWay(
  { commands, now }: WhoWorld,
  policy: Policy,
  asked: Asked,
  targets: readonly Target[] | null,
): readonly Part[] {
  if (!commands.has(asked.command)) return [];
  const over: readonly (Target | null)[] = targets ?? [null];
  const nevers = over.flatMap((target) => neverOver(policy, { ...asked, target }) ?? []);
  const some = targets?.length === 1 ? '' : 'at least on some targets; ';
  const ruledOut = [...new Set(nevers)].map((never): readonly Said[] => [
    { bold: 'Never ' },
    `(${some}not even in an emergency): ${never.reason}`,
  ]);
  // Asked without a target, a freeze would seem to hold what makes and lifts it.
  const held = isFreezing(commands.get(asked.command)) ? [] : policy.freezes;
  const near = over.flatMap((target) => freezesNear(held, target, now()));
  const frozen = [...new Set<Freeze>(near)].map((freeze): readonly Said[] => [
    { bold: 'Frozen: ' },
    ...freezeWords(freeze),
  ]);
  const lines = [...ruledOut, ...frozen];
  return lines.length > 0 ? [{ kind: 'lines', lines }] : [];
}
