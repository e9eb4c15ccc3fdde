import type { Target } from '../changes/change.ts';
import type { Actor } from '../changes/outcome.ts';
import { type Service, serviceTarget } from '../directory/directory.ts';
import type { Answer, Part, Said } from '../intent/answer.ts';
import { fieldsOf } from '../intent/arguments.ts';
import type { ChangeCommand } from '../intent/define.ts';
import { EVERYTHING, freezeTarget, freezeWords } from '../intent/freezes.ts';
import type { WhoDesk, WhoQuestion } from '../intent/who.ts';
import { neverOver } from '../policy/decide.ts';
import { freezesNear } from '../policy/freezes.ts';
import { reachable } from '../policy/matching.ts';
import type { Policy, Rule } from '../policy/policy.ts';
import { policyNow } from './policy-now.ts';
import { type Asked, decideFor, type WhoWorld } from './who-decision.ts';
import { ruleLines } from './who-lines.ts';

/** Which rule decides, who may ask and approve at this moment, and what stands in the way. */
export function createWhoDesk(world: WhoWorld): WhoDesk {
  return async (question, { by }) => {
    const policy = await policyNow(world.database.db, world);
    const target = targetOf(world, question);
    const identity = await world.people.identify(by, { fresh: false });
    const asker: Actor = { id: by, roles: identity.ok ? identity.actor.roles : [] };
    return answerFor(world, policy, { ...question, target, asker });
  };
}

async function answerFor(world: WhoWorld, policy: Policy, asked: Asked): Promise<Answer> {
  const rules = rulesFor(world, policy, asked);
  const drawn = await Promise.all(rules.map((rule) => ruleLines(world, policy, rule, asked)));
  const on = asked.target && asked.scope ? ` on ${asked.target.name}` : '';
  return {
    title: `Who may use /${asked.command}${on}`,
    parts: [
      ...(rules.length === 0 ? [undecided(world, policy, asked)] : []),
      ...drawn.map((lines): Part => ({ kind: 'lines', lines })),
      ...inTheWay(world, policy, asked),
      ...(rules.length > 1 ? [SEVERAL] : []),
    ],
  };
}

const SEVERAL: Part = {
  kind: 'note',
  text: 'The first rule that is about the service decides. Name a service to see which one.',
};

/** The one that decides about a target; where none is named, each that decides about some. */
function rulesFor(world: WhoWorld, policy: Policy, asked: Asked): readonly Rule[] {
  const { command, target } = asked;
  if (target === null && world.commands.has(command)) return reachable(policy, command);
  const decision = decideFor(world, policy, asked, [...policy.roles.keys()]);
  return decision.rule && decision.refusal !== 'no-rule' ? [decision.rule] : [];
}

function undecided(world: WhoWorld, policy: Policy, asked: Asked): Part {
  const { rule } = decideFor(world, policy, asked, [...policy.roles.keys()]);
  const text = rule
    ? `Nobody: signalbox.yaml does not say enough of ${asked.target?.name ?? 'it'} to tell whether rule ${rule.place} is about it, and no rule behind that one counts.`
    : 'Nobody: no rule of the policy allows it.';
  return { kind: 'text', text };
}

function inTheWay({ commands, now }: WhoWorld, policy: Policy, asked: Asked): readonly Part[] {
  if (!commands.has(asked.command)) return [];
  const never = neverOver(policy, asked);
  const ruledOut: readonly (readonly Said[])[] = never
    ? [
        [
          { bold: 'Never ' },
          `(${asked.target ? '' : 'at least on some targets; '}not even in an emergency): ${never.reason}`,
        ],
      ]
    : [];
  // Asked without a target, a freeze would seem to hold what makes and lifts it.
  const held = isFreezing(commands.get(asked.command)) ? [] : policy.freezes;
  const freezes = freezesNear(held, asked.target, now());
  const frozen = freezes.map((freeze): readonly Said[] => [
    { bold: 'Frozen ' },
    ...freezeWords(freeze),
  ]);
  const lines = [...ruledOut, ...frozen];
  return lines.length > 0 ? [{ kind: 'lines', lines }] : [];
}

function targetOf(world: WhoWorld, { command, scope }: WhoQuestion): Target | null {
  const change = world.commands.get(command);
  const service = world.services().find(({ id }) => id === scope?.id) ?? null;
  if (isFreezing(change)) return scope && frozenTarget(world, service);
  if (service) return serviceTarget(service);
  return change && !takesService(change) ? anyOther(command) : null;
}

function isFreezing(change: ChangeCommand | undefined): boolean {
  return change?.sends === 'PUT freeze';
}

function frozenTarget({ services }: WhoWorld, service: Service | null): Target {
  const scope = service
    ? { service: { id: service.id, name: service.name } }
    : { everything: true as const };
  return freezeTarget(scope, services());
}

function takesService({ args }: ChangeCommand): boolean {
  return fieldsOf(args).some(({ names }) => names === 'service');
}

/** An alert or a new service, of which no rule about tags or warehouses speaks. */
function anyOther(command: string): Target {
  const kind = command.startsWith('alert') ? 'alert' : 'new service';
  return { kind, id: EVERYTHING.id, name: command, tags: [], warehouse: null };
}
