// The part of signalbox.yaml that is the policy: its schema, and the rules that no user can satisfy.

import { z } from 'zod';
import {
  type ConfigProblem,
  Duration,
  declaredName,
  InstantTextSchema,
  quoted,
  strictConfigObject,
  suggestion,
  withHint,
} from '../base/problem.ts';
import { DAY_MS } from '../base/time.ts';
import { countWords } from './answer.ts';
import type { RoleName, UserId } from './change.ts';
import {
  allows,
  type CostSelector,
  covers,
  type Freeze,
  type Policy,
  type PolicyVocabulary,
  type Role,
  type Rule,
  type Selector,
} from './policy.ts';

/** The keys of the configuration file that form the policy. */
export function policyShape(words: PolicyVocabulary) {
  return {
    roles: rolesSchema(),
    policy: rulesSchema(words),
    freezes: z.array(freezeSchema(words)).default([]),
    never: z.array(neverSchema(words)).default([]),
  };
}

function rolesSchema() {
  const RoleWord = z.string().regex(/^[a-z][a-z0-9-]*$/, {
    error: 'a role is named with lower-case letters, digits and dashes',
  });
  const RoleEntry = strictConfigObject({
    groups: z.array(Group).min(1).optional(),
    users: z.array(MemberId).min(1).optional(),
  })
    .refine(({ groups, users }) => groups || users, {
      error: withHint('has no members', 'set groups, users, or both'),
    })
    .transform(({ groups = [], users = [] }): Role => ({ groups, users }));
  return z
    .record(RoleWord, RoleEntry)
    .refine((roles) => Object.keys(roles).length > 0, { error: 'must not be empty' })
    .transform((roles): ReadonlyMap<string, Role> => new Map(Object.entries(roles)));
}

const Group = z.string().regex(/^((T[A-Z0-9]{2,}\/)?@[\p{L}\d][\p{L}\d._-]*|S[A-Z0-9]{4,})$/u, {
  error: withHint('must be a user group', "its handle in quotes, '@db-leads', or its id, S…"),
});

/** The member id of a user. */
export const MemberId = z
  .string()
  .regex(/^[UW][A-Z0-9]{2,}$/, {
    error: withHint('must be the id of a user', 'U… or W…, from the profile: “Copy member ID”'),
  })
  // The pattern above has checked that the text is a user id.
  .transform((text) => text as UserId);

function rulesSchema(words: PolicyVocabulary) {
  return z
    .array(ruleSchema(words))
    .min(1)
    .transform((entries) => entries.map(ruleOf))
    .superRefine((rules, context) => {
      const commands = [...words.queries, ...words.changes];
      for (const rule of rules) {
        const found = [deadRule(rule, rules, commands) ?? openDiscovery(rule), unapproved(rule)];
        for (const message of found.filter((each) => each !== null)) {
          context.addIssue({ code: 'custom', path: [rule.requires.rule - 1], message });
        }
      }
    });
}

// A strict rule after a rule that covers all of its commands looks like protection but never decides.
function deadRule(rule: Rule, rules: readonly Rule[], commands: readonly string[]): string | null {
  const earlierRules = rules.slice(0, rule.requires.rule - 1).filter(({ on }) => on === null);
  const own = commands.filter((command) => allows(rule, command));
  if (!own.every((command) => earlierRules.some((earlier) => allows(earlier, command))))
    return null;
  const places = earlierRules.filter((earlier) => own.some((command) => allows(earlier, command)));
  const names = places.map(({ requires }) => requires.rule).join(' and ');
  return withHint(
    `never decides: rule ${names} covers all of its commands`,
    'the first rule that matches decides; put the stricter one first',
  );
}

// A discovered service is covered by facts of the server only. The services of a selector are those of
// the file, and a rule without a selector would cover every service that anyone creates.
function openDiscovery({ discovered, on }: Rule) {
  if (!discovered || (on !== null && on.services === null)) return null;
  return withHint(
    'has discovered: allowed, but its selector covers no discovered service',
    'set on: { tags: […] } or on: { warehouses: […] }, without services',
  );
}

// People alone decide: without approvals, what a program asks for would run at once.
function unapproved({ agents, requires }: Rule) {
  if (agents === undefined || requires.from !== null) return null;
  return withHint(
    'admits agents without an approval',
    'set approvals: { from: …, count: 1 }, or remove agents',
  );
}

function ruleOf(entry: RuleEntry, index: number): Rule {
  const { from = null, count = 0, self = 'refused', escalate } = entry.approvals ?? {};
  return {
    commands: entry.allow,
    on: entry.on ?? null,
    requires: {
      rule: index + 1,
      to: entry.to,
      from,
      count,
      self: self === 'allowed',
      reason: entry.reason > 0,
      expiresAfterMs: entry.expires,
      channel: entry.channel ?? null,
      escalation: escalate ? { to: escalate.to, afterMs: escalate.after } : null,
      breakGlass: entry.breakGlass?.to ?? null,
    },
    leastReason: entry.reason,
    discovered: entry.discovered === 'allowed',
    ...entry.agents,
  };
}

const AGENTS = z.literal('allowed');

type RuleEntry = z.output<ReturnType<typeof ruleSchema>>;

function ruleSchema(words: PolicyVocabulary) {
  const role = declaredName('role', words.roles);
  const names = z.array(declaredName('agent', words.agents ?? [])).min(1);
  const admitted = z.union([AGENTS, names]).default('allowed');
  return strictConfigObject({
    allow: z.array(patternSchema([...words.queries, ...words.changes])).min(1),
    on: selectorSchema(words).optional(),
    to: role,
    approvals: approvalsSchema(role).optional(),
    reason: Reason,
    expires: Duration.default(DAY_MS),
    channel: ChannelName.optional(),
    breakGlass: strictConfigObject({ to: role }).optional(),
    discovered: Allowed,
    agents: z
      .union([AGENTS, names, strictConfigObject({ names: admitted, standing: AGENTS })])
      .transform((given) =>
        typeof given === 'object' && 'names' in given
          ? { agents: given.names, agentsStanding: true }
          : { agents: given },
      )
      .optional(),
  });
}

function patternSchema(commands: readonly string[]) {
  return z
    .string()
    .regex(/^(\*|[a-z][a-z-]*( [a-z][a-z-]*)*( \*)?)$/, {
      error: withHint('must be a command', 'for example: service stop · service * · *'),
      abort: true,
    })
    .refine((pattern) => commands.some((command) => covers(pattern, command)), {
      error: ({ input }) =>
        withHint(
          `matches no command: ${quoted(String(input))}`,
          suggestion(String(input), commands),
        ),
    });
}

function approvalsSchema(role: z.ZodType<string>) {
  return strictConfigObject({
    from: role,
    count: z.int().min(1).max(20).default(1),
    self: Allowed,
    escalate: strictConfigObject({ to: role, after: Duration }).optional(),
  });
}

const Reason = z
  .union(
    [
      z.enum(['required', 'optional']),
      strictConfigObject({
        required: z.literal(true),
        minimum: z.int().min(1).max(500).default(1),
      }),
    ],
    { error: 'must be required, optional, or { required: true, minimum: 20 }' },
  )
  .default('optional')
  .transform((reason) => {
    if (typeof reason === 'string') return reason === 'required' ? 1 : 0;
    return reason.minimum;
  });

/** Whether something that is refused by default is allowed. */
export const Allowed = z.enum(['refused', 'allowed']).default('refused');

/** A channel, by name or id. */
export const ChannelName = z
  .string()
  .regex(/^((T[A-Z0-9]{2,}\/)?#[\p{L}\d_-]{1,80}|[CG][A-Z0-9]{4,})$/u, {
    error: withHint('must be a channel', "its name in quotes, '#db-approvals', or its id, C…"),
  });

function neverSchema(words: PolicyVocabulary) {
  return strictConfigObject({
    commands: z.array(patternSchema(words.changes)).min(1),
    on: selectorSchema(words).optional(),
    reason: z.string().trim().min(1, { error: 'must not be empty' }).max(300),
  }).transform(({ on = null, ...never }) => ({ ...never, on }));
}

function freezeSchema(words: PolicyVocabulary) {
  const text = z.string().trim().min(1, { error: 'must not be empty' }).max(300);
  return strictConfigObject({
    from: InstantTextSchema,
    until: InstantTextSchema,
    on: selectorSchema(words).optional(),
    reason: text,
    by: text.optional(),
  })
    .refine(({ from, until }) => from < until, {
      path: ['until'],
      error: 'must be later than from',
    })
    .transform(({ on, by, ...freeze }): Freeze => ({ ...freeze, on: on ?? null, by: by ?? null }));
}

type TargetWords = Pick<
  PolicyVocabulary,
  'services' | 'organizations' | 'tags' | 'serverTags' | 'warehouses'
>;

/** The schema of a selection of targets, for rules and freezes. */
function selectorSchema(words: TargetWords) {
  const tags = [...words.tags, ...(words.serverTags ?? [])];
  const hint = 'declare a tag of the server in cloud.tags';
  return strictConfigObject(targetLists({ ...words, tags }, hint))
    .refine((on) => on.services || on.organizations || on.tags || on.warehouses, {
      error: withHint('selects nothing', 'set services, tags or warehouses, or remove it'),
    })
    .transform((on) => targetsOf(on, words));
}

const NONE: ReadonlyMap<string, string> = new Map();

function targetLists(
  { services, organizations = NONE, tags, warehouses }: TargetWords,
  tagHint?: string,
) {
  return {
    services: list('service', [...services.keys()]),
    organizations: list('organization', [...organizations.keys()]),
    tags: list('tag of a service', tags, tagHint),
    warehouses: list('warehouse', warehouses),
  };
}

function list(what: string, known: readonly string[], otherwise?: string) {
  return z
    .array(declaredName(what, known, otherwise))
    .min(1)
    .optional();
}

function targetsOf(
  on: z.output<z.ZodObject<ReturnType<typeof targetLists>>>,
  { services, organizations = NONE }: TargetWords,
): Selector {
  const named = organizations.size > 1 ? on.organizations : undefined;
  return {
    services: on.services ? withIds(on.services, services) : null,
    ...(named && { organizations: withIds(named, organizations) }),
    tags: on.tags ?? null,
    warehouses: on.warehouses ?? null,
  };
}

function withIds(names: readonly string[], ids: ReadonlyMap<string, string>) {
  return names.map((name) => ({ name, id: ids.get(name) ?? '' }));
}

type CostWords = TargetWords & { readonly teams: readonly string[] };

/** The schema of a selection of costs, for digests and budgets. Only the file assigns tags to costs. */
export function costSelectorSchema(words: CostWords) {
  return strictConfigObject({ ...targetLists(words), teams: list('team', words.teams) })
    .refine((on) => Object.values(on).some((names) => names !== undefined), {
      error: withHint('selects nothing', 'set services, tags, warehouses or teams, or remove it'),
    })
    .transform((on): CostSelector => ({ ...targetsOf(on, words), teams: on.teams ?? null }));
}

type Members = ReadonlyMap<RoleName, ReadonlySet<UserId>>;

/**
 * Returns the rules that nobody can satisfy. `members` has the active users of this workspace by
 * role; a role that is missing has no members.
 */
export function impossibleRequirements(policy: Policy, members: Members): readonly ConfigProblem[] {
  return policy.rules.flatMap((rule) => [
    ...emptyRoles(rule, members),
    ...approvalProblem(rule, members),
  ]);
}

/**
 * Returns how many members of each role `impossibleRequirements` needs to know: one more than the
 * highest count of approvals, so that every requester has enough others.
 */
export function membersNeeded(policy: Policy): number {
  return 1 + Math.max(1, ...policy.rules.map(({ requires }) => requires.count));
}

function emptyRoles(rule: Rule, members: Members): readonly ConfigProblem[] {
  const { rule: place, to, breakGlass, escalation } = rule.requires;
  const named = [
    ['to', to, 'request'],
    ['breakGlass.to', breakGlass, 'use break-glass'],
    ['approvals.escalate.to', escalation?.to ?? null, 'decide after the escalation'],
  ] as const;
  return named.flatMap(([key, role, does]) => {
    if (role === null || membersOf(role, members).size > 0) return [];
    const problem = `rule ${place} lets only ${role} ${does}, but ${role} has no members`;
    const hint = `check the groups and users of roles.${role}`;
    return [{ where: whereOf(rule, key), problem, hint }];
  });
}

function approvalProblem(rule: Rule, members: Members): readonly ConfigProblem[] {
  const { rule: place, to, from, count, self } = rule.requires;
  if (from === null) return [];
  const approvers = membersOf(from, members);
  const needs = `rule ${place} needs ${countWords(count, 'approval')} from`;
  const where = whereOf(rule, 'approvals');
  if (approvers.size < count) {
    const problem = `${needs} ${from}, which has ${people(approvers.size)}`;
    return [{ where, problem, hint: `add people to ${from}` }];
  }
  const requesters = [...membersOf(to, members)];
  const others = (requester: UserId) => approvers.size - (approvers.has(requester) ? 1 : 0);
  // At least one requester must have enough other approvers, else no request can be approved.
  const isEnough = requesters.length === 0 || requesters.some((each) => others(each) >= count);
  if (self || isEnough) return [];
  const tooFew = `without the requester, ${from} is too small for every member of ${to}`;
  const problem = `${needs} people other than the requester, but ${tooFew}`;
  return [{ where, problem, hint: `add a person to ${from}, or to ${to}` }];
}

function membersOf(role: RoleName, members: Members): ReadonlySet<UserId> {
  return members.get(role) ?? new Set();
}

function whereOf(rule: Rule, key: string): string {
  return `policy[${rule.requires.rule - 1}].${key}`;
}

function people(count: number): string {
  return count === 0 ? 'no members' : countWords(count, 'member');
}
