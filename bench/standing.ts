import { DAY_MS, HOUR_MS } from '../src/base/time.ts';
import {
  agentId,
  type Change,
  type ChangeId,
  type Plan,
  type UserId,
} from '../src/domain/change.ts';
import type { ChangeEvent } from '../src/domain/change-events.ts';
import { draftChange } from '../src/domain/draft.ts';
import { foldOf } from '../src/domain/fold.ts';
import { gate } from '../src/domain/gate.ts';
import { type Policy, type Rule, requirementFor } from '../src/domain/policy.ts';
import { allowedTarget, isInForce, type StandingFacts } from '../src/domain/standing.ts';
import type { Service } from '../src/domain/targets.ts';
import { AGENT, APPROVERS, OPERATORS, type QuarterRequest, quarter } from './standing-quarter.ts';

// Replays a seeded quarter through the gate, once with standing approvals and once as if there were none, and judges each
// use by rules of its own, which know the world and not the gate.

export interface StandingReport {
  readonly requests: number;
  /** Cards that ask approvers: as if there were no standing approvals, and with them. */
  readonly cardsWithout: number;
  readonly cardsWith: number;
  readonly uses: number;
  readonly standing: number;
  /** Why the gate let no use happen, although a standing approval named the command and the service. */
  readonly refused: Readonly<Record<string, number>>;
  /** The rules that a use broke. */
  readonly broken: readonly string[];
}

export interface ReplayOptions {
  readonly seed: number;
  readonly days: number;
  readonly repeats: number;
  /** Takes each use for covered, without the gate: what the rules of this file must find. */
  readonly withoutGate?: boolean;
}

/** Two such requests within a week are a habit, for which a person asks for a standing approval. */
const HABIT = 2;
const WEEK_MS = 7 * DAY_MS;
const USES = 20;
const FOR_MS = 14 * DAY_MS;
const ACME = 'acme';
const AGENT_ID = agentId(AGENT);

/** What people agreed to, as the rules of this file remember it. */
interface Grant {
  readonly command: string;
  readonly service: string;
  readonly max: number | null;
  readonly approvers: readonly UserId[];
  readonly until: Date;
  used: number;
  isRevoked: boolean;
}

export function replay({ withoutGate = false, ...options }: ReplayOptions): StandingReport {
  const { events, services } = quarter(options);
  const tags = new Map(services.map((each) => [each.id, each.tags]));
  const gone = new Set<string>();
  const standing = new Map<ChangeId, Change>();
  const grants = new Map<ChangeId, Grant>();
  const seen = new Map<number, Date[]>();
  const refused: Record<string, number> = {};
  const broken: string[] = [];
  let frozen: { readonly tag: string; readonly until: Date }[] = [];
  let failsUntil = new Date(0);
  let [made, cardsWithout, cardsWith, uses] = [0, 0, 0, 0];

  const isFrozen = (service: string, now: Date) =>
    frozen.some(({ tag, until }) => now < until && tags.get(service)?.includes(tag));
  const policyNow = (): Policy => ({
    ...POLICY,
    freezes: frozen.map(({ tag, until }) => {
      const on = { services: null, warehouses: null, tags: [tag] };
      return { from: new Date(0), until, on, reason: 'launch', by: null };
    }),
  });
  const rolesOf = (id: string) => {
    if (id === AGENT_ID) return ['operator'];
    if (gone.has(id)) return [];
    return OPERATORS.some((each) => each === id) ? ['operator'] : ['approver'];
  };
  const identify = (id: UserId, now: Date) => {
    if (now < failsUntil && id !== AGENT_ID)
      return { ok: false, refusal: 'lookup-failed' } as const;
    const agent = id === AGENT_ID ? { agent: AGENT } : {};
    return { ok: true, actor: { id, roles: rolesOf(id), ...agent } } as const;
  };
  const serviceOf = (id: string): Service => ({
    ...{ id, name: id, aliases: [], tags: tags.get(id) ?? [], warehouse: null, team: null },
    ...{ organizationId: 'o1', pipes: [], source: 'file', lastSeen: null },
  });
  const nextId = () => {
    made += 1;
    return `C${String(made).padStart(5, '0')}` as ChangeId;
  };
  const begin = (fields: Parameters<typeof draftChange>[0], now: Date): Change => {
    const recorded = { at: now.getTime(), seq: 1, version: 1, hash: 'h' };
    return foldOf(nextId())(null, { ...draftChange(fields, now), ...recorded });
  };
  const evolve = (change: Change, event: ChangeEvent, now: Date) =>
    foldOf(change.id)(change, {
      ...event,
      ...{ at: now.getTime(), seq: change.version + 1, version: change.version + 1, hash: 'h' },
    });

  /** A person asks for what a habit needs, and the first approvers agree. */
  const allow = (request: QuarterRequest, max: number | null, now: Date) => {
    const own = serviceOf(request.service);
    const requester = OPERATORS.find((each) => !gone.has(each)) as UserId;
    const body = {
      ...{ commands: [request.command], scope: { service: { id: own.id, name: own.name } } },
      ...{ uses: USES, forMs: FOR_MS, ...(max !== null && { maxReplicaMemoryGb: max }) },
    };
    const target = allowedTarget(body, [own]);
    const about = { command: request.command, target: targetOf(own) };
    const requires = requirementFor(POLICY, about);
    const approvers = APPROVERS.filter((each) => !gone.has(each))
      .slice(0, requires?.count)
      .map((each) => each as string as UserId);
    if (!requires || approvers.length < requires.count || isFrozen(own.id, now)) return;
    cardsWith += 1;
    const plan = { ...planOf(target, body), sends: 'PUT standing approval' };
    const fields = { organization: ACME, command: 'change allow', requester, plan };
    let change = begin({ ...fields, reason: 'a habit', requires, via: null, words: null }, now);
    change = evolve(change, { type: 'confirmed', by: requester }, now);
    for (const by of approvers)
      change = evolve(change, { type: 'approved', by, digest: change.digest }, now);
    const call = { answeredAt: now, tookMs: 0, requestId: null };
    change = evolve(change, { type: 'succeeded', nonce: '-', ...call, reported: [] }, now);
    standing.set(change.id, change);
    grants.set(change.id, {
      ...{
        command: request.command,
        service: own.id,
        max,
        approvers: approvers as readonly UserId[],
      },
      ...{ until: new Date(now.getTime() + FOR_MS), used: 0, isRevoked: false },
    });
  };

  /** The rules, from the world alone. */
  const judge = (request: QuarterRequest, id: ChangeId, now: Date): readonly string[] => {
    const grant = grants.get(id);
    if (!grant) return ['by nothing that people approved'];
    const prod = tags.get(request.service)?.includes('prod') === true;
    const by = request.agent ? AGENT_ID : request.by;
    const able = grant.approvers.filter((each) => !gone.has(each) && each !== by);
    const rules: readonly (readonly [boolean, string])[] = [
      [grant.command === request.command && grant.service === request.service, 'another request'],
      [(request.size?.max ?? 0) <= (grant.max ?? 0) && !request.size?.replicas, 'more than agreed'],
      [now < grant.until, 'after its end'],
      [!grant.isRevoked, 'after its revocation'],
      [grant.used < USES, 'more often than agreed'],
      [able.length >= (prod ? 2 : 1), 'without enough approvers'],
      [request.agent || !gone.has(by), 'by a person who may not request it'],
      [!request.agent || !prod, 'by an agent that may not'],
      [!isFrozen(request.service, now), 'during a freeze'],
      [now >= failsUntil, 'without knowing who the approvers are'],
    ];
    return rules.flatMap(([holds, rule]) => (holds ? [] : [rule]));
  };

  /** Whether the request runs by a standing approval. */
  const runs = (request: QuarterRequest, now: Date): boolean => {
    const target = targetOf(serviceOf(request.service));
    const requires = requirementFor(POLICY, { command: request.command, target });
    const requester = request.agent ? AGENT_ID : (request.by as UserId);
    const { max, replicas } = request.size ?? { max: null, replicas: null };
    const body = {
      ...(max !== null && { maxReplicaMemoryGb: max }),
      ...(replicas !== null && { numReplicas: replicas }),
    };
    const via = request.agent ? { agent: AGENT, subject: 's', for: 'itself' as const } : null;
    const about = {
      organization: ACME,
      command: request.command,
      requester,
      reason: 'a habit',
      via,
    };
    for (const [id, own] of standing) {
      const grant = grants.get(id);
      if (grant?.command !== request.command || grant.service !== request.service || !requires)
        continue;
      const users = [requester, ...own.approvals.map(({ by }) => by)];
      const identities = new Map(users.map((user) => [user, identify(user, now)] as const));
      const policy = policyNow();
      const facts: StandingFacts = {
        now,
        policy,
        target,
        commands: [request.command],
        standing: own,
        identities,
      };
      const draft = begin(
        { ...about, plan: planOf(target, body), requires, words: null, standing: id },
        now,
      );
      const outlook = { now, policy, target, commands: facts.commands, isOutdated: false };
      const identity = identify(requester, now);
      const press = { by: requester, identity, standing: facts };
      const pressed = {
        ...press,
        text: '',
        now,
        policy,
        target,
        outlook: { ...outlook, requester: identity },
      };
      const event = request.agent ? gate(draft, 'submit', press) : gate(draft, 'confirm', pressed);
      const note = (why: string) => {
        refused[why] = (refused[why] ?? 0) + 1;
      };
      if (!withoutGate) {
        if ('refusal' in event) {
          note(event.refusal);
          continue;
        }
        const used = evolve(own, { type: 'used', by: requester, change: draft.id }, now);
        standing.set(id, used);
        const claim = gate(evolve(draft, event, now), 'claim', {
          ...{
            ...outlook,
            validUntil: new Date(now.getTime() + 1),
            mayExecute: true,
            isStopped: false,
          },
          ...{ isAnswered: true, hasCard: true, schedule: null, identities, standing: used },
          ...{ differs: false, mustReadAgain: false, lock: 'free', stateCheck: undefined },
          claim: { by: 'bench', nonce: 'n', until: new Date(now.getTime() + HOUR_MS) },
        });
        if (!('type' in claim)) {
          note('refusal' in claim ? claim.refusal : claim.waits);
          if (grant) grant.used += 1;
          continue;
        }
      }
      broken.push(...judge(request, id, now));
      if (grant) grant.used += 1;
      return true;
    }
    return false;
  };

  const requests = events.filter((event) => event.kind === 'request').length;
  for (const event of events) {
    const now = event.at;
    frozen = frozen.filter(({ until }) => now < until);
    for (const [id, own] of standing) if (!isInForce(own, now) && !withoutGate) standing.delete(id);
    if (event.kind === 'freeze') frozen = [...frozen, { tag: event.tag, until: event.until }];
    else if (event.kind === 'left') gone.add(event.who);
    else if (event.kind === 'joined') gone.delete(event.who);
    else if (event.kind === 'tags') tags.set(event.service, event.tags);
    else if (event.kind === 'lookups fail') failsUntil = event.until;
    else if (event.kind === 'revoke') {
      for (const [id, grant] of grants) {
        const own = standing.get(id);
        if (grant.service !== event.service || !own) continue;
        standing.set(id, evolve(own, { type: 'revoked', by: 'U0BEN' as UserId }, now));
        grant.isRevoked = true;
      }
    } else if (event.kind === 'request') {
      cardsWithout += 1;
      if (runs(event, now)) uses += 1;
      else {
        cardsWith += 1;
        const recent = (seen.get(event.habit ?? -1) ?? []).filter(
          (at) => now.getTime() - at.getTime() < WEEK_MS,
        );
        if (event.habit === null) continue;
        seen.set(event.habit, [...recent, now]);
        if (recent.length + 1 >= HABIT) {
          allow(event, event.size?.max ?? null, now);
          seen.set(event.habit, []);
        }
      }
    }
  }
  return { requests, cardsWithout, cardsWith, uses, standing: grants.size, refused, broken };
}

function targetOf({ id, name, tags }: Service): Plan['target'] {
  return { kind: 'service', id, name, tags, warehouse: null };
}

function planOf(target: Plan['target'], body: Plan['body']): Plan {
  const empty = { args: {}, before: null, rows: [], unchangedFields: [], warnings: [] };
  return { ...empty, target, body, sends: 'PATCH' };
}

function rule(place: number, count: number, over: Partial<Rule> = {}): Rule {
  return {
    ...{ commands: ['service *', 'alert edit'], on: null, leastReason: 1 },
    requires: {
      ...{ rule: place, to: 'operator', from: 'approver', count, self: false, reason: true },
      ...{ escalation: null, expiresAfterMs: DAY_MS, channel: null, breakGlass: null },
    },
    ...{ discovered: false, agents: 'allowed', ...over },
  };
}

const PROD = { services: null, tags: ['prod'], warehouses: null };
const POLICY: Policy = {
  roles: new Map(['operator', 'approver'].map((role) => [role, { groups: [], users: [] }])),
  rules: [rule(1, 2, { on: PROD }), rule(2, 1, { agentsStanding: true })],
  ...{ freezes: [], never: [], agents: new Map([[AGENT, ['operator']]]) },
};

/** `[days] [seed]`: a line for each share of repeats. Returns whether no rule was broken. */
export function standingMeasurements(
  [days = '90', seed = '1']: readonly string[],
  tell: (text: string) => void,
): boolean {
  tell(`${days} days, 100 requests a day, 20 services, seed ${seed}`);
  return [0.3, 0.5, 0.7].every((repeats) => {
    const found = replay({ seed: Number(seed), days: Number(days), repeats });
    const { cardsWithout, cardsWith, uses, standing, broken } = found;
    const saved = Math.round((1 - cardsWith / cardsWithout) * 100);
    const words = `${cardsWith} of ${cardsWithout} cards that ask approvers are left, ${saved}% saved`;
    const made = `${uses} uses of ${standing} standing approvals, ${broken.length} rules broken`;
    tell(`${repeats * 100}% repeats: ${words}; ${made}`);
    return broken.length === 0;
  });
}
